// SPDX-License-Identifier: Apache-2.0
//
// Who executes a remote atomic? Forced by fi_atomic(3) and by what providers really do: tcp has none, net claims them and refuses each,
// verbs below libfabric 2.2 adds the operand's address instead of its value, rxm takes write order away when they are asked for.
// Answers: provider - the card or the library executes; target - a request message, executed by the target's progress, and a reply.
// The two must not be mixed on one word; a transport has one answer, so a region's atomics have one executor.
// Hot path: yes. `lane` is the initiator's side of a transport (compose/lane.hpp).
#pragma once

#include "../core/error.hpp"
#include "../core/policy.hpp"

namespace weft {
struct atomics_family;
template <class P>
concept atomics_policy = answers_family<P, atomics_family> && requires {
  { P::executed_by_target } -> std::convertible_to<bool>;
};

namespace atomics {
struct provider {
  using family = atomics_family;
  static constexpr bool executed_by_target = false;
  template <class Lane, class Atomic>
  static status post(Lane& lane, const Atomic& a) noexcept {
    return lane.native_atomic(a);
  }
};
static_assert(atomics_policy<provider>);

struct target {
  using family = atomics_family;
  static constexpr bool executed_by_target = true;
  template <class Lane, class Atomic>
  static status post(Lane& lane, const Atomic& a) noexcept {
    return lane.atomic_by_message(a);
  }
};
static_assert(atomics_policy<target>);
}  // namespace atomics
}  // namespace weft
