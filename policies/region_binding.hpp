// SPDX-License-Identifier: Apache-2.0
//
// What is a region bound to? Forced by fi_mr(3), FI_MR_ENDPOINT: on Slingshot a region is bound to one endpoint and
// enabled before use.
// Answers:
// - domain: every endpoint of the port can use the region as soon as it is registered.
// - endpoint: bound and enabled.
// Hot path: no.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct region_binding_family;
template <class P>
concept region_binding_policy = answers_family<P, region_binding_family> && requires {
  { P::bind_and_enable } -> std::convertible_to<bool>;
};

namespace answers::region_binding {
struct domain {
  using family = region_binding_family;
  static constexpr bool bind_and_enable = false;
};
static_assert(region_binding_policy<domain>);

struct endpoint {
  using family = region_binding_family;
  static constexpr bool bind_and_enable = true;
};
static_assert(region_binding_policy<endpoint>);
}  // namespace answers::region_binding
}  // namespace weft
