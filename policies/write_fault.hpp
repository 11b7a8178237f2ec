// SPDX-License-Identifier: Apache-2.0
//
// How does the initiator learn that the target refused its write (wrong key, out of range)?
// Forced by the tcp provider of libfabric 1.x: it reports success for such a write and drops it. Only a completion that
// means "delivered" is correct there (fi_cq(3), FI_DELIVERY_COMPLETE).
// Answers:
// - reported: the library makes an error completion.
// - delivery_confirmed: every signalled write waits for delivery, and a deadline turns silence into an error.
// - undetected: no completion of the library tells. Programs keep a region registered until its users ended.
// Unsignalled writes promise nothing about their end under any.
// Hot path: compile time only; selects the post mode.
#pragma once

#include "../core/policy.hpp"
#include "../core/port.hpp"

namespace weft {
struct write_fault_family;
template <class P>
concept write_fault_policy = answers_family<P, write_fault_family> && requires {
  { P::signalled_write } -> std::convertible_to<post_mode>;
};

namespace answers::write_fault {
struct reported {
  using family = write_fault_family;
  static constexpr post_mode signalled_write = post_mode::signalled;
};
static_assert(write_fault_policy<reported>);

struct delivery_confirmed {
  using family = write_fault_family;
  static constexpr post_mode signalled_write = post_mode::delivered;
};
static_assert(write_fault_policy<delivery_confirmed>);

/// The row's library tells success of a refused write even where a completion means delivery. weft's checks before the
/// post find wrong bounds and rights; a stale or forged key stays unnoticed.
struct undetected {
  using family = write_fault_family;
  static constexpr post_mode signalled_write = post_mode::signalled;
};
static_assert(write_fault_policy<undetected>);
}  // namespace answers::write_fault
}  // namespace weft
