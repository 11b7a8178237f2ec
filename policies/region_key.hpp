// SPDX-License-Identifier: Apache-2.0
//
// Who makes a region's key? Forced by fi_mr(3), FI_MR_PROV_KEY.
// Where the application makes it, two regions must never share one: tcp and sockets answer a second key 0 with
// -FI_ENOKEY. Such a key is a secret of 64 random bits where the row has room. Keys of providers are often counters,
// and no secret.
// Answers:
// - application: weft draws it.
// - provider: the library returns it.
// Absent: keys wider than 64 bits. No row needs them.
// Hot path: no.
#pragma once

#include "../core/policy.hpp"

#include <cstdint>

namespace weft {
struct region_key_family;
template <class P>
concept region_key_policy = answers_family<P, region_key_family> && requires {
  { P::made_here } -> std::convertible_to<bool>;
};

namespace answers::region_key {
/// Unguessable, unique in the process, as wide as the row allows.
struct application {
  using family = region_key_family;
  static constexpr bool made_here = true;
};
static_assert(region_key_policy<application>);

/// The library's key as it comes. It is no secret.
struct provider {
  using family = region_key_family;
  static constexpr bool made_here = false;
};
static_assert(region_key_policy<provider>);
}  // namespace answers::region_key
}  // namespace weft
