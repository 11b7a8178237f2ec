// SPDX-License-Identifier: Apache-2.0
//
// How operations end: by the library's completions, by the peer's replies, or by their turn on the list of what is
// deferred; each is told once. Nothing here holds on to an operation while a handler runs: a handler may close the
// peers of any. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../connecting/connection_manager.hpp"
#include "../events.hpp"
#include "../posting/atomics.hpp"
#include "../posting/coalescing.hpp"
#include "../posting/flushing.hpp"
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
    if (c.context == nullptr) return;  // an operation that nobody asked about, on a row that signals all
    if (!c.outcome) [[unlikely]]
      return ended_badly(c);
    ended(*static_cast<slot*>(c.context));
  }
  [[gnu::always_inline]] void ended(slot& s) {
    if (!s.is_plain()) [[unlikely]]
      return ended_in_steps(e_, on_, s);
    const completed told{s.what, e_.handle(*s.record), s.user, {s.scratch[0], s.type}};
    e_.operations.give(s);
    on_(told);
  }

  [[gnu::noinline]] static void ended_in_steps(Engine& e, Handler on, slot& s) { completions(e, on).end_of(s, {}); }
  [[gnu::cold, gnu::noinline]] void ended_badly(const completion_entry& c) {
    if constexpr (Engine::markers)
      if (static_cast<library_context<Engine::library_bytes>*>(c.context)->kind == context_kind::peer)
        return unsignalled_failed(*static_cast<record*>(static_cast<library_context<0>*>(c.context)), c.outcome);
    slot& s = *static_cast<slot*>(c.context);
    end_of(s, c.outcome);
  }

  void end_of(slot& s, status outcome) {
    if (s.use == slot_use::abandoned) return e_.release(s);
    if (!outcome && s.fault == errc::ok) s.fault = outcome.code;
    --s.pending;
    if (s.stage >= stage::delivering) [[unlikely]]
      if (!next_call(s)) return;
    if (s.pending == 0) finish(s, outcome);
  }

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
    slot told = *s;  // the library holds the request's own slot, never this one
    told.scratch[0] = reply->old;
    e_.release(*s);
    tell(told, reply->code == 0 ? status{} : error(static_cast<errc>(reply->code), name_of(told.what)));
    return true;
  }

  /// A put_notify that went in one message was answered; those that nobody waits for are answered when they were
  /// refused.
  void fused_ended(record& r, slot* s, errc code) {
    const status outcome = code == errc::ok ? status{} : error(code, "put_notify");
    if (s == nullptr) return void(on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome}));
    const slot told = *s;
    e_.release(*s);
    tell(told, outcome);
  }

  /// Works off what is deferred.
  void send_deferred() {
    e_.deferred.begin();
    while (slot* s = e_.deferred.take()) send_deferred(*s);
  }

 private:
  void unsignalled_failed(record& r, status outcome) {
    if (r.live == r.number) on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome});
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
    else if constexpr (Engine::batches_notices)
      e_.defer(s);  // sent at the end of this look, with others for the same peer
    else initiator<Engine>(e_).send_notice(s);
    return true;
  }

  void finish(slot& s, status outcome) {
    if (s.fault != errc::ok && outcome) outcome = error(s.fault, name_of(s.what));
    if (!outcome && s.stage == stage::grouped) [[unlikely]]
      return coalescing<Engine>(e_).fail(s, told_as(*s.record, outcome), on_);
    const slot told = s;
    if (s.parent != nullptr) {
      slot& parent = *s.parent;
      e_.release(s);
      if constexpr (Engine::batches_notices)
        if (parent.stage == stage::noticing && parent.what == operation::put_notify)
          return notice_batching<Engine>(e_).told(parent, outcome);
      return end_of(parent, outcome);
    }
    e_.release(s);
    tell(told, outcome);
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
        if (!coalescing<Engine>(e_).resume(s)) return;
        break;
      case stage::confirming:
      case stage::replying:
        flushing<Engine>(e_).ask_or_defer(s);
        break;
      default:
        if constexpr (Engine::batches_notices) return notice_batching<Engine>(e_).send(s);
        else initiator<Engine>(e_).send_notice(s);
    }
    if (s.pending == 0) finish(s, {});
  }

  /// The library flushes what is in flight on a broken link as "cancelled"; nobody closed anything here, so the peer is
  /// the cause.
  static status told_as(const record& r, status outcome) noexcept {
    if (outcome.code == errc::closed && r.state != peer_state::free) outcome.code = errc::peer_lost;
    return outcome;
  }
  void tell(const slot& s, status outcome) {
    outcome = told_as(*s.record, outcome);
    if (s.use == slot_use::user) {
      if (outcome) on_(completed{s.what, e_.handle(*s.record), s.user, {s.scratch[0], s.type}});
      else on_(failed{s.what, e_.handle(*s.record), s.user, outcome});
    } else if (s.use == slot_use::silent && !outcome) {
      on_(failed{s.what, e_.handle(*s.record), nullptr, outcome});
    } else if (s.use == slot_use::control && !outcome) {
      connection_manager<Engine>(e_).unreachable(*s.record, outcome, on_);
    }
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
