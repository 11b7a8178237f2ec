// SPDX-License-Identifier: Apache-2.0
//
// How operations end: by completions of the library, or by replies of the peer. Operations of several calls take their
// next step in operation_steps.hpp. The usual path comes first: ended(), the user's handler. Each end is reported once.
// A handler may close any peer, so no slot is read after a handler ran. Hot path: ended(). Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/engine.hpp"
#include "../engine/rare_calls.hpp"
#include "../events.hpp"

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
    if (ended_operation<record> done; rare_calls<Engine>::take_step(e_, s, outcome, on_, done)) report(done);
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
    // The library holds the request's own slot, never this one.
    s->scratch[0] = reply->old;
    const auto done = ended_operation<record>::of_slot(
        *s, reply->code == 0 ? status{} : error(static_cast<errc>(reply->code), name_of(s->what)));
    e_.release(*s);
    report(done);
    return true;
  }

  /// The reply to a fused put_notify. Null slot: an unsignalled one, which is answered only if it was refused.
  void fused_ended(record& r, slot* s, errc code) {
    const status outcome = code == errc::ok ? status{} : error(code, "put_notify");
    if (s == nullptr) return void(on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome}));
    const auto done = ended_operation<record>::of_slot(*s, outcome);
    e_.release(*s);
    report(done);
  }

  /// Tells the handler of an end.
  void report(const ended_operation<record>& o) {
    if (o.use == slot_use::user) {
      if (o.outcome) on_(completed{o.what, e_.handle(*o.of), o.user, {o.value, o.type}});
      else on_(failed{o.what, e_.handle(*o.of), o.user, o.outcome});
    } else if (o.use == slot_use::silent && !o.outcome) {
      on_(failed{o.what, e_.handle(*o.of), nullptr, o.outcome});
    } else if (o.use == slot_use::control && !o.outcome) {
      rare_calls<Engine>::unreachable(e_, *o.of, o.outcome, on_);
    }
  }

 private:
  void unsignalled_failed(record& r, status outcome) {
    if (r.is_live()) on_(failed{operation::put_notify, e_.handle(r), nullptr, outcome});
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
