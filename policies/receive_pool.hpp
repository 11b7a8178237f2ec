// SPDX-License-Identifier: Apache-2.0
//
// Which endpoint owns the posted receives? An addressed endpoint has one set for all peers. A connected endpoint has a
// set per link; or several links share a pool, where the library has one (fi_srx_context(3), ibv_create_srq(3)).
// Answers:
// - per_link: a peer can exhaust only its own receives. Memory grows with peers: 1,000 peers with 100 slots of 4 KiB
//   take 400 MB.
// - shared: one pool for all. Memory follows the messages in flight, and a busy peer can delay others.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

#include <concepts>

namespace weft {
struct receive_pool_family;
template <class P>
concept receive_pool_policy = answers_family<P, receive_pool_family> && requires {
  { P::one_for_all } -> std::convertible_to<bool>;
};

namespace answers::receive_pool {
struct per_link {
  using family = receive_pool_family;
  static constexpr bool one_for_all = false;
};
static_assert(receive_pool_policy<per_link>);

struct shared {
  using family = receive_pool_family;
  static constexpr bool one_for_all = true;
};
static_assert(receive_pool_policy<shared>);
}  // namespace answers::receive_pool
}  // namespace weft
