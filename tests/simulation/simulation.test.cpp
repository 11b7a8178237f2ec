// SPDX-License-Identifier: Apache-2.0
//
// Plans, selections and the shrinker: a seed gives one plan, and a failing plan loses everything that it does not need.
#include "shrinking.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::simulation {
namespace {

TEST(plan, a_seed_gives_one_plan_and_neighbours_differ) {
  EXPECT_EQ(options_of(make_plan(7, {})), options_of(make_plan(7, {})));
  const plan one = make_plan(7, {});
  const plan other = make_plan(8, {});
  EXPECT_NE(one.steps.front().draw, other.steps.front().draw);
  EXPECT_GE(one.steps.size(), 8U);
}

TEST(plan, a_selection_leaves_the_rest_as_it_was) {
  const plan whole = make_plan(7, {});
  selection kept;
  kept.steps = {2, 5};
  const plan part = make_plan(7, kept);
  ASSERT_EQ(part.steps.size(), 2U);
  EXPECT_EQ(part.steps[1].number, 5U);
  EXPECT_EQ(part.steps[1].draw, whole.steps[5].draw);
  EXPECT_EQ(part.disturbances.size(), whole.disturbances.size());
}

TEST(plan, without_faults_there_is_no_weather_and_no_disturbance) {
  selection kept;
  kept.faults = fault_set::parse("none").value();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const plan calm = make_plan(seed, kept);
    EXPECT_TRUE(calm.disturbances.empty());
    EXPECT_EQ(calm.wrong.loss + calm.wrong.reorder + calm.wrong.tear + calm.wrong.no_memory, 0.0);
  }
}

TEST(plan, each_fault_appears_in_some_plan) {
  fault_set seen;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const plan p = make_plan(seed, {});
    for (std::size_t i = 0; i < fault_kinds; ++i)
      if (const auto f = static_cast<fault>(i); is_weather(f) && p.weather.has(f)) seen.add(f);
    for (const disturbance& d : p.disturbances) seen.add(d.what);
  }
  EXPECT_EQ(seen, fault_set::all()) << seen.text();
}

TEST(fault_set, reads_names_and_refuses_others) {
  EXPECT_EQ(fault_set::parse("loss,crash")->text(), "loss,crash");
  EXPECT_EQ(fault_set::parse("all"), fault_set::all());
  EXPECT_TRUE(fault_set::parse("none")->empty());
  EXPECT_FALSE(fault_set::parse("loss,rain"));
}

TEST(shrinker, keeps_only_what_the_finding_needs) {
  const auto has = [](const plan& p, std::uint32_t number) {
    return std::ranges::any_of(p.steps, [number](const step& s) { return s.number == number; });
  };
  std::uint32_t runs = 0;
  shrinker shrink([&](const plan& p) {
    ++runs;
    return has(p, 1) && has(p, 6) && p.weather.has(fault::loss);
  });
  std::uint64_t seed = 1;
  while (!make_plan(seed, {}).weather.has(fault::loss) || make_plan(seed, {}).disturbances.empty()) ++seed;
  const plan least = shrink.shortest(seed, {});
  ASSERT_EQ(least.steps.size(), 2U) << options_of(least);
  EXPECT_EQ(least.steps[0].number, 1U);
  EXPECT_EQ(least.steps[1].number, 6U);
  EXPECT_TRUE(least.disturbances.empty());
  EXPECT_NE(options_of(least).find("--faults loss "), std::string::npos) << options_of(least);
  EXPECT_LT(runs, 200U);
}

TEST(shrinker, stops_after_its_number_of_runs) {
  std::uint32_t runs = 0;
  shrinker shrink([&](const plan&) { return ++runs, true; }, 5);
  (void)shrink.shortest(3, {});
  EXPECT_EQ(runs, 5U);
}

}  // namespace
}  // namespace weft::simulation
