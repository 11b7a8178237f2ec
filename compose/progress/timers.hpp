// SPDX-License-Identifier: Apache-2.0
//
// Work that is due although nothing arrives: deadlines of operations, heartbeats and silence, watched processes,
// half-open connections, pending handshakes, link events. It runs every few polls, so that a poll pays one decrement.
// Silence of a peer counts only while this side polled. After the first long absence of the owner, no peer is declared
// dead. An owner may always come late, for example when posts to a dead peer are slow. So each further absence in a row
// counts as a quarter of the silence limit. Hot path: the decrement. Threads: the owner's.
#pragma once

#include "../connecting/connection_manager.hpp"
#include "../connecting/handshake.hpp"
#include "../connecting/teardown.hpp"
#include "../posting/group_packing.hpp"
#include "../receiving/target_atomics.hpp"

#include <algorithm>
#include <utility>

namespace weft::detail {

template <class Engine>
class timers {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using liveness_answer = answer<typename Engine::fabric, liveness_family>;

  static constexpr std::uint32_t every_polls = 32;
  static constexpr std::uint32_t repeat_hello_ms = 500;
  static constexpr std::uint32_t half_open_ms = 2000;  ///< For a reject or a goodbye that stays unsent.
  static constexpr std::uint32_t linger_ms = 1000;     ///< For a reject or a goodbye that was posted.
  static constexpr std::uint32_t watch_every_ms = 20;
  static constexpr std::uint32_t side_channel_every_ms = 20;  ///< A client of the side channel does not end a sleep.
  static constexpr std::uint32_t leaving_ms = 100;            ///< For completions that come after a goodbye.
  static constexpr std::uint32_t overtaken_ms = 1000;         ///< For messages that a goodbye overtook.
  static constexpr std::uint32_t restless_ms = 20;            ///< After a change, links are polled more often.
  static constexpr std::uint32_t whole_absence = ~std::uint32_t{0};
  static constexpr std::uint32_t few_peers = 64;          ///< So many are all checked each time.
  static constexpr std::uint32_t most_before_sleep = 64;  ///< Unfinished peers that until_due() asks.

  explicit timers(Engine& e) noexcept : e_(e) {}

  void run(erased_handler on) {
    const std::uint32_t before = e_.tick;
    e_.tick = e_.tick_now();
    e_.poll_budget.timers_after(every_polls - 1);
    if (e_.tick != before || follows_links()) connection_manager<Engine>(e_).follow_links(on);
    if (!e_.deferred_replies.empty()) target_atomics<Engine>(e_).settle();
    if (e_.tick == before) {
      if (e_.handshake_unsent) handshake<Engine>(e_).resend_handshakes();
      return;
    }
    if (e_.in_set != nullptr) e_.in_set->sole = set_signals::none;
    e_.handshake_unsent = false;  // check_peers() below offers each again
    if (e_.side_channel) e_.side_channel->progress();
    check_peers(e_.tick - before, on);
    if (e_.tick - e_.swept >= sweep_every()) sweep(before, on);
  }

  /// How long the owner may sleep until work is due.
  duration until_due() const noexcept {
    std::uint32_t due = e_.side_channel ? side_channel_every_ms : 200;
    if (liveness_answer::watches_process) due = std::min(due, watch_every_ms);
    if (const std::uint32_t limit = e_.silence_ticks(); limit > 0) due = std::min(due, limit / 8U);
    if (!e_.deferred_replies.empty()) due = 1;
    if (e_.operations.in_flight() > 0) due = std::min(due, sweep_every());
    if (const std::uint32_t beat = e_.peers.shortest_heartbeat(); beat > 0) due = std::min(due, beat / 2U + 1);
    std::uint32_t seen = 0;
    for (record* r = e_.peers.next_unfinished(0); r != nullptr;
         r = e_.peers.next_unfinished(e_.peers.index_of(*r) + 1)) {
      ++e_.peers.visited;
      if (r->handshake_pending || r->state != peer_state::established)
        due = std::min(due, handshake<Engine>(e_).due(*r));
      if (r->heartbeat_every > 0) due = std::min(due, r->heartbeat_every / 2U + 1);
      if (++seen == most_before_sleep) due = 1;  // with so many, one is due soon
      if (due <= 1) break;
    }
    return std::chrono::milliseconds(due);
  }

