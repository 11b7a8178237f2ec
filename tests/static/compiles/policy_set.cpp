// SPDX-License-Identifier: Apache-2.0
//
// The concepts of a policy and of a set of answers, with positive and negative examples. The test is that it compiles.
#include <weft/core/policy.hpp>

#include <concepts>

namespace {

struct colour_family {};
struct shape_family {};
struct red {
  using family = colour_family;
};
struct round {
  using family = shape_family;
};
struct heavy {
  using family = shape_family;
  int weight;
};
struct nameless {};

static_assert(weft::policy<red> && weft::policy<round>);
static_assert(!weft::policy<nameless>, "a policy names its family");
static_assert(!weft::policy<heavy>, "a policy carries no state");
static_assert(weft::answers_family<red, colour_family> && !weft::answers_family<red, shape_family>);

using both = weft::policy_set<round, red>;
using reversed = weft::policy_set<red, round>;
using one = weft::policy_set<red>;

template <class Set, class Family>
concept can_pick = requires {
  typename Set::template pick<Family>;
};

static_assert(std::same_as<both::pick<colour_family>, red> && std::same_as<reversed::pick<colour_family>, red>,
              "order is free");
static_assert(std::same_as<both::pick<shape_family>, round>);
static_assert(!can_pick<one, shape_family>, "no default for a family without an answer");

using families = weft::family_list<colour_family, shape_family>;
static_assert(families::answered_by<both> && families::answered_by<reversed>);
static_assert(!families::answered_by<one> && !families::answered_by<weft::policy_set<>>);

}  // namespace
