// SPDX-License-Identifier: Apache-2.0
//
// Do posted operations and arrivals end in one completion queue or in two? Permitted by fi_endpoint(3): an endpoint is
// bound once for what it transmits and once for what it receives, and the two may name one queue. Answers: one - one
// look finds both, and there is one thing to sleep on; on any fabric. two - ends of what was posted lie in a queue of
// their own, read after the arrivals: a burst of either never stands between the owner and the other, and costs an idle
// look a second call. Safe where the row says split_queues: nothing that weft does relies on the order in which an end
// and an arrival are told. Absent: a queue for each peer: a look would cost as many calls as there are peers. Hot path:
// compile time only.
#pragma once

#include "../core/policy.hpp"

#include <concepts>

namespace weft {
struct queues_family;
template <class P>
concept queues_policy = answers_family<P, queues_family> && requires {
  { P::apart } -> std::convertible_to<bool>;
};

namespace answers::queues {
struct one {
  using family = queues_family;
  static constexpr bool apart = false;
};
static_assert(queues_policy<one>);

struct two {
  using family = queues_family;
  static constexpr bool apart = true;
};
static_assert(queues_policy<two>);
}  // namespace answers::queues
}  // namespace weft
