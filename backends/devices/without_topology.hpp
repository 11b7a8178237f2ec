// SPDX-License-Identifier: Apache-2.0
//
// In place of topology.hpp where hwloc.h is not installed: a program that asks for a near device is refused at open.
// Hot path: no. Threads: none.
#pragma once

#include "choice.hpp"

#include "../../core/error.hpp"

#if !__has_include(<hwloc.h>)

namespace weft::backends::devices {

inline constexpr bool has_topology = false;

class topology {
 public:
  static result<topology> of_machine() {
    return failure{error(errc::unsupported, "open"),
                   "device_near is asked for, and this program was built without hwloc (Debian: libhwloc-dev)"};
  }
  result<numa_nodes> of_this_thread() const { return numa_nodes{}; }
  result<numa_nodes> of_memory(const_bytes /*where*/) const { return numa_nodes{}; }
  placed_device place(const offered_device& device, const numa_nodes& /*from*/) const { return {device}; }
};

}  // namespace weft::backends::devices

#endif
