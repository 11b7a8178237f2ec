// SPDX-License-Identifier: Apache-2.0
//
// How do two processes connect? Some providers have connections (listen, dial, accept); others have addresses in a
// table. Both use the same handshake (wire/hello.hpp), so applications see no difference.
// Forced by fi_getinfo(3), ep_attr->type: FI_EP_MSG or FI_EP_RDM. EFA, PSM and Slingshot have no FI_EP_MSG.
// Answers:
// - connected: one connection-oriented endpoint per peer.
// - addressed: one endpoint reaches every peer.
// Absent: unreliable datagrams. No row needs them.
// Hot path: compile time only.
#pragma once

#include "../core/facts.hpp"
#include "../core/policy.hpp"

namespace weft {
struct endpoint_family;
template <class P>
concept endpoint_policy = answers_family<P, endpoint_family> && requires {
  { P::type } -> std::convertible_to<endpoint_type>;
  { P::receives_per_link } -> std::convertible_to<bool>;
};

namespace answers::endpoint {
/// One endpoint per peer, each with its own receives. Choose it where the provider has connections: they report a
/// closed peer.
struct connected {
  using family = endpoint_family;
  static constexpr endpoint_type type = endpoint_type::connected;
  static constexpr bool receives_per_link = true;
};
static_assert(endpoint_policy<connected>);

/// One endpoint and one set of receives for all peers. A peer is an entry of the address vector.
struct addressed {
  using family = endpoint_family;
  static constexpr endpoint_type type = endpoint_type::addressed;
  static constexpr bool receives_per_link = false;
};
static_assert(endpoint_policy<addressed>);
}  // namespace answers::endpoint
}  // namespace weft
