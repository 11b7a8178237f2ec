// SPDX-License-Identifier: Apache-2.0
//
// Do transmits and receives complete in one completion queue or in two? fi_endpoint(3) permits both: an endpoint binds
// its transmit and receive sides separately.
// Answers:
// - one: one poll finds both, and a thread sleeps on one object. On any fabric.
// - two: transmit completions have a separate queue, polled after receives. A burst of one kind does not delay the
//   other. A fruitless poll costs a second call.
// Two is safe where the row says split_queues: nothing in weft relies on the order between a transmit and a receive
// completion.
// Absent: a queue per peer. A poll would cost one call per peer.
// Hot path: compile time only.
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
