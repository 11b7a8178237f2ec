// SPDX-License-Identifier: Apache-2.0
//
// How the sleeps of one owner ended. A timer ends each sleep after 200 ms at most, and after 20 ms where the owner
// moves the data. So a lost wake-up costs time and no event, and only a count shows it. Hot path: no. Threads: the
// owner's.
#pragma once

#include <cstdint>

namespace weft {

/// What transport::sleeps() returns: counts of wait() and of waiting calls that sleep.
struct sleep_counts {
  std::uint64_t sleeps = 0;  ///< Calls of the port's wait. A sleep without a descriptor is many short ones.
  std::uint64_t timed = 0;   ///< Sleeps that a timer or the deadline ended. Rows without a descriptor count none.
  /// Timed sleeps whose next progress() found an entry. The entry had to end the sleep, so 0 is right. A timer that was
  /// late by a millisecond is not judged: an entry may have come since. On rows of rdma-core a completion of the
  /// caller's own operation ends no sleep, and counts here.
  std::uint64_t missed_wakes = 0;
};

}  // namespace weft
