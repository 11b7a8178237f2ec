// SPDX-License-Identifier: Apache-2.0
//
// Sleeping on several fabrics at once: each port is armed and polled once more, then one ppoll(2) waits for all of
// their descriptors. Where a port has none, short sleeps on each port take turns. Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/sleep_descriptors.hpp"
#include "../progress/blocking_calls.hpp"
#include "set_state.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <ctime>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <optional>

namespace weft::detail {

template <class... F>
class set_sleeping {
  using state = set_state<F...>;
  static constexpr duration turn = 100us;               ///< Of a port without a descriptor.
  static constexpr duration side_channel_every = 20ms;  ///< A caller of the side channel does not end a sleep.

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
    const bool timed = can_arm() ? !polled(due) : !took_turns(due);
    if (!timed) return {};
    ++s_.sleeps.timed;
    each_port([](auto& engine) { waiting(engine).timer_ended_sleep(); });
    return {};
  }

  /// A descriptor that is readable while one of the ports' is; -1: a port has none.
  int descriptor() noexcept {
    if (s_.descriptor >= 0) return s_.descriptor;
    bool all_have_one = true;
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
  static constexpr bool arms = requires(Port& port, sleep_descriptors& on) {
    { port.arm(on) } -> std::same_as<bool>;
    port.disarm(true);
  };
  template <class Port>
  static bool arm(Port& port, sleep_descriptors& on) noexcept requires(arms<Port>) {
    return port.arm(on);
  }
  template <class Port>
  static bool arm(Port& /*port*/, sleep_descriptors& /*on*/) noexcept {
    return false;
  }
  template <class Port>
  static void disarm(Port& port, bool came) noexcept requires(arms<Port>) {
    port.disarm(came);
  }
  template <class Port>
  static void disarm(Port& /*port*/, bool /*came*/) noexcept {}
  /// Whether every open port sleeps on descriptors.
  bool can_arm() noexcept {
    bool all = true;
    each_port([&](auto& engine) {
      all = all && arms<std::remove_reference_t<decltype(*engine.port)>> && engine.port->descriptor() >= 0;
    });
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
    const instant end = clock() + due;
    bool came = false;
    for (instant now = clock(); !came && now < end; now = clock())
      each_port([&](auto& engine) {
        if (!came) came = engine.port->wait(std::min(end, engine.port->now() + turn)).code != errc::deadline;
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

}  // namespace weft::detail
