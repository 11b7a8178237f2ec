// SPDX-License-Identifier: Apache-2.0
//
// Who notices that a peer is gone? Measured on libfabric 1.17: shm and udp;ofi_rxd never tell of a killed peer, rxm and
// sockets tell only those who have something outstanding, and none tells of a peer that stopped. So the answer is a
// family of its own. Answers: provider - the link reports it (connections); process - a process descriptor
// (pidfd_open(2)) on rows that live on one host; heartbeat - each side speaks at least so often, and silence beyond a
// limit is death. On every answer operations have deadlines. Hot path: heartbeat stores one number per received
// message.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct liveness_family;
template <class P>
concept liveness_policy = answers_family<P, liveness_family> && requires {
  { P::watches_process } -> std::convertible_to<bool>;
  { P::speaks } -> std::convertible_to<bool>;
};

namespace answers::liveness {
struct provider {
  using family = liveness_family;
  static constexpr bool watches_process = false;
  static constexpr bool speaks = false;
};
static_assert(liveness_policy<provider>);

struct process {
  using family = liveness_family;
  static constexpr bool watches_process = true;
  static constexpr bool speaks = false;
};
static_assert(liveness_policy<process>);

struct heartbeat {
  using family = liveness_family;
  static constexpr bool watches_process = false;
  static constexpr bool speaks = true;
};
static_assert(liveness_policy<heartbeat>);
}  // namespace answers::liveness
}  // namespace weft
