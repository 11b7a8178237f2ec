// SPDX-License-Identifier: Apache-2.0
//
// No wake-up is lost: the transport here never ends a sleep, so one lost wake-up ends the test by its time limit.
#include "../../threads/sleeping_owner.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace {
using namespace weft;

struct without_events {
  int sleeps = 0;
  std::optional<duration> arm() noexcept { return ++sleeps, std::chrono::hours(1); }
  void disarm() noexcept {}
  int loop_descriptor() noexcept { return -1; }
};

/// Wake-ups come before, within and after the owner's way into its sleep.
void pass_time(int steps) {
  for (volatile int left = steps; left > 0;) left = left - 1;
}

TEST(a_sleeping_owner, wakes_for_each_piece_of_work) {
  constexpr int rounds = 100'000;
  sleeping_owner owner;
  std::atomic<int> left{0}, taken{0};
  std::jthread worker([&] {
    for (int i = 1; i <= rounds; ++i) {
      left.store(i, std::memory_order_release);
      owner.wake();
      for (int spins = 0; taken.load(std::memory_order_acquire) < i; ++spins)
        if (spins > 2000) std::this_thread::yield();
      pass_time(i % 61);
    }
  });
  without_events net;
  while (taken.load(std::memory_order_relaxed) < rounds) {
    owner.sleep(net, std::chrono::hours(1), [&] { return left.load(std::memory_order_acquire) > taken.load(); });
    const int now = left.load(std::memory_order_acquire);
    taken.store(now, std::memory_order_release);
    pass_time(now % 127);
  }
  EXPECT_GT(net.sleeps, 0);
}

TEST(a_sleeping_owner, does_not_sleep_where_work_waits) {
  sleeping_owner owner;
  without_events net;
  owner.sleep(net, std::chrono::hours(1), [] { return true; });
  EXPECT_EQ(net.sleeps, 0);
}

TEST(a_sleeping_owner, sleeps_again_after_a_wake_up_that_came_late) {
  sleeping_owner owner;
  without_events net;
  std::jthread worker([&] {
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      owner.wake();
    }
  });
  owner.sleep(net, std::chrono::hours(1), [] { return false; });
  owner.sleep(net, std::chrono::hours(1), [] { return false; });
  worker.join();
  const duration most = std::chrono::milliseconds(1);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) owner.sleep(net, most, [] { return false; });
  EXPECT_GE(std::chrono::steady_clock::now() - began, 19 * most);  // no event is left that ends each sleep at once
}

}  // namespace
