// SPDX-License-Identifier: Apache-2.0
//
// Who moves the data? Forced by what providers do, not by what they claim: tcp answers FI_PROGRESS_AUTO and moves
// nothing until the target polls its completion queue. So a target that peers only write to needs a thread that polls.
// Answers:
// - hardware: bytes arrive without software.
// - thread: a thread of the library moves them.
// - polling: the transport's owner moves them. Exporting a region demands a progress_owner
//   (compose/progress_owner.hpp); without one it does not compile.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct progress_family;
template <class P>
concept progress_policy = answers_family<P, progress_family> && requires {
  { P::needs_owner } -> std::convertible_to<bool>;
};

namespace answers::progress {
struct hardware {
  using family = progress_family;
  static constexpr bool needs_owner = false;
};
static_assert(progress_policy<hardware>);

struct thread {
  using family = progress_family;
  static constexpr bool needs_owner = false;
};
static_assert(progress_policy<thread>);

struct polling {
  using family = progress_family;
  static constexpr bool needs_owner = true;
};
static_assert(progress_policy<polling>);
}  // namespace answers::progress
}  // namespace weft
