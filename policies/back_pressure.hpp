// SPDX-License-Identifier: Apache-2.0
//
// What happens when a queue is full? The library answers -FI_EAGAIN and wants progress before the next try
// (fi_endpoint(3)).
// Answers:
// - report: the call returns `again` with its reason. Nothing was posted or queued.
// Blocking calls add deadlines (compose/progress/blocking_calls.hpp). Every row answers `report`: a hidden queue would
// have no bound that the caller knows.
// Hot path: yes, one comparison.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct back_pressure_family;
template <class P>
concept back_pressure_policy = answers_family<P, back_pressure_family>;

namespace answers::back_pressure {
struct report {
  using family = back_pressure_family;
};
static_assert(back_pressure_policy<report>);
}  // namespace answers::back_pressure
}  // namespace weft
