// SPDX-License-Identifier: Apache-2.0
//
// What must happen although nothing arrives: deadlines of operations, heartbeats and silence, watched processes,
// half-open connections, answers still deferred, link events. Done every few polls, so that the hot loop pays a
// decrement. After a long absence of this side's owner nobody is declared dead for it: silence counts only while we
// were listening. An owner who always comes late (each look or post of his is slow, as posts to a dead peer are where
// the library dials again) still learns of a loss: of each further late coming in a row, a quarter of the silence limit
// counts. Hot path: the decrement. Threads: the owner's.
#pragma once

#include "../connecting/connection_manager.hpp"
#include "../connecting/teardown.hpp"
#include "../posting/coalescing.hpp"
#include "../receiving/target_executed.hpp"

namespace weft::detail {

template <class Engine, class Handler>
class timers {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using liveness_answer = answer<typename Engine::fabric, liveness_family>;

  static constexpr std::uint32_t every_polls = 32;
  static constexpr std::uint32_t repeat_hello_ms = 500;
  static constexpr std::uint32_t half_open_ms = 2000;
  static constexpr std::uint32_t linger_ms = 1000;
  static constexpr std::uint32_t watch_every_ms = 20;
  static constexpr std::uint32_t side_channel_every_ms =
      20;  ///< Nothing wakes a sleeper for it: whoever asks waits this long at most.
  static constexpr std::uint32_t leaving_ms = 100;
  static constexpr std::uint32_t restless_ms = 20;
  static constexpr std::uint32_t overtaken_ms = 1000;  ///< For messages that a goodbye overtook.
  static constexpr std::uint32_t all_of_it = ~std::uint32_t{0};

  timers(Engine& e, Handler& on) noexcept : e_(e), on_(on) {}

  void run() {
    const std::uint32_t before = e_.tick;
    e_.read_clock();
    e_.poll_budget.timers_after(every_polls - 1);
    if (e_.tick != before || follows_links()) connection_manager<Engine>(e_).follow_links(on_);
    if (!e_.deferred_replies.empty()) target<Engine>(e_).settle();
    if (e_.tick == before) {
      if (e_.unsaid) connection_manager<Engine>(e_).say_again();
      return;
    }
    e_.unsaid = false;  // all are looked after
    if (e_.side_channel) e_.side_channel->progress();
    const std::uint32_t unheard = not_listened(e_.tick - before);
    for (record& r : e_.peers)
      if (r.state != peer_state::free) run_deferred(r, unheard);
    if (e_.tick - e_.swept >= sweep_every()) sweep();
  }

  /// How long the owner may sleep without neglecting anything.
  duration until_due() const noexcept {
    std::uint32_t due = e_.side_channel ? side_channel_every_ms : 200;
    if constexpr (liveness_answer::watches_process) due = std::min(due, watch_every_ms);
    if (!e_.deferred_replies.empty()) due = 1;
    if (e_.operations.in_flight() > 0) due = std::min(due, sweep_every());
    for (record& r : e_.peers) {
      if (r.state == peer_state::free) continue;
      if (r.handshake_pending || r.state != peer_state::established)
        due = std::min(due, connection_manager<Engine>(e_).due(r));
      if (r.speak_every > 0) due = std::min(due, r.speak_every / 2U + 1);
    }
    return std::chrono::milliseconds(due);
  }

 private:
  /// Whether links are looked at more often than each millisecond. Where that is a call into the system, dearer than a
  /// look at the queue, it is so only just after one moved or was dialled, and for owners who sleep: a link wakes them.
  bool follows_links() const noexcept {
    if constexpr (requires { requires Engine::port_type::link_polls_are_system_calls; })
      return e_.options.sleeps || e_.tick - e_.links_moved < restless_ms;
    else return true;
  }

  std::uint32_t sweep_every() const noexcept {
    return std::clamp(Engine::ticks(e_.options.operation_timeout) / 16, 1U, 100U);
  }

