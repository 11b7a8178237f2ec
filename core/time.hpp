// SPDX-License-Identifier: Apache-2.0
//
// Time as the transports see it: an instant of the port's clock, which is the machine's monotonic clock on live fabrics
// and virtual time on the loopback. Code that waits takes its clock from the port, so that a simulation needs no real
// time. Hot path: types only. Threads: values.
#pragma once

#include <chrono>

namespace weft {

using duration = std::chrono::nanoseconds;
/// A point on the clock of one port; instants of different ports are not comparable.
using instant = std::chrono::time_point<std::chrono::steady_clock, duration>;

}  // namespace weft
