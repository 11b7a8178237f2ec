// SPDX-License-Identifier: Apache-2.0
//
// What arrives: ends of operations, messages, notices; each becomes an event or is handled here. Decided by what the library's
// entry says it is, never by its context alone: notices have none on most rows (fi_cq(3)), and their length is not to be trusted.
// A message that cannot be handled yet keeps its receive ("parked") and is looked at again after the next poll.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include "atomics.hpp"
#include "events.hpp"
#include "flushing.hpp"
#include "lane.hpp"
#include "meeting.hpp"
#include "target.hpp"
#include "together.hpp"

namespace weft {

template <class Engine, class Handler>
class inbox {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using receive = typename Engine::receive;

  /// The handler is copied: a reference to the user's (told_to).
  inbox(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// One look at the queue. Returns what the library had. Requires: nothing is put off, no handler is running.
  [[gnu::always_inline]] static int poll(Engine& e, Handler on) {
    const int found = e.port->poll([&e, on](const completion_entry& c) {
      e.attention |= Engine::handling_bit;
      inbox(e, on).take(c);
    });
    if constexpr (Engine::chains_receives) receives<Engine>(e).refill();
    if constexpr (Engine::uses_ring) inbox(e, on).read_rings();
    if (found == 0) return 0;
    e.attention &= ~Engine::handling_bit;
    if (e.attention != 0) [[unlikely]]
      look_after(e, on, found);
    return found;
  }

  /// The same while something is put off.
  static int poll_and_look_after(Engine& e, Handler on) {
    e.attention |= Engine::handling_bit;
    inbox in(e, on);
    if (!e.parked.empty()) in.retry_parked();  // first: messages of a peer are told in order
    const int found = e.port->poll([&in](const completion_entry& c) { in.take(c); });
    if constexpr (Engine::chains_receives) receives<Engine>(e).refill();
    if constexpr (Engine::uses_ring) in.read_rings();
    look_after(e, on, found);
    return found;
  }

 private:
  /// Does what was put off, as far as it can be done now.
  [[gnu::noinline]] static void look_after(Engine& e, Handler on, int found) {
    e.attention |= Engine::handling_bit;
    inbox in(e, on);
    if constexpr (Engine::connected)
      if (found == 0 && e.draining) in.settle();
    if (!e.unposted.empty()) in.repost_left();
    if (e.owed_notices != no_index) in.send_owed();
    if constexpr (answer<typename Engine::fabric, atomics_family>::executed_by_target)
      if (!e.owed_replies.empty()) target<Engine>(e).settle();
    if constexpr (Engine::notice_is_message)
      if (!e.owed_landings.empty()) fusing<Engine>(e).settle();
    if constexpr (Engine::tracks_writes)
      if (e.waiting_flushes != 0) flushing<Engine>(e).settle([&in](slot& s) { in.end_of(s, {}); });
    e.settle_attention();
    e.attention &= ~Engine::handling_bit;
  }
  void read_rings() {
    e_.attention |= Engine::handling_bit;
    target<Engine>(e_).read_rings([this](record& r, std::uint32_t immediate) { on_(notified{e_.handle(r), immediate}); });
    e_.attention &= ~Engine::handling_bit;
  }

  [[gnu::always_inline]] void take(const completion_entry& c) {
    switch (c.kind) {
      case completion_kind::ended:
        return ended(c);
      case completion_kind::received:
        return arrived(c);
      case completion_kind::landed:
        return landed(c);
      case completion_kind::released:
        if constexpr (Engine::many_in_one) give_back(*static_cast<receive*>(c.context), true);
        return;
    }
  }

  // ---- ends -------------------------------------------------------------------------------------------------------------
  [[gnu::always_inline]] void ended(const completion_entry& c) {
    if (c.context != nullptr && c.outcome) [[likely]] {
      slot& s = *static_cast<slot*>(c.context);
      if (s.is_plain()) [[likely]] {
        const completed told{s.what, e_.handle(*s.record), s.user, {s.scratch[0], s.type}};
        e_.operations.give(s);
        return void(on_(told));
      }
    }
    ended_otherwise(c);
  }

  [[gnu::noinline]] void ended_otherwise(const completion_entry& c) {
    if (c.context == nullptr) return;  // an operation that nobody asked about, on a row that signals all
    if (!c.outcome) [[unlikely]] {     // error entries of some providers do not say what failed
      const context_kind kind = static_cast<library_context<Engine::library_bytes>*>(c.context)->kind;
      if (kind == context_kind::receive) return arrived(c);
      if constexpr (Engine::markers)
        if (kind == context_kind::peer) return unsignalled_failed(*static_cast<record*>(static_cast<library_context<0>*>(c.context)), c.outcome);
    }
    slot& s = *static_cast<slot*>(c.context);
    end_of(s, c.outcome);
  }

  void unsignalled_failed(record& r, status outcome) {
    if (r.live == r.number) on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome});
  }

