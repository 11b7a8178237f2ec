// SPDX-License-Identifier: Apache-2.0
//
// The clock of a worker's accounts, with a counter and a clock that the test sets.
#include <invocation/work_clock.hpp>

#include <gtest/gtest.h>

namespace weft::test {
namespace {

using namespace invocation;
using namespace std::chrono_literals;

struct set_ticks {
  static inline std::uint64_t now = 0;
  static std::uint64_t read() noexcept { return now; }
};
/// A transport's clock, and how often it was read.
struct set_clock {
  duration at{};
  mutable int looks = 0;
  instant now() const noexcept {
    ++looks;
    return instant(at);
  }
};

/// Three ticks in a nanosecond.
class work_clock_by_ticks : public ::testing::Test {
 protected:
  void pass(duration time) {
    port.at += time;
    set_ticks::now += 3 * static_cast<std::uint64_t>(time.count());
  }
  void learn_the_rate() {
    (void)read();
    pass(2ms);
    (void)read();
  }
  duration read() { return clock.read(port).time_since_epoch(); }
  void SetUp() override {
    set_ticks::now = 1'000'000'007;
    port.at = 5s;
  }

  set_clock port;
  work_clock<set_ticks> clock{true};
};

TEST_F(work_clock_by_ticks, reads_the_real_clock_until_the_rate_is_known) {
  EXPECT_EQ(read(), 5s);
  pass(1us);
  EXPECT_EQ(read(), 5s + 1us);
  EXPECT_GT(port.looks, 1);
  const int before = port.looks;
  pass(1us);
  (void)read();
  EXPECT_GT(port.looks, before);
}

TEST_F(work_clock_by_ticks, counts_ticks_once_the_rate_is_known) {
  learn_the_rate();
  const int before = port.looks;
  for (int i = 1; i <= 100; ++i) {
    pass(100us);
    EXPECT_NEAR(static_cast<double>((read() - port.at).count()), 0, 3) << i;  // a rate of 24 bits, over 10 ms
  }
  EXPECT_EQ(port.looks, before);
}

TEST_F(work_clock_by_ticks, measures_again_after_too_short_a_measurement) {
  learn_the_rate();
  const int before = port.looks;
  pass(17ms);
  EXPECT_EQ(read(), port.at);
  EXPECT_GT(port.looks, before);
}

TEST_F(work_clock_by_ticks, follows_the_real_clock) {
  learn_the_rate();
  for (int i = 0; i < 50; ++i) {  // the counter is now slower by a hundredth
    port.at += 1ms;
    set_ticks::now += 3 * 990'000;
    (void)read();
  }
  pass(1s);  // beyond the range of the counter
  EXPECT_EQ(read(), port.at);
}

TEST_F(work_clock_by_ticks, never_goes_back) {
  learn_the_rate();
  duration last{};
  for (int i = 0; i < 200; ++i) {  // a counter that runs ahead: each reading of the real clock gives an earlier time
    port.at += 1ms;
    set_ticks::now += 3 * 1'100'000;
    const duration now = read();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST_F(work_clock_by_ticks, stops_using_an_uneven_counter) {
  learn_the_rate();
  set_ticks::now -= 1000;
  EXPECT_EQ(read(), port.at);
  pass(1us);
  EXPECT_EQ(read(), port.at);
  const int before = port.looks;
  (void)read();
  EXPECT_EQ(port.looks, before + 1);
}

TEST(work_clock, without_a_counter_each_reading_reads_the_clock) {
  set_clock port;
  work_clock<set_ticks> clock(false);
  for (int i = 1; i <= 3; ++i) {
    port.at += 1s;
    EXPECT_EQ(clock.read(port).time_since_epoch(), port.at);
    EXPECT_EQ(port.looks, i);
  }
}

TEST(work_clock, the_processor_counter_agrees_with_the_clock) {
  if (!kernel_counts_ticks()) GTEST_SKIP() << "this machine's kernel does not keep time by the processor's counter";
  struct machine {
    static instant now() noexcept { return std::chrono::steady_clock::now(); }
  } port;
  constexpr duration off_by = 100us;  // of the counter, however long the readings take
  work_clock<> clock(true);
  const instant end = port.now() + 50ms;
  instant last{};
  while (last < end) {
    const instant before = port.now();
    const instant now = clock.read(port);
    EXPECT_GE(now, before - off_by);
    EXPECT_LE(now, port.now() + off_by);
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace weft::test
