// SPDX-License-Identifier: Apache-2.0
//
// How a peer ends: every operation outstanding on it is told as failed, once, then the peer as lost; after that nothing
// on it succeeds. The library is not trusted to tell: on shm and udp;ofi_rxd operations towards a dead peer never
// complete, so their slots are abandoned. Hot path: no. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "../engine/receives.hpp"
#include "../events.hpp"
#include "../posting/coalescing.hpp"
#include "../posting/notice_batching.hpp"

namespace weft::detail {

template <class Engine>
class teardown {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  explicit teardown(Engine& e) noexcept : e_(e) {}

  /// The peer is gone: says so about all its operations, then about itself, and frees the record.
  template <class Handler>
  void gone(record& r, status why, Handler& on) {
    const peer handle = e_.handle(r);
    e_.deferred.forget([&r](const slot& s) { return s.record == &r; });
    const bool was_known = r.state == peer_state::established || r.state == peer_state::greeting ||
                           r.state == peer_state::dialling || r.state == peer_state::requested ||
                           r.state == peer_state::leaving;
    r.live = peer_header::dead;
    e_.last_reason = r.reason();
    release_held_posts(r);
    end_link(r);
    fail_all(r, why, on);
    if (was_known) on(lost{handle, why});
    forget(r);
  }

  /// The peer said goodbye. It had all that was sent before, or will never have it: what is known only when the ends of
  /// those operations arrive, and they may be behind the goodbye. They get a moment (progress/timers.hpp).
  template <class Handler>
  void left(record& r, [[maybe_unused]] const_bytes body, Handler& on) {
    e_.set_state(r, peer_state::leaving);
    release_held_posts(r);
    if constexpr (Engine::goodbye_overtakes) r.messages_taken -= wire::parse_number(body).value_or(r.messages_taken);
    if (all_taken(r) && all_ended(r)) gone(r, error(errc::closed, "goodbye"), on);
  }
  /// Whether all messages of a peer that is leaving have come and found a handler, as far as it said how many there
  /// were.
  static bool all_taken([[maybe_unused]] const record& r) noexcept {
    if constexpr (Engine::goodbye_overtakes) return r.messages_taken == 0;
    else return true;
  }
  bool all_ended(const record& r) const {
    return e_.operations.count([&r](const slot& s) {
      return s.record == &r && (s.use == slot_use::user || s.use == slot_use::silent);
    }) == 0;
  }

  /// Frees a record that nobody was told of, or whose end was told.
  void forget(record& r) {
    if (r.state == peer_state::free) return;
    e_.deferred.forget([&r](const slot& s) { return s.record == &r; });
    end_link(r);
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& s = *e_.operations.at(i);
      if (s.record == &r && (s.use == slot_use::user || s.use == slot_use::silent || s.use == slot_use::control))
        end_slot(s);
    }
    if constexpr (requires { r.watch; }) r.watch = {};
    if constexpr (Engine::coalesces) coalescing<Engine>::forget(r);
    r.words.reset();
    e_.set_state(r, peer_state::free);
    e_.peers.give(r);
  }

  /// One operation ended early (its deadline passed) while its peer lives.
  void end_early(slot& s) {
    e_.deferred.forget([&s](const slot& x) { return &x == &s; });
    s.parent = nullptr;
    if constexpr (Engine::batches_notices) notice_batching<Engine>(e_).leave(s);
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i)
      if (slot* child = e_.operations.at(i); child->parent == &s) child->parent = nullptr;
    end_slot(s);
  }

 private:
  /// The library may hold members of an open batch back until a post without the hint that more follows
  /// (posting/more_hints.hpp). The batch posts no such one any more.
  void release_held_posts(record& r) noexcept {
    if (!Engine::connected && e_.batch_hints) (void)e_.say_goodbye(r);
  }
  static bool awaits_reply(const slot& s) noexcept { return s.stage == stage::replying; }
  /// Its bytes are delivered, and the library holds only the message that carries its notice.
  static bool shares_message(const slot& s) noexcept { return Engine::batches_notices && s.stage == stage::noticing; }

  void end_link(record& r) {
    if (r.link_gone) return;
    r.link_gone = true;
    e_.port->hang_up(r.link);
    r.link = {};
    if constexpr (Engine::connected) {
      e_.draining = true;
      e_.put_off();
    }
    if constexpr (Engine::links_have_receives) receives<Engine>(e_).retire(r);
  }

  template <class Handler>
  void fail_all(record& r, status why, Handler& on) {
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& s = *e_.operations.at(i);
      if (s.record != &r) continue;
      if (s.use == slot_use::user) {
        const slot told = s;
        end_slot(s);
        on(failed{told.what, e_.handle(r), told.user, why});
      } else if (s.use == slot_use::silent || s.use == slot_use::control) {
        end_slot(s);
      }
    }
  }

  /// The library may still complete it: on connected links until the queue was seen empty once, on addressed ones at
  /// any time, or never.
  void end_slot(slot& s) {
    s.parent = nullptr;
    const bool held = s.pending > 0 && s.stage != stage::splitting && !awaits_reply(s) && !shares_message(s);
    if (s.stage == stage::splitting)
      e_.plans.give(static_cast<std::uint32_t>(s.scratch[2]));  // its parts are held, it is not
    if (held) e_.abandon(s);
    else e_.release(s);
  }

  Engine& e_;
};

}  // namespace weft::detail
