// SPDX-License-Identifier: Apache-2.0
//
// How threads wake the owner of a transport. The owner says that it sleeps, then looks once more for work; a thread
// leaves its work, then looks whether the owner sleeps. Full fences order both, so one of them sees the other: no
// wake-up is lost. A thread makes a system call only where the owner sleeps. Hot path: wake(). Threads: as each call
// says.
#pragma once

#include "../core/time.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace weft {

/// The sleep of one owner, and its end by other threads.
class sleeping_owner {
 public:
  sleeping_owner() noexcept : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~sleeping_owner() {
    if (event_ >= 0) ::close(event_);
  }
  sleeping_owner(const sleeping_owner&) = delete;
  sleeping_owner& operator=(const sleeping_owner&) = delete;

  /// Any thread, after it left work for the owner.
  void wake() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
      if (asleep_.exchange(false, std::memory_order_relaxed)) write_event();
  }

  /// The owner. `has_work()` is asked once the owner is seen asleep. True: a thread's wake() ended the sleep. Where the
  /// system had no descriptor for the event, a sleep lasts 1 ms at most.
  template <class Transport, class HasWork>
  bool sleep(Transport& net, duration at_most, HasWork&& has_work) noexcept {
    asleep_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    bool woken = false;
    if (!has_work())
      if (const auto due = net.arm()) {
        const duration most = event_ < 0 ? std::min<duration>(at_most, std::chrono::milliseconds(1)) : at_most;
        woken = wait_for(net.loop_descriptor(), std::min(most, *due));
        net.disarm();
      }
    asleep_.store(false, std::memory_order_relaxed);
    return woken;
  }

 private:
  /// A waker may take the flag and write after the sleep has ended. Then the next sleep ends at once, and reads that.
  bool wait_for(int arrivals, duration at_most) const noexcept {
    pollfd both[2] = {{event_, POLLIN, 0}, {arrivals, POLLIN, 0}};
    const auto whole = std::chrono::floor<std::chrono::seconds>(at_most);
    const std::timespec limit{static_cast<std::time_t>(whole.count()),
                              static_cast<long>(std::chrono::nanoseconds(at_most - whole).count())};
    if (::ppoll(both, 2, &limit, nullptr) <= 0 || (both[0].revents & POLLIN) == 0) return false;
    std::uint64_t count = 0;
    (void)!::read(event_, &count, sizeof count);
    return true;
  }
  void write_event() const noexcept {
    constexpr std::uint64_t one = 1;
    (void)!::write(event_, &one, sizeof one);
  }

  int event_ = -1;
  std::atomic<bool> asleep_ = false;
};

}  // namespace weft
