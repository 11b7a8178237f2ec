// SPDX-License-Identifier: Apache-2.0
//
// No wake-up is lost: the transport here never ends a sleep, so one lost wake-up ends the test by its time limit.
#include "../../threads/sleeping_owner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

namespace {
using namespace weft;

struct without_events {
  std::atomic<int> sleeps = 0;
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
    (void)owner.sleep(net, std::chrono::hours(1), [&] { return left.load(std::memory_order_acquire) > taken.load(); });
    const int now = left.load(std::memory_order_acquire);
    taken.store(now, std::memory_order_release);
    pass_time(now % 127);
  }
  EXPECT_GT(net.sleeps.load(), 0);
}

TEST(a_sleeping_owner, does_not_sleep_where_work_waits) {
  sleeping_owner owner;
  without_events net;
  EXPECT_FALSE(owner.sleep(net, std::chrono::hours(1), [] { return true; }));
  EXPECT_EQ(net.sleeps.load(), 0);
}

TEST(a_sleeping_owner, takes_each_wake_up_once) {
  sleeping_owner owner;
  without_events net;
  std::jthread worker([&] {
    for (int i = 1; i <= 2; ++i) {
      while (net.sleeps.load() < i) std::this_thread::yield();
      owner.wake();
    }
  });
  EXPECT_TRUE(owner.sleep(net, std::chrono::hours(1), [] { return false; }));
  EXPECT_TRUE(owner.sleep(net, std::chrono::hours(1), [] { return false; }));
  worker.join();
  for (int i = 0; i < 20; ++i)  // no event is left that ends each sleep at once
    EXPECT_FALSE(owner.sleep(net, std::chrono::milliseconds(1), [] { return false; }));
}

}  // namespace
