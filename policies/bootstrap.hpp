// SPDX-License-Identifier: Apache-2.0
//
// How does an address reach the peer?
// Forced by fi_getinfo(3), addr_format. The provider resolves socket addresses from host and service (FI_SOCKADDR*).
// Elsewhere (FI_ADDR_STR, FI_ADDR_EFA and others: shared memory, EFA, PSM) an address is opaque, and only its owner
// knows it. It travels over a side channel at host:service.
// Answers:
// - socket_address: the provider resolves.
// - exchange: the listener serves its opaque address.
// Hot path: no.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct bootstrap_family;
template <class P>
concept bootstrap_policy = answers_family<P, bootstrap_family> && requires {
  { P::side_channel } -> std::convertible_to<bool>;
};

namespace answers::bootstrap {
/// The provider turns "host:service" into an address.
struct socket_address {
  using family = bootstrap_family;
  static constexpr bool side_channel = false;
};
static_assert(bootstrap_policy<socket_address>);

/// A side channel at "host:service" serves the listener's opaque address. The side channel answers only while the
/// listener makes progress.
struct exchange {
  using family = bootstrap_family;
  static constexpr bool side_channel = true;
};
static_assert(bootstrap_policy<exchange>);
}  // namespace answers::bootstrap
}  // namespace weft
