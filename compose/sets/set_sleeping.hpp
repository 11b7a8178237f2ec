// SPDX-License-Identifier: Apache-2.0
//
// Sleeping on several fabrics at once: each port is armed and polled once more, then one ppoll(2) waits for all of
// their descriptors. Where a port has none, short sleeps on each port take turns. A foreign event loop does the same in
// two halves: arm(), and after its own wait disarm(). Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/sleep_descriptors.hpp"
#include "../progress/blocking_calls.hpp"
#include "../progress/port_arming.hpp"
#include "set_state.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <cerrno>
#include <ctime>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace weft::detail {

template <class... F>
class set_sleeping {
  using state = set_state<F...>;
  static constexpr duration turn = 100us;               ///< Of a port without a descriptor.
  static constexpr duration side_channel_every = 20ms;  ///< A caller of the side channel does not end a sleep.
  static constexpr duration loop_turn = 1ms;            ///< As `turn`, in a foreign loop, whose turns cost more.
  static constexpr duration longest_loop = 1h;

 public:
  explicit set_sleeping(state& s) noexcept : s_(s) {}

  status sleep(duration at_most) noexcept {
    if (!s_.options.sleeps) return {};
    bool may_sleep = true;
    duration due = s_.side_channel ? std::min(at_most, side_channel_every) : at_most;
    each_port([&](auto& engine) {
      const std::optional<duration> longest = waiting(engine).longest_sleep();
      may_sleep = may_sleep && longest.has_value();
      if (longest) due = std::min(due, *longest);
    });
    if (!may_sleep || due <= duration(0)) return {};
    ++s_.sleeps.sleeps;
    const instant end = after(clock(), due);
    const bool timed = can_arm() ? !polled(due) : !took_turns(due);
    if (!timed) return {};
    ++s_.sleeps.timed;
    each_port([&](auto& engine) { waiting(engine).timer_ended_sleep(end); });
    return {};
  }

  /// A descriptor that is readable while one of the ports' is; -1: a port has none.
  int descriptor() noexcept {
    if (s_.descriptor >= 0) return s_.descriptor;
    bool all_have_one = fabrics_that_wait_will_have_one(std::make_index_sequence<sizeof...(F)>());
    each_port([&](auto& engine) { all_have_one = all_have_one && engine.port->descriptor() >= 0; });
    if (!all_have_one) return -1;
    const int made = ::epoll_create1(EPOLL_CLOEXEC);
    each_port([&](auto& engine) {
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      (void)::epoll_ctl(made, EPOLL_CTL_ADD, engine.port->descriptor(), &wanted);
    });
    return s_.descriptor = made;
  }

  /// The epoll instance that arm() fills, or -1.
  int loop_descriptor() noexcept {
    if (s_.loop < 0) s_.loop = ::epoll_create1(EPOLL_CLOEXEC);
    return s_.loop;
  }
  /// Arms every port that can be armed, and puts its descriptors into loop_descriptor(). Returns how long the loop may
  /// sleep. Nothing: something is there, or must be polled for, and no port is armed.
  std::optional<duration> arm() noexcept {
    disarm(false);
    bool quiet = loop_descriptor() >= 0;
    duration due = s_.side_channel ? side_channel_every : longest_loop;
    each_port([&](auto& engine) {
      const std::optional<duration> longest = waiting(engine).longest_sleep();
      quiet = quiet && longest.has_value();
      if (longest) due = std::min(due, *longest);
    });
    if (!quiet || due <= duration(0)) return std::nullopt;
    sleep_descriptors on;
    each_port([&](auto& engine) {
      if (!quiet) return;
      if (!can_arm(engine)) due = std::min(due, loop_turn);
      else if (quiet = arm(*engine.port, on); quiet) ++s_.loop_armed;
    });
    if (!quiet) {
      disarm(false);
      return std::nullopt;
    }
    for (std::size_t i = 0; i < on.count; ++i) {
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      if (::epoll_ctl(s_.loop, EPOLL_CTL_ADD, on.each[i].fd, &wanted) != 0 && errno != EEXIST)
        due = std::min(due, loop_turn);
    }
    return due;
  }
  /// After the loop's wait, before progress().
  void disarm(bool came) noexcept {
    each_port([&](auto& engine) {
      if (s_.loop_armed > 0 && can_arm(engine)) --s_.loop_armed, disarm(*engine.port, came);
    });
  }

