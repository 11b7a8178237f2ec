// SPDX-License-Identifier: Apache-2.0
//
// Messages and notices that arrive: each becomes an event or is handled here. Decided by what the library's entry says
// it is, never by its context alone: notices have none on most rows (fi_cq(3)), and their length is not to be trusted.
// A message that cannot be handled yet keeps its receive ("unexpected_messages") and is looked at again after the next
// poll. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../connecting/connection_manager.hpp"
#include "../events.hpp"
#include "completions.hpp"
#include "group_unpacking.hpp"
#include "ring_watch.hpp"
#include "target_executed.hpp"

#include <utility>

namespace weft::detail {

template <class Engine, class Handler>
class receive_path {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using receive = typename Engine::receive;

  receive_path(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  [[gnu::cold, gnu::noinline]] void arrived_badly(const completion_entry& c) {
    if (c.outcome.code == errc::truncated) {
      ++e_.garbled;
      e_.overrun.note(c.length, e_.options.max_message_bytes + Engine::front);
    }
    if (c.outcome.code != errc::closed || !Engine::links_have_receives)
      give_back(*static_cast<receive*>(c.context), c.last);
  }
  /// By a link whose record is known: its tag is compared, not looked up. One that lies and is `dead` has an index
  /// beyond any table.
  [[gnu::always_inline]] void arrived(const completion_entry& c, record& from) {
    if (!c.outcome) [[unlikely]]
      return arrived_badly(c);
    receive& r = *static_cast<receive*>(c.context);
    const auto tag = static_cast<std::uint32_t>(c.immediate);
    if constexpr (!Engine::goodbye_overtakes && !Engine::framed && !Engine::watches_cells)
      if (wire::connection_number{tag}.index() < e_.heard_at_once && from.live == tag) [[likely]]
        return take_at_once(from, r, c);
    take_message(e_, on_, r, c.length, tag, c.at, c.last);
  }
  [[gnu::always_inline]] void arrived(const completion_entry& c) {
    if (!c.outcome) [[unlikely]]
      return arrived_badly(c);
    receive& r = *static_cast<receive*>(c.context);
    const wire::message_tag tag{static_cast<std::uint32_t>(c.immediate)};
    if constexpr (!Engine::goodbye_overtakes && !Engine::framed && !Engine::watches_cells)
      // The kind of users' messages is 0, so that such a tag is the number of its connection; the tag of another kind
      // is nobody's number.
      if (record* const from = e_.peers.living({tag.word}, e_.heard_at_once); from != nullptr) [[likely]]
        if (!Engine::links_have_receives || tag.connection().index() == r.owner) [[likely]]
          return take_at_once(*from, r, c);
    take_message(e_, on_, r, c.length, tag.word, c.at, c.last);
  }

  /// Most messages: a user's, of a peer that stands and may speak on this link, with none before it that waits.
  [[gnu::always_inline]] void take_at_once(record& from, receive& r, const completion_entry& c) {
    from.last_received = e_.tick;
    std::byte* const start = Engine::many_in_one ? c.at : r.data;
    if (!offer(on_, received{e_.handle(from), const_bytes(start, c.length)})) [[unlikely]]
      return keep_unexpected(
          e_, {&r, start, static_cast<std::uint32_t>(c.length), static_cast<std::uint32_t>(c.immediate)}, c.last);
    if constexpr (Engine::many_in_one || Engine::chains_receives) give_back(r, c.last);
    else receives<Engine>(e_).post_at_once(from, r, c);
  }
  /// All others. What it is given travels in registers. `at`, `last`: where a receive holds many messages.
  [[gnu::noinline]] static void take_message(Engine& e, Handler on, receive& r, std::size_t length, std::uint32_t tag,
                                             std::byte* at, bool last) {
    receive_path(e, on).take(r, length, {tag}, at, last);
  }
  void take(receive& r, std::size_t length, wire::message_tag tag, std::byte* at, bool last) {
    std::byte* const start = Engine::many_in_one ? at : r.data;
    const_bytes whole{start, length};
    if constexpr (Engine::framed) {
      wire::reader head(whole.first(std::min(whole.size(), wire::header_bytes)));
      tag.word = head.number<std::uint32_t>();
      if (whole.size() < wire::header_bytes) {
        ++e_.garbled;
        return give_back(r, last);
      }
      whole = whole.subspan(wire::header_bytes);
    }
    if (!handle(r, tag, whole))
      return keep_unexpected(e_, {&r, start, static_cast<std::uint32_t>(length), tag.word}, last);
    give_back(r, last);
  }
  [[gnu::cold, gnu::noinline]] static void keep_unexpected(Engine& e, unexpected_message<receive> message, bool last) {
    message.left = std::exchange(e.left_in_group, 0);
    e.unexpected_messages.push_back(message);  // slots: never past their number, reserved at open
    e.note_unexpected();
    e.put_off();
    if constexpr (!Engine::many_in_one) return;
    ++message.in->held;
    message.in->released |= last;
    receives<Engine>(e).post_if_spent(*message.in);
  }

  /// The message is done with: its slot is posted again; a buffer of many only when it is spent and no other message in
  /// it waits.
  void give_back(receive& r, [[maybe_unused]] bool last) noexcept {
    if constexpr (Engine::many_in_one) {
      r.released |= last;
      receives<Engine>(e_).post_if_spent(r);
    } else {
      connection_manager<Engine>(e_).post(r);
    }
  }

  [[gnu::always_inline]] void write_arrived(const completion_entry& c) {
    if constexpr (Engine::wide_immediate && !Engine::shape::receive_reserve) {
      record* from = e_.peers.living({static_cast<std::uint32_t>(c.immediate >> 32)});
      if (from == nullptr) [[unlikely]]
        return void(++e_.stale);
      if constexpr (Engine::watches_cells) {
        const std::uint32_t number = from->number;
        cell_watch<Engine, Handler>(e_, on_).drain(*from);  // posted before it
        if (from->live != number) return;                   // a handler closed the peer
      }
      on_(notified{e_.handle(*from), static_cast<std::uint32_t>(c.immediate)});
    } else {
      write_in_receive(c);
    }
  }
  [[gnu::always_inline]] void write_arrived(const completion_entry& c, record& from) {
    if (from.live != from.number) [[unlikely]]
      return void(++e_.stale);
    on_(notified{e_.handle(from), static_cast<std::uint32_t>(c.immediate)});
  }
  void retry_unexpected() {
    e_.retrying = true;
    std::size_t kept = 0;
    const std::size_t count = e_.unexpected_messages.size();
    for (std::size_t i = 0; i < count; ++i) {
      const unexpected_message<receive> message = e_.unexpected_messages[i];
      receive& r = *message.in;
      if (r.owner == no_index) continue;  // its peer is gone
      e_.left_in_group = message.left;
      if (!handle(r, {message.tag}, const_bytes(message.data, message.length).subspan(Engine::front))) {
        e_.unexpected_messages[kept] = message;
        e_.unexpected_messages[kept++].left = std::exchange(e_.left_in_group, 0);
        continue;
      }
      e_.left_in_group = 0;
      if constexpr (Engine::many_in_one) --r.held;
      give_back(r, false);
    }
    e_.unexpected_messages.resize(kept);
    e_.note_unexpected();
    e_.retrying = false;
  }

 private:
  completions<Engine, Handler> completions_() const noexcept { return {e_, on_}; }
  bool owns(const record& r, const receive& slot_of) const noexcept {
    if constexpr (Engine::links_have_receives)
      return e_.peers.index_of(r) == slot_of.owner;  // a peer cannot speak on another's connection
    else return true;
  }

  /// Whether what a peer says is still heard: it stands, or its goodbye overtook this.
  static bool listened_to(const record& r) noexcept {
    return r.live == r.number || (Engine::goodbye_overtakes && r.state == peer_state::leaving);
  }
  /// Counts a message that found its handler, which may have closed the peer.
  template <class Take>
  [[gnu::always_inline]] static bool taken(record& r, Take&& take) {
    if constexpr (!Engine::goodbye_overtakes) {
      return take();
    } else {
      const std::uint32_t number = r.number;
      const bool took = take();
      if (took && r.number == number) ++r.messages_taken;
      return took;
    }
  }

  /// False: not yet.
  bool handle(receive& slot_of, wire::message_tag tag, const_bytes body) {
    record* r = e_.peers.find(tag.connection());
    if constexpr (Engine::watches_cells)  // posted before it: told before it
      if (r != nullptr && r->live == r->number) cell_watch<Engine, Handler>(e_, on_).drain(*r);
    if (tag.kind() == wire::message_kind::user) [[likely]] {
      if (r != nullptr && listened_to(*r) && owns(*r, slot_of)) [[likely]] {
        r->last_received = e_.tick;
        if (!e_.unexpected_messages.empty() && !e_.retrying) [[unlikely]]
          return false;  // behind those that wait
        return taken(*r, [&] { return offer(on_, received{e_.handle(*r), body}); });
      }
      if (r != nullptr && owns(*r, slot_of)) return advance(e_, *r, peer_event::data_message) != peer_action::keep;
      ++e_.stale;
      return true;
    }
    return handle_control(slot_of, r, tag, body);
  }

  bool handle_control(receive& slot_of, record* r, wire::message_tag tag, const_bytes body) {
    if (tag.kind() == wire::message_kind::hello) {
      connection_manager<Engine>(e_).hello(slot_of, r, body, on_);
      return true;
    }
    if (r == nullptr || !owns(*r, slot_of)) {
      ++e_.stale;
      return true;
    }
    r->last_received = e_.tick;
    if (tag.kind_bits() >= wire::message_kinds) {
      ++e_.garbled;
      return true;
    }
    if (tag.kind() == wire::message_kind::accept || tag.kind() == wire::message_kind::reject) {
      connection_manager<Engine>(e_).answered(*r, tag.kind(), body, on_);
      return true;
    }
    // An established peer's message is delivered, says the table (connecting/transitions.hpp); a goodbye ends the
    // state.
    if (r->live != r->number || tag.kind() == wire::message_kind::goodbye) [[unlikely]]
      if (const peer_action does = advance(e_, *r, event_of(tag.kind())); does != peer_action::deliver)
        return does != peer_action::keep;
    if (Engine::is_counted(tag.kind())) return taken(*r, [&] { return from_established(*r, tag.kind(), body); });
    return from_established(*r, tag.kind(), body);
  }

  bool from_established(record& r, wire::message_kind kind, const_bytes body) {
    switch (kind) {
      case wire::message_kind::notify:
        return tell_notices(r, body);
      case wire::message_kind::atomic_request:
        return target<Engine>(e_).execute(r, body);
      case wire::message_kind::atomic_reply:
        return completions_().replied(r, body);
      case wire::message_kind::ring_credit:
        if constexpr (Engine::uses_ring) {
          if (const auto read = wire::parse_number(body);
              read && *read - r.ring_credited <= r.ring_posted - r.ring_credited)
            r.ring_credited = *read;
          else ++e_.garbled;
        }
        return true;
      case wire::message_kind::fused:
        if constexpr (Engine::notice_is_message)
          return fused_notices<Engine>(e_).land(r, body, [&](std::uint32_t immediate) {
            on_(notified{e_.handle(r), immediate});
          });
        else ++e_.garbled;
        return true;
      case wire::message_kind::fused_reply:
        if constexpr (Engine::fused_bytes > 0)
          fused_notices<Engine>(e_).replied(r, body,
                                            [&](slot* s, errc code) { completions_().fused_ended(r, s, code); });
        else if constexpr (Engine::watches_cells) cell_watch<Engine, Handler>(e_, on_).refused(r, body);
        else ++e_.garbled;
        return true;
      case wire::message_kind::flush:
        if (!e_.unexpected_messages.empty() && !e_.retrying) return false;  // behind those that wait
        return flushing<Engine>(e_).answer_to(r, body);
      case wire::message_kind::flushed:
        if (slot* s = flushing<Engine>(e_).answered(r, body); s != nullptr) completions_().end_of(*s, {});
        return true;
      case wire::message_kind::group:
        return ungrouping<Engine, Handler>(e_, on_).take(r, body, !e_.unexpected_messages.empty() && !e_.retrying);
      case wire::message_kind::region:
        return keep_region(r, body);
      case wire::message_kind::goodbye:
        teardown<Engine>(e_).left(r, body, on_);
        return true;
      default:
        return true;
    }
  }

  /// A region description waits for receive_region(). A peer with too many of them is closed: nothing is dropped
  /// unseen.
  [[gnu::cold, gnu::noinline]] bool keep_region(record& r, const_bytes body) {
    constexpr std::size_t most = 64;
    region_bytes description;
    if (body.size() != description.size()) {
      ++e_.garbled;
      return true;
    }
    peer_words* const words = r.made_words();
    if (words == nullptr) return false;  // the message stays in its receive until there is memory
    if (words->regions.size() == most) {
      words->reason = "the peer sent more than 64 regions that receive_region() has not taken";
      teardown<Engine>(e_).gone(r, error(errc::broken, "receive region"), on_);
      return true;
    }
    std::copy(body.begin(), body.end(), description.begin());
    words->regions.push_back(description);
    return true;
  }

  /// One notice, or several that go together.
  bool tell_notices(record& r, const_bytes body) {
    if (body.empty() || body.size() % 4 != 0 || (!Engine::batches_notices && body.size() != 4)) {
      ++e_.garbled;
      return true;
    }
    const std::uint32_t number = r.number;  // a handler may close the peer
    for (std::size_t at = 0; at < body.size() && r.number == number &&
                             (r.state == peer_state::established || r.state == peer_state::leaving);
         at += 4)
      on_(notified{e_.handle(r), *wire::parse_number(body.subspan(at, 4))});
    return true;
  }

  void write_in_receive(const completion_entry& c) {
    const auto immediate = static_cast<std::uint32_t>(c.immediate);
    auto* consumed = static_cast<receive*>(c.context);
    record* r = nullptr;
    if constexpr (Engine::wide_immediate) r = e_.peers.find({static_cast<std::uint32_t>(c.immediate >> 32)});
    else if constexpr (Engine::links_have_receives)
      r = consumed == nullptr || consumed->owner == no_index ? nullptr : &e_.peers.at(consumed->owner);
    const bool known = Engine::wide_immediate || (Engine::links_have_receives && consumed != nullptr);
    if (consumed != nullptr) connection_manager<Engine>(e_).post(*consumed);
    if (known && (r == nullptr || r->live != r->number)) {
      ++e_.stale;
      return;
    }
    on_(notified{r == nullptr ? peer() : e_.handle(*r), immediate});
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