  void end_of(slot& s, status outcome) {
    if (s.use == slot_use::abandoned) return e_.release(s);
    if (!outcome && s.fault == errc::ok) s.fault = outcome.code;
    --s.pending;
    if (s.stage >= stage::delivering) [[unlikely]]
      if (!next_call(s)) return;
    if (s.pending == 0) finish(s, outcome);
  }

  /// False: not the end, whatever `pending` says.
  bool next_call(slot& s) {
    if constexpr (Engine::swap_loops)
      if (s.stage == stage::looping) return s.fault != errc::ok || atomic_posts<Engine>(e_).step(s);
    if (s.stage == stage::splitting) {
      parts<Engine>(e_).part_ended(s);
      return true;
    }
    if (s.stage == stage::confirming) {
      s.stage = stage::replying;  // the peer's answer is still to come
      return true;
    }
    s.stage = stage::noticing;
    if (s.fault != errc::ok) s.pending = 0;
    else if constexpr (Engine::notices_together) together<Engine>(e_).put_off(s);
    else lane<Engine>(e_).send_notice(s);
    return true;
  }

  void finish(slot& s, status outcome) {
    if (s.fault != errc::ok && outcome) outcome = error(s.fault, name_of(s.what));
    const slot told = s;
    if (s.parent != nullptr) {
      slot& parent = *s.parent;
      e_.release(s);
      if constexpr (Engine::notices_together)
        if (parent.stage == stage::noticing && parent.what == operation::put_notify) return all_told(parent, outcome);
      return end_of(parent, outcome);
    }
    e_.release(s);
    tell(told, outcome);
  }

  /// The message is out that carried the notices of these.
  void all_told(slot& first, status outcome) {
    for (slot* s = &first; s != nullptr;) {
      slot* following = together<Engine>(e_).next_of(*s);
      end_of(*s, outcome);
      s = following;
    }
  }

  void tell(const slot& s, status outcome) {
    // The library flushes what is in flight on a broken link as "cancelled"; nobody closed anything here, so the peer is the cause.
    if (outcome.code == errc::closed && s.record->state != peer_state::free) outcome.code = errc::peer_lost;
    if (s.use == slot_use::user) {
      if (outcome) on_(completed{s.what, e_.handle(*s.record), s.user, {s.scratch[0], s.type}});
      else on_(failed{s.what, e_.handle(*s.record), s.user, outcome});
    } else if (s.use == slot_use::silent && !outcome) {
      on_(failed{s.what, e_.handle(*s.record), nullptr, outcome});
    } else if (s.use == slot_use::control && !outcome && s.record->state == peer_state::greeting) {
      meeting<Engine>(e_).unreachable(*s.record, outcome, on_);  // our hello was refused
    }
  }

  /// What a link brought before it ended has been told by now.
  [[gnu::cold]] void settle() {
    receives<Engine>(e_).settle();
    meeting<Engine>(e_).settle_links(on_);
  }

  // ---- messages ---------------------------------------------------------------------------------------------------------
  [[gnu::noinline]] void arrived(const completion_entry& c) {
    receive& r = *static_cast<receive*>(c.context);
    if (!c.outcome) {
      if (c.outcome.code == errc::truncated) {
        ++e_.garbled;
        e_.overrun.note(c.length, e_.options.slot_bytes + Engine::front);
      }
      if (c.outcome.code != errc::closed || !Engine::links_have_receives) give_back(r, c.last);
      return;
    }
    std::byte* const start = Engine::many_in_one ? c.at : r.data;
    const_bytes whole{start, c.length};
    wire::message_tag tag{static_cast<std::uint32_t>(c.immediate)};
    if constexpr (Engine::framed) {
      wire::reader head(whole.first(std::min(whole.size(), wire::header_bytes)));
      tag.word = head.number<std::uint32_t>();
      if (whole.size() < wire::header_bytes) {
        ++e_.garbled;
        return give_back(r, c.last);
      }
      whole = whole.subspan(wire::header_bytes);
    }
    if (!handle(r, tag, whole)) [[unlikely]] {
      e_.parked.push_back({&r, start, static_cast<std::uint32_t>(c.length), tag.word});  // slots: never past their number, reserved at open
      e_.put_off();
      if constexpr (!Engine::many_in_one) return;
      ++r.held;
    }
    give_back(r, c.last);
  }

