// SPDX-License-Identifier: Apache-2.0
//
// Whose are the posted receives? Forced by the endpoint: an addressed one has one set of receives for all peers, a
// connected one has a set per link, or several links take theirs from one pool (fi_srx_context(3), ibv_create_srq(3))
// where the library has that. Answers: per_link - a peer can use up its own receives only, and memory grows with the
// peers: 1,000 peers with 100 slots of 4 KiB are 400 MB; shared - one pool for all: memory is what is in flight, and a
// loud peer can make others wait. Hot path: compile time only.
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
