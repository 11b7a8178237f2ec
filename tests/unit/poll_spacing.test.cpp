// SPDX-License-Identifier: Apache-2.0
//
// Time between polls that find nothing (core/poll_spacing.hpp), by a made-up counter: each reading adds some counts.
#include <weft/core/poll_spacing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace weft {
namespace {

struct made_up_counter {
  static constexpr bool exists = true;
  static inline std::uint64_t now = 0, step = 0;
  static inline int readings = 0;
  static std::uint64_t read() noexcept {
    ++readings;
    return now += step;
  }
};

constexpr std::uint32_t apart = 100;

class spacing : public ::testing::Test {
 protected:
  void SetUp() override {
    made_up_counter::now = 1'000'000;
    made_up_counter::step = 7;
    made_up_counter::readings = 0;
  }
  poll_spacing<apart, made_up_counter> polls_;
};

TEST_F(spacing, the_first_two_polls_do_not_wait) {
  polls_.before_poll();
  EXPECT_EQ(made_up_counter::readings, 0);
  polls_.before_poll();
  EXPECT_EQ(made_up_counter::readings, 1);
}

TEST_F(spacing, empty_polls_keep_the_spacing) {
  polls_.before_poll();
  std::vector<std::uint64_t> begins;
  for (int i = 0; i < 10; ++i) {
    polls_.before_poll();
    begins.push_back(made_up_counter::now);
  }
  for (std::size_t i = 1; i < begins.size(); ++i) {
    EXPECT_GE(begins[i] - begins[i - 1], apart) << i;
    EXPECT_LT(begins[i] - begins[i - 1], apart + made_up_counter::step)
        << i << ": the poll waits longer than necessary";
  }
}

TEST_F(spacing, work_between_polls_counts_towards_the_spacing) {
  polls_.before_poll();
  polls_.before_poll();
  for (int i = 0; i < 10; ++i) {
    made_up_counter::now += apart;
    const int before = made_up_counter::readings;
    polls_.before_poll();
    EXPECT_EQ(made_up_counter::readings, before + 1) << i;
  }
}

TEST_F(spacing, the_poll_after_a_successful_one_does_not_wait) {
  for (int i = 0; i < 4; ++i) polls_.before_poll();
  polls_.found();
  const int before = made_up_counter::readings;
  polls_.before_poll();
  EXPECT_EQ(made_up_counter::readings, before);
  polls_.before_poll();
  polls_.before_poll();
  EXPECT_GT(made_up_counter::readings, before + 1) << "from the third poll on there is a distance again";
}

TEST_F(spacing, a_wrapping_counter_ends_the_wait) {
  made_up_counter::now = ~std::uint64_t{0} - 20;
  for (int i = 0; i < 5; ++i) polls_.before_poll();
  EXPECT_LT(made_up_counter::now, 1000U);
}

struct no_counter {
  static constexpr bool exists = false;
  static inline int rests = 0;
  static void rest() noexcept { ++rests; }
};

TEST(poll_spacing, one_pause_where_the_processor_has_no_counter) {
  poll_spacing<apart, no_counter> looks;
  looks.before_poll();
  EXPECT_EQ(no_counter::rests, 0);
  looks.before_poll();
  looks.before_poll();
  EXPECT_EQ(no_counter::rests, 2);
  looks.found();
  looks.before_poll();
  EXPECT_EQ(no_counter::rests, 2);
}

}  // namespace
}  // namespace weft