  /// The message is done with: its slot is posted again; a buffer of many only when it is spent and no other message in it waits.
  void give_back(receive& r, [[maybe_unused]] bool last) noexcept {
    if constexpr (Engine::many_in_one) {
      r.released |= last;
      receives<Engine>(e_).post_if_spent(r);
    } else {
      meeting<Engine>(e_).post(r);
    }
  }

  /// False: not yet.
  bool handle(receive& slot_of, wire::message_tag tag, const_bytes body) {
    record* r = e_.peers.find(tag.connection());
    if (tag.kind() == wire::message_kind::user) [[likely]] {
      if (r != nullptr && r->live == r->number && owns(*r, slot_of)) [[likely]] {
        r->heard = e_.tick;
        if (!e_.parked.empty() && !e_.retrying) [[unlikely]]
          return false;  // behind those that wait
        return offer(on_, received{e_.handle(*r), body});
      }
      if (r != nullptr && r->state == peer_state::greeting) return false;  // it overtook the accept
      ++e_.stale;
      return true;
    }
    return handle_control(slot_of, r, tag, body);
  }

  bool handle_control(receive& slot_of, record* r, wire::message_tag tag, const_bytes body) {
    if (tag.kind() == wire::message_kind::hello) {
      meeting<Engine>(e_).hello(slot_of, r, body, on_);
      return true;
    }
    if (r == nullptr || !owns(*r, slot_of)) {
      ++e_.stale;
      return true;
    }
    r->heard = e_.tick;
    if (tag.kind_bits() >= wire::message_kinds) {
      ++e_.garbled;
      return true;
    }
    if (tag.kind() == wire::message_kind::accept || tag.kind() == wire::message_kind::reject) {
      meeting<Engine>(e_).answered(*r, tag.kind(), body, on_);
      return true;
    }
    if (r->state == peer_state::greeting) return false;
    if (r->state != peer_state::established) {
      ++e_.stale;
      return true;
    }
    return from_established(*r, tag.kind(), body);
  }

  bool from_established(record& r, wire::message_kind kind, const_bytes body) {
    switch (kind) {
      case wire::message_kind::notify:
        return tell_notices(r, body);
      case wire::message_kind::atomic_request:
        return target<Engine>(e_).execute(r, body);
      case wire::message_kind::atomic_reply:
        return replied(r, body);
      case wire::message_kind::ring_credit:
        if constexpr (Engine::uses_ring) {
          if (const auto read = wire::parse_number(body); read && *read - r.ring_credited <= r.ring_posted - r.ring_credited) r.ring_credited = *read;
          else ++e_.garbled;
        }
        return true;
      case wire::message_kind::fused:
        if constexpr (Engine::notice_is_message)
          return fusing<Engine>(e_).land(r, body, [&](std::uint32_t immediate) { on_(notified{e_.handle(r), immediate}); });
        else ++e_.garbled;
        return true;
      case wire::message_kind::fused_reply:
        if constexpr (Engine::fused_bytes > 0) fusing<Engine>(e_).replied(r, body, [&](slot* s, errc code) { fused_ended(r, s, code); });
        else ++e_.garbled;
        return true;
      case wire::message_kind::flush:
        if (!e_.parked.empty() && !e_.retrying) return false;  // behind those that wait
        return flushing<Engine>(e_).answer_to(r, body);
      case wire::message_kind::flushed:
        if (slot* s = flushing<Engine>(e_).answered(r, body); s != nullptr) end_of(*s, {});
        return true;
      case wire::message_kind::goodbye:
        parting<Engine>(e_).left(r, on_);
        return true;
      default:
        return true;
    }
  }

  /// One notice, or several that go together.
  bool tell_notices(record& r, const_bytes body) {
    if (body.empty() || body.size() % 4 != 0 || (!Engine::notices_together && body.size() != 4)) {
      ++e_.garbled;
      return true;
    }
    for (std::size_t at = 0; at < body.size() && r.state == peer_state::established; at += 4)
      on_(notified{e_.handle(r), *wire::parse_number(body.subspan(at, 4))});
    return true;
  }

  static bool is_atomic(operation o) noexcept { return o >= operation::fetch_add; }

  bool replied(record& r, const_bytes body) {
    const auto reply = wire::parse_atomic_reply(body);
    if (!reply || reply->code > static_cast<std::uint8_t>(errc::native)) {
      ++e_.garbled;
      return true;
    }
    slot* s = e_.operations.at(static_cast<std::uint32_t>(reply->token));
    if (s == nullptr || s->generation != reply->token >> 32 || s->use != slot_use::user || s->record != &r || s->stage != stage::replying ||
        !is_atomic(s->what)) {
      ++e_.stale;
      return true;
    }
    slot told = *s;  // the library holds the request's own slot, never this one
    told.scratch[0] = reply->old;
    e_.release(*s);
    tell(told, reply->code == 0 ? status{} : error(static_cast<errc>(reply->code), name_of(told.what)));
    return true;
  }

