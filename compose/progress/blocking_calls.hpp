// SPDX-License-Identifier: Apache-2.0
//
// One step of progress, and the calls that wait. A waiting call is a loop of steps with a deadline; it sleeps between
// them where the transport was opened for that. Waiting calls refuse to run inside a handler, because they would report
// events out of order. Hot path: step(). Threads: the owner's.
#pragma once

#include "../connecting/refuse_events.hpp"
#include "../engine/rare_calls.hpp"
#include "../events.hpp"
#include "../receiving/cq_poller.hpp"

#include <sched.h>

#include <optional>
#include <string>

namespace weft::detail {

template <class Engine>
class blocking_calls {
 public:
  using record = typename Engine::record;

  explicit blocking_calls(Engine& e) noexcept : e_(e) {}

  template <class Handler>
  [[gnu::always_inline]] int step(Handler& on) {
    if (!e_.poll_budget.quick_poll()) [[unlikely]]
      return maintenance_step(e_, on);
    return cq_poller<Engine, held_handler<Handler>>::template poll<true>(e_, on);
  }

  template <class Done, class Handler>
  status until(Done&& done, duration timeout, Handler& on) {
    if (e_.handling()) return error(errc::invalid, "waiting inside a handler");
    const instant end = after(e_.port->now(), timeout);
    for (std::uint32_t idle = 0; !done();) {
      idle = step(on) > 0 ? 0 : idle + 1;
      if (done()) return {};
      if (idle % 16 == 15 && e_.port->now() >= end) return error(errc::deadline, "until");
      if (idle % 32 == 31) (void)::sched_yield();  // the peer may need this processor
      if (idle > 2000 && e_.options.sleeps) (void)sleep(end - e_.port->now());
    }
    return {};
  }

  template <class Post, class Handler>
  status retry(Post&& post, duration timeout, Handler& on) {
    status answered = post();
    if (!answered.is_again()) return answered;
    const auto settled = [&] {
      answered = post();
      return !answered.is_again();
    };
    const status waited = until(settled, timeout, on);
    if (!answered.is_again()) return answered;
    if (waited.code != errc::deadline) return waited;
    return {errc::deadline, origin::weft, answered.native_code, answered.operation};
  }

  status sleep(duration at_most) noexcept { return rare_calls<Engine>::sleep(e_, at_most); }
  /// How long a sleep may last before work is due. Nothing: the owner must poll on.
  std::optional<duration> longest_sleep() noexcept { return rare_calls<Engine>::longest_sleep(e_); }
  /// A timer ended the sleep, which was due at `due`. The next poll counts a missed wake-up if it finds an entry. A
  /// late end proves nothing: the machine stood still, or others had the processor, and an entry came in the meantime.
  void timer_ended_sleep(instant due) noexcept {
    if constexpr (!Engine::watches_cells) {
      if (e_.port->now() - due >= late_end) return;
      e_.timer_ended_sleep = true;
      e_.put_off();  // the next poll is the one that counts
    }
  }

  // ---- regions
  status send_region(peer to, const region_bytes& description) noexcept {
    if (!to.alive()) return error(errc::peer_lost, "send_region");
    return e_.tell(record_of(to), wire::message_kind::region, description);
  }
  result<remote_region> receive_region(peer from, duration timeout, waiting_handler waits) {
    const auto description = receive_description(from, timeout, waits);
    if (!description) return {description.why(), description.error().sentence};
    return remote_region::parse(*description, Engine::fabric::fingerprint, usual_atomicity<typename Engine::fabric>);
  }
  /// The bytes that the peer sent with send_region().
  result<region_bytes> receive_description(peer from, duration timeout, const waiting_handler& waits) {
    const auto came = [&] {
      return from.alive() && record_of(from).words != nullptr && !record_of(from).words->regions.empty();
    };
    const erased_handler on = waits.events();
    const auto settled = [&] { return came() || !from.alive() || waits.interrupted() != nullptr; };
    const status waited = until(settled, timeout, on);
    if (!from.alive())
      return {error(errc::peer_lost, "receive region"), "the peer was lost before it described its region"};
    if (const char* seen = waits.interrupted())  // a description that has come stays for the next call
      return {error(errc::broken, "receive region"),
              std::string(seen) + " arrived while receive_region() waited; pass a handler for events [WEFT-O009]"};
    if (!came()) return {waited, "the peer did not describe its region in time"};
    auto& kept = record_of(from).words->regions;
    const region_bytes description = kept.front();
    kept.erase(kept.begin());
    return description;
  }

 private:
  /// A step with deferred work or due timers. Inside a handler it does nothing.
  template <class Handler>
  [[gnu::noinline]] static int maintenance_step(Engine& e, Handler& on) {
    e.poll_budget.not_quick();
    if (e.handling()) return 0;
    using poller = cq_poller<Engine, held_handler<Handler>>;
    const bool timers_are_due = e.poll_budget.are_timers_due();  // counts this poll, deferred work or not
    const int found =
        e.poll_budget.is_put_off() ? poller::poll_and_run_deferred(e, hold(on)) : poller::template poll<false>(e, on);
    if (timers_are_due) run_timers(e, erased_handler::of(on));
    return found;
  }
  [[gnu::noinline]] static void run_timers(Engine& e, erased_handler on) {
    e.poll_budget.begin_handling();
    rare_calls<Engine>::run_timers(e, on);
    (void)e.poll_budget.end_handling();
  }

  static constexpr duration late_end = std::chrono::milliseconds(1);

  /// Requires: alive.
  static record& record_of(peer p) noexcept { return *static_cast<record*>(peer_access::living(p)); }

  Engine& e_;
};

}  // namespace weft::detail
