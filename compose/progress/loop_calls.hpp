// SPDX-License-Identifier: Apache-2.0
//
// The calls of a transport for a foreign event loop: a sleep in two halves, arm() before the loop's own wait and
// disarm() after it. The descriptor is an epoll instance of weft's own, because a library may have several descriptors,
// and may change them. Hot path: no. Threads: the owner's.
#pragma once

#include "blocking_calls.hpp"
#include "port_arming.hpp"

#include <sys/epoll.h>
#include <cerrno>

#include <chrono>
#include <optional>
#include <utility>

namespace weft::detail {

/// Base of transport<F>.
template <class Transport, class F>
class loop_calls {
  static constexpr duration without_descriptor = 1ms;  ///< The longest sleep where nothing would end it.
  static constexpr duration longest = 1h;

 public:
  /// A descriptor for a foreign event loop: call progress() until it finds nothing, then arm(); watch the descriptor
  /// for reading, at most for the time that arm() returned; then disarm() and progress() again. Requires
  /// options.sleeps. The transport closes it. -1: the system has no descriptor left.
  int loop_descriptor() noexcept {
    loop_state& loop = e_().loop;
    if (loop.epoll < 0) loop.epoll = ::epoll_create1(EPOLL_CLOEXEC);
    return loop.epoll;
  }
  /// From here on each arrival makes loop_descriptor() readable, and nothing else may be called before disarm().
  /// Nothing: do not sleep, call progress(). A fabric without a descriptor shortens the sleep to 1 ms.
  std::optional<duration> arm() noexcept {
    disarm(false);
    if (loop_descriptor() < 0) return std::nullopt;
    std::optional<duration> due = blocking_calls<engine<F>>(e_()).longest_sleep();
    if (!due || *due <= duration(0)) return std::nullopt;
    if (!port_arming::can_arm(e_())) return std::min(*due, without_descriptor);
    sleep_descriptors on;
    if (!port_arming::arm(*e_().port, on)) return std::nullopt;
    e_().loop.armed = true;
    due = std::min(*due, longest);
    for (std::size_t i = 0; i < on.count; ++i) {
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      if (::epoll_ctl(e_().loop.epoll, EPOLL_CTL_ADD, on.each[i].fd, &wanted) != 0 && errno != EEXIST)
        due = std::min(*due, without_descriptor);
    }
    return due;
  }
  /// After the loop's wait, before progress().
  void disarm() noexcept { disarm(true); }

 private:
  void disarm(bool came) noexcept {
    if (std::exchange(e_().loop.armed, false)) port_arming::disarm(*e_().port, came);
  }
  engine<F>& e_() noexcept { return *static_cast<Transport&>(*this).e_; }
};

}  // namespace weft::detail