 private:
  /// Whether links are polled more often than each millisecond. On some ports that is a system call, dearer than a poll
  /// of the queue. There it happens only shortly after a link changed, and for owners who sleep, because a link event
  /// ends the sleep.
  bool follows_links() const noexcept {
    if constexpr (requires { requires Engine::port_type::link_polls_are_system_calls; })
      return e_.options.sleeps || e_.tick - e_.links_moved < restless_ms;
    else return true;
  }

  std::uint32_t sweep_every() const noexcept {
    return std::clamp(Engine::ticks(e_.options.operation_timeout) / 16, 1U, 100U);
  }

  /// Ticks since the last run that do not count as peer silence. The first long absence does not count at all, because
  /// later polls may still read messages that arrived meanwhile.
  std::uint32_t not_listened(std::uint32_t away) noexcept {
    if (const std::uint32_t counts = e_.silence_ticks() / 4; counts > 0) {
      const bool again = e_.came_late;
      e_.came_late = away > counts;
      if (e_.came_late) return again ? away - counts : whole_absence;
    }
    return 0;
  }

  /// Checks every unfinished peer, and of the established ones so many that all have their turn in round_ticks(). After
  /// a long absence each peer's silence is corrected, so all have their turn.
  void check_peers(std::uint32_t passed, erased_handler on) {
    const std::uint32_t not_silent = not_listened(passed);
    const std::uint32_t used = e_.peers.used(), round = round_ticks();
    if (used <= few_peers || not_silent != 0 || (round != 0 && passed >= round)) {
      e_.peers.begin_round();
      for (record& r : e_.peers)
        if (r.state != peer_state::free) check_and_note(r, not_silent, on);
      return;
    }
    e_.peers.each_unfinished([&](record& r) { check_and_note(r, 0, on); });
    const std::uint64_t turns = round == 0 ? 0 : std::uint64_t{used} * passed / round + 1;
    for (std::uint64_t i = 0; i < turns; ++i)
      if (record& r = e_.peers.in_turn(); r.state == peer_state::established) check_and_note(r, 0, on);
  }
  void check_and_note(record& r, std::uint32_t not_silent, erased_handler on) {
    ++e_.peers.visited;
    check_peer(r, not_silent, on);
    e_.peers.was_checked(r);
  }
  /// Ticks within which each established peer has its turn. 0: no turn is needed.
  std::uint32_t round_ticks() const noexcept {
    std::uint32_t round = liveness_answer::watches_process ? watch_every_ms / 2 : ~std::uint32_t{0};
    if (const std::uint32_t limit = e_.silence_ticks(); limit > 0) round = std::min(round, limit / 8U);
    if (const std::uint32_t beat = e_.peers.shortest_heartbeat(); beat > 0) round = std::min(round, beat / 4U);
    return round == ~std::uint32_t{0} ? 0 : std::max(round, 1U);
  }

