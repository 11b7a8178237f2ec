// SPDX-License-Identifier: Apache-2.0
//
// Room between looks that find nothing (core/spaced_looks.hpp), by a counter that is made up: each reading of it is some counts after the last one.
#include <weft/core/spaced_looks.hpp>

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
  spaced_looks<apart, made_up_counter> looks_;
};

TEST_F(spacing, the_first_look_and_the_one_behind_it_do_not_wait) {
  looks_.before_look();
  EXPECT_EQ(made_up_counter::readings, 0);
  looks_.before_look();
  EXPECT_EQ(made_up_counter::readings, 1);
}

TEST_F(spacing, looks_that_find_nothing_begin_so_many_counts_after_each_other) {
  looks_.before_look();
  std::vector<std::uint64_t> begins;
  for (int i = 0; i < 10; ++i) {
    looks_.before_look();
    begins.push_back(made_up_counter::now);
  }
  for (std::size_t i = 1; i < begins.size(); ++i) {
    EXPECT_GE(begins[i] - begins[i - 1], apart) << i;
    EXPECT_LT(begins[i] - begins[i - 1], apart + made_up_counter::step) << i << ": it waits no longer than it must";
  }
}

TEST_F(spacing, whoever_has_other_work_between_looks_does_not_wait_besides) {
  looks_.before_look();
  looks_.before_look();
  for (int i = 0; i < 10; ++i) {
    made_up_counter::now += apart;
    const int before = made_up_counter::readings;
    looks_.before_look();
    EXPECT_EQ(made_up_counter::readings, before + 1) << i;
  }
}

TEST_F(spacing, the_look_behind_one_that_found_something_does_not_wait) {
  for (int i = 0; i < 4; ++i) looks_.before_look();
  looks_.found();
  const int before = made_up_counter::readings;
  looks_.before_look();
  EXPECT_EQ(made_up_counter::readings, before);
  looks_.before_look();
  looks_.before_look();
  EXPECT_GT(made_up_counter::readings, before + 1) << "from the third on there is room again";
}

TEST_F(spacing, a_counter_that_goes_around_ends_the_wait) {
  made_up_counter::now = ~std::uint64_t{0} - 20;
  for (int i = 0; i < 5; ++i) looks_.before_look();
  EXPECT_LT(made_up_counter::now, 1000U);
}

struct no_counter {
  static constexpr bool exists = false;
  static inline int rests = 0;
  static void rest() noexcept { ++rests; }
};

TEST(spaced_looks, rest_once_where_the_processor_has_no_counter) {
  spaced_looks<apart, no_counter> looks;
  looks.before_look();
  EXPECT_EQ(no_counter::rests, 0);
  looks.before_look();
  looks.before_look();
  EXPECT_EQ(no_counter::rests, 2);
  looks.found();
  looks.before_look();
  EXPECT_EQ(no_counter::rests, 2);
}

}  // namespace
}  // namespace weft
