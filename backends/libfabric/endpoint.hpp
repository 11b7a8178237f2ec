// SPDX-License-Identifier: Apache-2.0
//
// The endpoints of a port: one per link on connected fabrics, one for all peers on addressed ones. Both types have the
// same interface, so the port is written once.
// Hot path: of(), peer(). Threads: one owner.
#pragma once

#include "addressed.hpp"
#include "connected.hpp"

#include <type_traits>

namespace weft::backends::libfabric {

template <class Shape>
using endpoints = std::conditional_t<Shape::facts.endpoint_type == endpoint_type::connected, connected_endpoints<Shape>,
                                     addressed_endpoint<Shape>>;

}  // namespace weft::backends::libfabric
