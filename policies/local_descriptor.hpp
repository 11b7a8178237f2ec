// SPDX-License-Identifier: Apache-2.0
//
// Must local buffers be registered before they are sent, written from or read into? Forced by fi_mr(3), FI_MR_LOCAL.
// Answers:
// - not_needed: any memory will do; a span is enough.
// - required: only memory of a region of this transport. A plain span does not compile.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct local_descriptor_family;
template <class P>
concept local_descriptor_policy = answers_family<P, local_descriptor_family> && requires {
  { P::any_memory } -> std::convertible_to<bool>;
};

namespace answers::local_descriptor {
struct not_needed {
  using family = local_descriptor_family;
  static constexpr bool any_memory = true;
};
static_assert(local_descriptor_policy<not_needed>);

struct required {
  using family = local_descriptor_family;
  static constexpr bool any_memory = false;
};
static_assert(local_descriptor_policy<required>);
}  // namespace answers::local_descriptor
}  // namespace weft
