// SPDX-License-Identifier: Apache-2.0
//
// What happens when a queue is full? The library answers -FI_EAGAIN and wants progress before the next try
// (fi_endpoint(3)). Answers: report - the call answers `again` with what it waits for, nothing was posted, nothing is
// queued unseen. Deadlines are put on top by the blocking calls (compose/awaiting.hpp). Every row answers report:
// queues behind the caller's back have no bound that it knows. Hot path: yes, one comparison.
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