 private:
  template <class Engine>
  static blocking_calls<Engine> waiting(Engine& engine) noexcept {
    return blocking_calls<Engine>(engine);
  }
  template <class Body>
  void each_port(Body&& body) noexcept {
    s_.engines.each_open([&]<std::size_t I>(auto& engine) { body(engine); });
  }
  template <class Port>
  static bool arm(Port& port, sleep_descriptors& on) noexcept {
    return port_arming::arm(port, on);
  }
  template <class Port>
  static void disarm(Port& port, bool came) noexcept {
    port_arming::disarm(port, came);
  }
  template <std::size_t... I>
  bool fabrics_that_wait_will_have_one(std::index_sequence<I...>) const noexcept {
    return (
        (!s_.own[I].waits || (s_.options.sleeps && F::facts.completion_wait == weft::completion_wait::descriptor)) &&
        ...);
  }
  template <class Engine>
  static bool can_arm(Engine& engine) noexcept {
    return port_arming::can_arm(engine);
  }
  /// Whether every open port sleeps on descriptors.
  bool can_arm() noexcept {
    bool all = true;
    each_port([&](auto& engine) { all = all && can_arm(engine); });
    return all;
  }
  /// Arms every port, then sleeps. True: something came.
  bool polled(duration due) noexcept {
    sleep_descriptors on;
    std::size_t armed = 0;
    bool quiet = true;
    each_port([&](auto& engine) {
      quiet = quiet && arm(*engine.port, on);
      armed += std::size_t{quiet};
    });
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(due);
    const timespec longest{whole.count(), static_cast<long>((due - whole).count())};
    const bool came = !quiet || ::ppoll(on.each.data(), on.count, &longest, nullptr) > 0;
    each_port([&](auto& engine) {
      if (armed > 0) --armed, disarm(*engine.port, came);
    });
    return came;
  }
  bool took_turns(duration due) noexcept {
    const instant end = after(clock(), due);
    bool came = false;
    for (instant now = clock(); !came && now < end; now = clock())
      each_port([&](auto& engine) {
        if (!came) came = engine.port->wait(std::min(end, after(engine.port->now(), turn))).code != errc::deadline;
      });
    return came;
  }
  instant clock() noexcept {
    instant at{};
    each_port([&](auto& engine) { at = engine.port->now(); });
    return at;
  }

  state& s_;
};

/// Base of transport<fabric_set<F...>>.
template <class Transport, class... F>
class set_sleeping_calls {
  using sleeping = set_sleeping<F...>;

 public:
  /// Sleeps until something may have arrived on any fabric; call progress() next. Returns at once without
  /// options.sleeps.
  status wait(duration at_most) noexcept {
    self().sweep_soon();  // a request on a fabric without peers may have ended the sleep
    return sleeping(*self().state_).sleep(at_most);
  }
  /// A file descriptor for a foreign event loop, or -1 where a fabric of the set has none.
  int descriptor() noexcept { return sleeping(*self().state_).descriptor(); }

  /// A descriptor for a foreign event loop on any set: call progress() until it finds nothing, then arm(); watch the
  /// descriptor for reading, at most for the time that arm() returned; then disarm() and progress() again. Requires
  /// options.sleeps. -1: the system has no descriptor left.
  int loop_descriptor() noexcept { return sleeping(*self().state_).loop_descriptor(); }
  /// From here on each arrival makes loop_descriptor() readable, and nothing else may be called before disarm().
  /// Nothing: do not sleep, call progress(). A fabric without a descriptor shortens the sleep to 1 ms.
  std::optional<duration> arm() noexcept { return sleeping(*self().state_).arm(); }
  void disarm() noexcept {
    self().sweep_soon();
    sleeping(*self().state_).disarm(true);
  }

 private:
  Transport& self() noexcept { return static_cast<Transport&>(*this); }
};

}  // namespace weft::detail