  void check_peer(record& r, std::uint32_t not_silent, erased_handler on) {
    handshake<Engine>(e_).send_pending(r);
    const std::uint32_t waited = e_.tick - r.since;
    switch (r.state) {
      case peer_state::established:
        return watch_over(r, not_silent, on);
      case peer_state::greeting:
        if (r.last_sent.until(e_.tick) >= repeat_hello_ms) repeat_hello(r);
        return;
      case peer_state::arrived:
        return drop_after(r, waited >= Engine::ticks(e_.options.handshake_limit), on);
      case peer_state::leaving:
        return end_after(r, has_left(r), on);
      case peer_state::refusing:
      case peer_state::closing:
        return end_after(r, waited >= half_open_ms || (!r.handshake_pending && waited >= linger_ms), on);
      default:
        return;
    }
  }
  void end_after(record& r, bool patience_is_over, erased_handler on) {
    if (patience_is_over) teardown<Engine>(e_).end(r, peer_event::patience_over, {}, on);
  }
  void drop_after(record& r, bool limit_is_over, erased_handler on) {
    e_.turned_away += std::uint64_t{limit_is_over};
    end_after(r, limit_is_over, on);
  }
  void repeat_hello(record& r) noexcept {
    r.last_sent = e_.tick;
    r.handshake_pending = false;
    if (!still_held(r) && advance(e_, r, peer_event::repeat_time) == peer_action::send_handshake)
      handshake<Engine>(e_).send(r);
  }

  bool has_left(const record& r) const {
    const teardown<Engine> ends(e_);
    if (ends.waits(r)) return false;  // a handler left a message, and takes it later
    const std::uint32_t waited = e_.tick - r.since;
    if (!ends.all_taken(r)) return waited >= overtaken_ms;
    return waited >= leaving_ms || ends.all_ended(r);
  }

  /// Whether the library still holds a message of weft's own to this peer. Another one would only pile up.
  bool still_held(const record& r) const {
    return e_.operations.count([&r](const slot& s) { return s.use == slot_use::control && s.record == &r; }) > 0;
  }

  void watch_over(record& r, std::uint32_t not_silent, erased_handler on) {
    if constexpr (liveness_answer::watches_process) {
      if (r.checked.until(e_.tick) >= watch_every_ms) {
        r.checked = e_.tick;
        if (r.watch.gone()) return teardown<Engine>(e_).gone(r, error(errc::peer_lost, "process ended"), on);
      }
    }
    if (r.heartbeat_every > 0 && r.last_sent.until(e_.tick) >= r.heartbeat_every) {
      const status sent = e_.tell(r, wire::message_kind::heartbeat, {});
      if (!sent.is_again()) r.last_sent = e_.tick;  // a queue full of writes: the next tick tries again
      // Elsewhere links or processes tell of the end, after the messages that came before.
      if (liveness_answer::speaks && !sent && !sent.is_again())
        return teardown<Engine>(e_).gone(r, {errc::peer_lost, sent.from, sent.native(), "heartbeat"}, on);
    }
    const std::uint32_t limit = e_.silence_ticks();
    if (limit == 0) return;
    if (std::exchange(r.heard, false)) r.since = e_.tick;
    r.since += std::min(not_silent, e_.tick - r.since);
    if (e_.tick - r.since > limit) teardown<Engine>(e_).gone(r, error(errc::peer_lost, "silent"), on);
  }

  /// Ends operations whose deadline passed. A post reads no clock: it has the tick of the last run. After an absence of
  /// the owner, operations with that tick may be new, so they have a sixteenth of the limit, counted from here.
  void sweep(std::uint32_t last_run, erased_handler on) {
    const bool was_absent = e_.tick - last_run > sweep_every();
    e_.swept = e_.tick;
    const std::uint32_t limit = Engine::ticks(e_.options.operation_timeout);
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& s = *e_.operations.at(i);
      if ((s.use != slot_use::user && s.use != slot_use::silent) || e_.tick - s.posted <= limit) continue;
      if (was_absent && s.posted == last_run) {
        s.posted = e_.tick - (limit - std::max(limit / 16, 1U));
        continue;
      }
      if (s.stage == stage::grouped) {
        group_packing<Engine>(e_).fail(s, error(errc::deadline, name_of(s.what)), on);
        continue;
      }
      const slot ended = s;
      teardown<Engine>(e_).end_early(s);
      on(failed{ended.what, e_.handle(*ended.record), ended.use == slot_use::user ? ended.user : nullptr,
                error(errc::deadline, name_of(ended.what))});
    }
  }

  Engine& e_;
};

}  // namespace weft::detail
