// SPDX-License-Identifier: Apache-2.0
//
// Who executes a remote atomic?
// Forced by fi_atomic(3) and by what providers really do. tcp has no atomics, net claims them and refuses each call.
// verbs below libfabric 2.2 adds the operand's address instead of its value. rxm loses write order when atomics are
// requested.
// Answers:
// - provider: the card or the library executes.
// - target: a request message, which the target's progress executes, and a reply.
// One word must not see both. The answer is the default for regions (compose/words.hpp). With `provider`, the generated
// header also says how each operation on each type is carried out (atomics_by).
// Hot path: compile time only.
#pragma once

#include "../core/atomics.hpp"
#include "../core/policy.hpp"

namespace weft {
struct atomics_family;
template <class P>
concept atomics_policy = answers_family<P, atomics_family> && requires {
  { P::executed_by_target } -> std::convertible_to<bool>;
  { P::executor } -> std::convertible_to<atomicity>;
};

namespace answers::atomics {
struct provider {
  using family = atomics_family;
  static constexpr bool executed_by_target = false;
  static constexpr atomicity executor = atomicity::provider;
};
static_assert(atomics_policy<provider>);

struct target {
  using family = atomics_family;
  static constexpr bool executed_by_target = true;
  static constexpr atomicity executor = atomicity::target;
};
static_assert(atomics_policy<target>);
}  // namespace answers::atomics
}  // namespace weft
