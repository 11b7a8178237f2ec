// SPDX-License-Identifier: Apache-2.0
//
// How operations end: by completions of the library, by replies of the peer, or from the list of deferred operations.
// The usual path comes first: ended(), the user's handler. Each end is reported once. A handler may close any peer, so
// no slot is read after a handler ran. Hot path: ended(). Threads: the owner's.
#pragma once

#include "../engine/rare_calls.hpp"
#include "../events.hpp"
#include "../posting/atomics.hpp"
#include "../posting/flushing.hpp"
#include "../posting/group_packing.hpp"
#include "../posting/initiator.hpp"
#include "../posting/notice_batching.hpp"

namespace weft::detail {

template <class Engine, class Handler>
class completions {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  completions(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  [[gnu::always_inline]] void ended(const completion_entry& c) {
    if (c.context == nullptr) return;  // an unsignalled operation, on a fabric that signals all
    if (!c.outcome) [[unlikely]]
      return rare_calls<Engine>::ended_badly(e_, c, on_);
    ended(*static_cast<slot*>(c.context));
  }
  [[gnu::always_inline]] void ended(slot& s) {
    if (!s.is_plain()) [[unlikely]]
      return ended_in_steps(e_, on_, s);
    const completed event{s.what, e_.handle(*s.record), s.user, {s.scratch[0], s.type}};
    e_.operations.give(s);
    on_(event);
  }

  [[gnu::noinline]] static void ended_in_steps(Engine& e, Handler on, slot& s) { completions(e, on).end_of(s, {}); }
  [[gnu::cold, gnu::noinline]] void ended_badly(const completion_entry& c) {
    if (Engine::markers && static_cast<library_context<Engine::library_bytes>*>(c.context)->kind == context_kind::peer)
      return unsignalled_failed(*static_cast<record*>(static_cast<library_context<0>*>(c.context)), c.outcome);
    slot& s = *static_cast<slot*>(c.context);
    end_of(s, c.outcome);
  }

  /// One of the operation's calls, or the reply that it waits for, has ended.
  void end_of(slot& s, status outcome) {
    if (s.use == slot_use::abandoned) return e_.release(s);
    if (!outcome && s.fault == errc::ok) s.fault = outcome.code;
    --s.pending;
    if (s.stage >= stage::delivering) [[unlikely]]
      if (!next_call(s)) return;
    if (s.pending == 0) finish(s, outcome);
  }

  /// The reply to an atomic that the peer executed.
  bool replied(record& r, const_bytes body) {
    const auto reply = wire::parse_atomic_reply(body);
    if (!reply || reply->code > static_cast<std::uint8_t>(errc::native)) {
      ++e_.garbled;
      return true;
    }
    slot* s = e_.operations.at(static_cast<std::uint32_t>(reply->token));
    if (s == nullptr || s->generation != reply->token >> 32 || s->use != slot_use::user || s->record != &r ||
        s->stage != stage::replying || !is_atomic(s->what)) {
      ++e_.stale;
      return true;
    }
    slot ended = *s;  // the library holds the request's own slot, never this one
    ended.scratch[0] = reply->old;
    e_.release(*s);
    report(ended, reply->code == 0 ? status{} : error(static_cast<errc>(reply->code), name_of(ended.what)));
    return true;
  }

  /// The reply to a fused put_notify. Null slot: an unsignalled one, which is answered only if it was refused.
  void fused_ended(record& r, slot* s, errc code) {
    const status outcome = code == errc::ok ? status{} : error(code, "put_notify");
    if (s == nullptr) return void(on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome}));
    const slot ended = *s;
    e_.release(*s);
    report(ended, outcome);
  }

  /// Continues every deferred operation.
  void send_deferred() {
    e_.deferred.begin();
    while (slot* s = e_.deferred.take()) send_deferred(*s);
  }

 private:
  void unsignalled_failed(record& r, status outcome) {
    if (r.is_live()) on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome});
  }

  /// Makes the next call of an operation that takes several. False: the operation continues, also if `pending` is 0.
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
    else if (Engine::batches_notices) e_.defer(s);  // sent at the end of this poll, with others to the same peer
    else initiator<Engine>(e_).send_notice(s);
    return true;
  }

  void finish(slot& s, status outcome) {
    if (s.fault != errc::ok && outcome) outcome = error(s.fault, name_of(s.what));
    if (!outcome && s.stage == stage::grouped) [[unlikely]]
      return group_packing<Engine>(e_).fail(s, reported_as(*s.record, outcome), on_);
    const slot ended = s;
    if (s.parent != nullptr) {
      slot& parent = *s.parent;
      e_.release(s);
      if (Engine::batches_notices && parent.stage == stage::noticing && parent.what == operation::put_notify)
        return notice_batching<Engine>(e_).reported(parent, outcome);
      return end_of(parent, outcome);
    }
    e_.release(s);
    report(ended, outcome);
  }

  void send_deferred(slot& s) {
    switch (s.stage) {
      case stage::ending:
        break;
      case stage::splitting:
        parts<Engine>(e_).retry(s);
        break;
      case stage::looping:
        if constexpr (Engine::swap_loops) atomic_posts<Engine>(e_).resume(s);
        if (s.fault == errc::ok) return;
        break;
      case stage::grouped:
        if (!group_packing<Engine>(e_).resume(s)) return;
        break;
      case stage::confirming:
      case stage::replying:
        flushing<Engine>(e_).ask_or_defer(s);
        break;
      default:
        if (Engine::batches_notices) return notice_batching<Engine>(e_).send(s);
        initiator<Engine>(e_).send_notice(s);
    }
    if (s.pending == 0) finish(s, {});
  }

  /// The library flushes the operations of a broken link as "cancelled". This side closed nothing, so the peer is lost.
  static status reported_as(const record& r, status outcome) noexcept {
    if (outcome.code == errc::closed && r.state != peer_state::free) outcome.code = errc::peer_lost;
    return outcome;
  }
  void report(const slot& s, status outcome) {
    outcome = reported_as(*s.record, outcome);
    if (s.use == slot_use::user) {
      if (outcome) on_(completed{s.what, e_.handle(*s.record), s.user, {s.scratch[0], s.type}});
      else on_(failed{s.what, e_.handle(*s.record), s.user, outcome});
    } else if (s.use == slot_use::silent && !outcome) {
      on_(failed{s.what, e_.handle(*s.record), nullptr, outcome});
    } else if (s.use == slot_use::control && !outcome) {
      rare_calls<Engine>::unreachable(e_, *s.record, outcome, on_);
    }
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
