// SPDX-License-Identifier: Apache-2.0
//
// Who checks the arguments of a post: the peer's handle, the bounds and the rights?
// Forced by libraries that drop a wrong write in silence (policies/write_fault.hpp): only a check before the post can
// refuse it at the call. The check costs 6 to 10 instructions, which a program without mistakes need not spend.
// Answers:
// - verified: weft checks, and a wrong post returns an error. Choose it unless a count shows that the check matters.
// - trusted: the caller checks. A debug build ends the program at a wrong post, with a sentence. With NDEBUG a wrong
//   post is undefined behaviour.
// Trusted are the caller's arguments only. What a peer sends is checked under both, and so is room in queues.
// Each side decides alone: nothing travels.
// Absent: an answer per operation; a program may hold two transports of different answers.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

#include <concepts>

namespace weft {
struct checks_family;
template <class P>
concept checks_policy = answers_family<P, checks_family> && requires {
  { P::trusts_caller } -> std::convertible_to<bool>;
};

namespace answers::checks {
struct verified {
  using family = checks_family;
  static constexpr bool trusts_caller = false;
};
static_assert(checks_policy<verified>);

/// The caller's duties (docs/how-to/trust_the_caller.md): the peer is alive(); slices and places are inside of their
/// regions; the region grants the access; words of atomics are aligned; a message fits the peer's receives.
struct trusted {
  using family = checks_family;
  static constexpr bool trusts_caller = true;
};
static_assert(checks_policy<trusted>);
}  // namespace answers::checks
}  // namespace weft
