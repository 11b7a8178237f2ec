// SPDX-License-Identifier: Apache-2.0
//
// Which operations make a completion entry? Forced by fi_endpoint(3), FI_SELECTIVE_COMPLETION. Where the row has it, an
// operation without a context makes no entry; on tcp that saves two system calls.
// Answers:
// - selective: only signalled operations make an entry.
// - every_operation: all make an entry, and weft drops the unsignalled ones.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct completion_family;
template <class P>
concept completion_policy = answers_family<P, completion_family> && requires {
  { P::asks_each_time } -> std::convertible_to<bool>;
};

namespace answers::completion {
struct selective {
  using family = completion_family;
  static constexpr bool asks_each_time = true;
};
static_assert(completion_policy<selective>);

struct every_operation {
  using family = completion_family;
  static constexpr bool asks_each_time = false;
};
static_assert(completion_policy<every_operation>);
}  // namespace answers::completion
}  // namespace weft
