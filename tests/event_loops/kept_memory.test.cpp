// SPDX-License-Identifier: Apache-2.0
//
// Owners of memory that the library let go of: the end of one may let go of others, and none need point at anything.
#include "../../event_loops/kept_memory.hpp"

#include <gtest/gtest.h>

namespace weft::event_loops {
namespace {

TEST(kept_memory, an_owner_whose_end_lets_go_of_others_loses_none) {
  auto last = std::make_shared<int>(7);
  const std::weak_ptr<int> seen = last;
  kept_memory kept(2);
  kept.keep(1, std::move(last));
  kept.keep(0, std::shared_ptr<kept_memory>(&kept, [](kept_memory* all) { all->let_go(1); }));
  kept.let_go(0);
  kept.release();
  kept.release();
  EXPECT_TRUE(seen.expired()) << "its owner stayed for ever";
}

TEST(kept_memory, an_owner_that_points_at_nothing_is_released) {
  bool released = false;
  kept_memory kept(1);
  kept.keep(0, std::shared_ptr<void>(nullptr, [&](void*) { released = true; }));
  kept.let_go(0);
  kept.release();
  EXPECT_TRUE(released);
}

}  // namespace
}  // namespace weft::event_loops