  /// What of the ticks since the last timers is no peer's silence. All of a first long absence: what was sent meanwhile
  /// may be taken by later looks only.
  std::uint32_t not_listened(std::uint32_t away) noexcept {
    if constexpr (liveness_answer::speaks) {
      const std::uint32_t counts = Engine::ticks(e_.options.silence_limit) / 4;
      const bool again = e_.came_late;
      e_.came_late = away > counts;
      if (e_.came_late) return again ? away - counts : all_of_it;
    }
    return 0;
  }

  void run_deferred(record& r, std::uint32_t unheard) {
    if (r.handshake_pending) connection_manager<Engine>(e_).send_deferred_handshake(r);
    switch (r.state) {
      case peer_state::established:
        return watch_over(r, unheard);
      case peer_state::greeting:
        if (r.spoke.until(e_.tick) >= repeat_hello_ms) {  // it may have been lost with a peer that restarted
          r.spoke = e_.tick;
          r.handshake_pending = !still_held(r);
        }
        return;
      case peer_state::arrived:
        if (e_.tick - r.since >= half_open_ms) teardown<Engine>(e_).forget(r);
        return;
      case peer_state::leaving:
        if (has_left(r)) teardown<Engine>(e_).gone(r, error(errc::closed, "goodbye"), on_);
        return;
      case peer_state::refusing:
        if (!r.handshake_pending && e_.tick - r.since >= linger_ms) teardown<Engine>(e_).forget(r);
        if (e_.tick - r.since >= half_open_ms) teardown<Engine>(e_).forget(r);
        return;
      default:
        return;
    }
  }

  bool has_left(const record& r) const {
    const std::uint32_t waited = e_.tick - r.since;
    if (!teardown<Engine>::all_taken(r)) return waited >= overtaken_ms;
    return waited >= leaving_ms || teardown<Engine>(e_).all_ended(r);
  }

  /// Whether the library still holds, and so tries to deliver, what was said to this peer: saying it again would only
  /// pile up.
  bool still_held(const record& r) const {
    return e_.operations.count([&r](const slot& s) { return s.use == slot_use::control && s.record == &r; }) > 0;
  }

  void watch_over(record& r, [[maybe_unused]] std::uint32_t unheard) {
    if constexpr (liveness_answer::watches_process) {
      if (r.spoke.until(e_.tick) >= watch_every_ms) {
        r.spoke = e_.tick;
        if (r.watch.gone()) {
          const std::uint64_t process = r.process;
          teardown<Engine>(e_).gone(r, error(errc::peer_lost, "process ended"), on_);
          if constexpr (requires { e_.port->process_ended(process); }) e_.port->process_ended(process);
          return;
        }
      }
    }
    if constexpr (liveness_answer::speaks) {
      const std::uint32_t limit = Engine::ticks(e_.options.silence_limit);
      r.heard += std::min(unheard, e_.tick - r.heard);
      if (r.speak_every > 0 && r.spoke.until(e_.tick) >= r.speak_every) {
        const status said = e_.tell(r, wire::message_kind::heartbeat, {});
        if (!said.is_again())
          r.spoke = e_.tick;  // a queue that is full of writes may be so each time: the next look tries again
        if (!said && !said.is_again())
          return teardown<Engine>(e_).gone(r, {errc::peer_lost, said.from, said.native_code, "heartbeat"}, on_);
      }
      if (e_.tick - r.heard > limit) teardown<Engine>(e_).gone(r, error(errc::peer_lost, "silent"), on_);
    }
  }

  void sweep() {
    e_.swept = e_.tick;
    const std::uint32_t limit = Engine::ticks(e_.options.operation_timeout);
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& s = *e_.operations.at(i);
      if ((s.use != slot_use::user && s.use != slot_use::silent) || e_.tick - s.posted <= limit) continue;
      if (s.stage == stage::grouped) {
        coalescing<Engine>(e_).fail(s, error(errc::deadline, name_of(s.what)), on_);
        continue;
      }
      const slot told = s;
      teardown<Engine>(e_).end_early(s);
      on_(failed{told.what, e_.handle(*told.record), told.use == slot_use::user ? told.user : nullptr,
                 error(errc::deadline, name_of(told.what))});
    }
  }

  Engine& e_;
  Handler& on_;
};

}  // namespace weft::detail
