// SPDX-License-Identifier: Apache-2.0
//
// What transport_options::device_near is set to. Not part of weft.hpp: a program that asks for no near device carries
// none of the code that chooses one. Needs hwloc at build (libhwloc-dev) and at run time (libhwloc15). Source: hwloc
// 2.x, "Topology of NUMA nodes and I/O devices".
// Hot path: no. Threads: see each function.
#pragma once

#include "../../backends/devices/near.hpp"

namespace weft {

/// The device nearest to the processor on which the thread that calls open runs. Bind the thread first. Errors of open:
/// unsupported (no hwloc), native.
inline device_near near_this_thread() noexcept { return {&backends::devices::choose_by_thread, {}}; }

/// The device nearest to the pages of a buffer. Write to them before: a page has no place before. The buffer stays
/// until open returns. Errors of open: invalid (no bytes, or none was written), unsupported (no hwloc), native.
inline device_near near_memory(const_bytes where) noexcept { return {&backends::devices::choose_by_memory, where}; }

}  // namespace weft
