// SPDX-License-Identifier: Apache-2.0
//
// The fabrics whose transports count (compose/counting/counted.hpp), and what a counted set promises: what the set
// does. Fabric fact: none. Hot path: compile time only. Threads: none.
#pragma once

#include "../ordering.hpp"
#include "../states.hpp"
#include "../transport.hpp"

namespace weft {

/// When a counted transport begins to count.
enum class counting {
  at_open,
  on_request,  ///< By start_counting() or expose_counters(). Until then a post and an event cost one test more.
};

/// Fabric F, or a fabric_set, with counters of each transport and each peer:
/// `weft::open<weft::counted<weft::selected>>({…})`. A program without this type has no instruction of it. Choose it to
/// see what a running program does: each post and each event searches its peer's place and adds to words there. Peers
/// need not count. Change answers inside: counted<with<F, answers::checks::trusted>>.
template <complete_fabric F, counting When = counting::at_open>
struct counted : F {
  using uncounted = F;
};

// A counted set is a set.
template <class F, counting When>
requires is_fabric_set<F>
inline constexpr bool is_fabric_set<counted<F, When>> = true;
template <complete_fabric F, counting When>
requires is_fabric_set<F>
struct ordering<counted<F, When>> : ordering<F> {
};
template <complete_fabric F, counting When, write_state State>
requires is_fabric_set<F>
struct reached_by<counted<F, When>, State> : reached_by<F, State> {
};

}  // namespace weft
