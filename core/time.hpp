// SPDX-License-Identifier: Apache-2.0
//
// Time as transports see it. An instant belongs to the port's clock: the monotonic clock on live fabrics, virtual time
// on the loopback.
// Code that waits asks the port for the time, so a simulation runs without real time.
// Hot path: types only. Threads: values.
#pragma once

#include <chrono>

namespace weft {

using duration = std::chrono::nanoseconds;
/// A point on the clock of one port. Instants of different ports are not comparable.
using instant = std::chrono::time_point<std::chrono::steady_clock, duration>;

/// `limit` after `from`, and at most the last instant: users say duration::max() where they want no limit.
constexpr instant after(instant from, duration limit) noexcept {
  return limit < instant::max() - from ? from + limit : instant::max();
}

}  // namespace weft