  /// A put_notify that went in one message was answered; those that nobody waits for are answered when they were refused.
  void fused_ended(record& r, slot* s, errc code) {
    const status outcome = code == errc::ok ? status{} : error(code, "put_notify");
    if (s == nullptr) return void(on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome}));
    const slot told = *s;
    e_.release(*s);
    tell(told, outcome);
  }

  // ---- notices ----------------------------------------------------------------------------------------------------------
  [[gnu::always_inline]] void landed(const completion_entry& c) {
    if constexpr (Engine::wide_immediate && !Engine::shape::receive_reserve) {
      record* from = e_.peers.living({static_cast<std::uint32_t>(c.immediate >> 32)});
      if (from == nullptr) [[unlikely]]
        return void(++e_.stale);
      on_(notified{e_.handle(*from), static_cast<std::uint32_t>(c.immediate)});
    } else {
      landed_in_receive(c);
    }
  }
  void landed_in_receive(const completion_entry& c) {
    const auto immediate = static_cast<std::uint32_t>(c.immediate);
    auto* consumed = static_cast<receive*>(c.context);
    record* r = nullptr;
    if constexpr (Engine::wide_immediate) r = e_.peers.find({static_cast<std::uint32_t>(c.immediate >> 32)});
    else if constexpr (Engine::links_have_receives) r = consumed == nullptr || consumed->owner == no_index ? nullptr : &e_.peers.at(consumed->owner);
    const bool known = Engine::wide_immediate || (Engine::links_have_receives && consumed != nullptr);
    if (consumed != nullptr) meeting<Engine>(e_).post(*consumed);
    if (known && (r == nullptr || r->live != r->number)) {
      ++e_.stale;
      return;
    }
    on_(notified{r == nullptr ? peer() : e_.handle(*r), immediate});
  }

  // ---- put off ----------------------------------------------------------------------------------------------------------
  bool owns(const record& r, const receive& slot_of) const noexcept {
    if constexpr (Engine::links_have_receives) return e_.peers.index_of(r) == slot_of.owner;  // a peer cannot speak on another's connection
    else return true;
  }

  void retry_parked() {
    e_.retrying = true;
    std::size_t kept = 0;
    const std::size_t count = e_.parked.size();
    for (std::size_t i = 0; i < count; ++i) {
      const parked_message<receive> message = e_.parked[i];
      receive& r = *message.in;
      if (r.owner == no_index) continue;  // its peer is gone
      if (!handle(r, {message.tag}, const_bytes(message.data, message.length).subspan(Engine::front))) {
        e_.parked[kept++] = message;
        continue;
      }
      if constexpr (Engine::many_in_one) --r.held;
      give_back(r, false);
    }
    e_.parked.resize(kept);
    e_.retrying = false;
  }

  void repost_left() {
    auto left = std::size_t{0};
    for (std::size_t i = 0; i < e_.unposted.size(); ++i)
      if (e_.unposted[i]->owner != no_index && !meeting<Engine>(e_).try_post(*e_.unposted[i])) e_.unposted[left++] = e_.unposted[i];
    e_.unposted.resize(left);
  }

  void send_owed() {
    std::uint32_t list = std::exchange(e_.owed_notices, no_index);
    while (list != no_index) {
      slot& s = *e_.operations.at(list);
      list = s.next;
      if (s.use == slot_use::user || s.use == slot_use::silent) list = send_owed(s, list);
    }
  }
  /// What this operation still has to send. Returns the rest of the list: notices for the same peer may have gone with it.
  std::uint32_t send_owed(slot& s, std::uint32_t rest) {
    if (s.what == operation::get && s.pending == 0) {
      finish(s, {});
      return rest;
    }
    if (s.stage == stage::splitting) {
      parts<Engine>(e_).retry(s);
    } else if (s.stage == stage::looping) {
      if constexpr (Engine::swap_loops) atomic_posts<Engine>(e_).resume(s);
      if (s.fault == errc::ok) return rest;
    } else if (s.what == operation::put) {
      flushing<Engine>(e_).ask_or_owe(s);
    } else if constexpr (Engine::notices_together) {
      return together<Engine>(e_).send(s, rest, [this](slot& told) {
        if (told.pending == 0) finish(told, {});
      });
    } else {
      lane<Engine>(e_).send_notice(s);
    }
    if (s.pending == 0) finish(s, {});
    return rest;
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft
