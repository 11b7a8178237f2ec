// SPDX-License-Identifier: Apache-2.0
//
// How is a dead peer noticed?
// Measured on libfabric 1.17: shm and udp;ofi_rxd never report a killed peer. rxm and sockets report it only to
// processes with outstanding operations. No provider reports a stopped peer.
// Answers, and what they notice:
// - provider: the link reports it (connections). A killed process, and a broken connection that the kernel sees.
// - process: a process descriptor (pidfd_open(2)), on rows of one host. A killed process.
// - heartbeat: each side sends at a fixed interval, and longer silence means that the peer is dead. A killed process, a
//   stopped one (SIGSTOP, a debugger), a broken path, and a process that makes no progress.
// transport_options::silence_limit adds heartbeats to the first two: the side with a limit tells its peer how often to
// send. So a limit holds on every fabric. Without a limit provider and process rows send none, because a peer that
// computes for long may be silent there.
// Operations have deadlines under every answer.
// Hot path: heartbeat stores one number per received message. Other rows store one per received heartbeat.
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
