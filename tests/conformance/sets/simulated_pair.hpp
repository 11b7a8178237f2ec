// SPDX-License-Identifier: Apache-2.0
//
// Two rows over the simulated network as one set: in one thread, in virtual time, with faults.
#pragma once

#include <weft/backends/loopback/port.hpp>
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>
#include <weft/generated/tcp.hpp>

namespace weft::fabrics {
using simulated_pair = fabric_set<over<mapped, backends::loopback::port>, over<tcp, backends::loopback::port>>;
}  // namespace weft::fabrics
