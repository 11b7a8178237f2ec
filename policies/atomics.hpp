// SPDX-License-Identifier: Apache-2.0
//
// Who executes a remote atomic? Forced by fi_atomic(3) and by what providers really do: tcp has none, net claims them
// and refuses each, verbs below libfabric 2.2 adds the operand's address instead of its value, rxm takes write order
// away when they are asked for. Answers: provider - the card or the library executes; target - a request message,
// executed by the target's progress, and a reply. The two must not be mixed on one word. The answer is what regions
// that say nothing else get (compose/words.hpp); where it is `provider`, how each operation on each type is carried out
// is generated beside the answers (atomics_by). Hot path: compile time only.
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
