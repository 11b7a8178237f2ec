// SPDX-License-Identifier: Apache-2.0
//
// How does an address reach the peer? Where addresses are socket addresses the provider resolves host and service
// itself; elsewhere (shared memory, EFA, PSM) an address is opaque bytes that only its owner knows, and they travel
// over a side channel at host:service. Forced by fi_getinfo(3), addr_format: FI_SOCKADDR* or FI_ADDR_STR, FI_ADDR_EFA,
// ... Answers: socket_address - the row resolves; exchange - the listener serves its bytes to whoever asks. Hot path:
// no.
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

/// The listener's opaque address is fetched from a side channel at "host:service". The listener must make progress for
/// it to answer.
struct exchange {
  using family = bootstrap_family;
  static constexpr bool side_channel = true;
};
static_assert(bootstrap_policy<exchange>);
}  // namespace answers::bootstrap
}  // namespace weft
