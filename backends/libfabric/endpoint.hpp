// SPDX-License-Identifier: Apache-2.0
//
// The endpoints of a port: one per link on connected fabrics, one for all peers on addressed ones. Both types have the
// same interface, so the port is written once.
// Hot path: of(), peer(). Threads: one owner.
#pragma once

#include "addressed.hpp"
#include "connected.hpp"

#include <rdma/fi_endpoint.h>

#include <type_traits>

namespace weft::backends::libfabric {

template <class Shape>
using endpoints = std::conditional_t<Shape::facts.endpoint_type == endpoint_type::connected, connected_endpoints<Shape>,
                                     addressed_endpoint<Shape>>;

/// Whether a write with an immediate fits the queue, on rows where such a write may overrun a nearly full queue. One
/// entry that is left has room for any write. An error is left to the post.
template <class Shape>
[[gnu::always_inline]] inline bool immediate_fits([[maybe_unused]] fid_ep* ep) noexcept {
  if constexpr (Shape::facts.full_queue != full_queue::overruns) return true;
  else return ep->ops->tx_size_left(ep) != 0;  // fi_tx_size_left is marked as deprecated
}
[[gnu::cold]] inline status no_room() noexcept { return again(waits_for::queue, "a write with an immediate"); }

}  // namespace weft::backends::libfabric
