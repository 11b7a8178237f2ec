// SPDX-License-Identifier: Apache-2.0
//
// Sleeping until a peer sends. The sleeper sets a flag in its arena, polls once more, then sleeps. The sender checks
// the flag after its message. So no wake-up is lost.
// Hot path: rough_time(). Threads: the owner's.
#pragma once

#include "../../core/time.hpp"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace weft::backends::mapped {

/// From here on, who sends wakes this side. Poll once more before the sleep.
inline void announce_sleep(std::atomic<std::uint32_t>& asleep) noexcept {
  asleep.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Returns whether an event is there, before or after a sleep.
template <class Event, class Sleep>
bool sleep_unless(std::atomic<std::uint32_t>& asleep, Event&& has_event, Sleep&& sleep) noexcept {
  if (has_event()) return true;
  announce_sleep(asleep);
  const bool came = has_event() || sleep();
  asleep.store(0, std::memory_order_relaxed);
  return came;
}

/// Sleeps until the descriptor is readable (true), or for `most`.
inline bool sleep_on(int descriptor, duration most) noexcept {
  const duration left = std::clamp(most, duration::zero(), duration(std::chrono::hours(1)));
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec longest{whole.count(), static_cast<long>((left - whole).count())};
  pollfd events{descriptor, POLLIN, 0};
  return ::ppoll(&events, 1, &longest, nullptr) > 0;
}

/// The steady clock at the kernel's last timer tick.
inline instant rough_time() noexcept {
  timespec at{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
  return instant(std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec));
}

}  // namespace weft::backends::mapped
