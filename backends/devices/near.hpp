// SPDX-License-Identifier: Apache-2.0
//
// The device that port_options::device_near asks for, of those that a library offers.
// Hot path: no. Threads: the caller's place counts.
#pragma once

#include "choice.hpp"

#if __has_include(<hwloc.h>)
#include "topology.hpp"
#else
#include "without_topology.hpp"
#endif

namespace weft::backends::devices {

/// Chooses on a machine. Requires: at least one device. Errors: those of topology.
inline result<device_choice> choose_on(const topology& machine, std::string_view fabric,
                                       const std::vector<offered_device>& all, const port_options& options) {
  const bool memory = options.device_near == device_near::memory;
  const result<numa_nodes> from = memory ? machine.of_memory(options.near_memory) : machine.of_this_thread();
  if (!from) return from.error();
  std::vector<placed_device> placed;
  placed.reserve(all.size());
  for (const offered_device& each : all) placed.push_back(machine.place(each, *from));
  return nearest_of(fabric, placed, *from, memory ? "near_memory is" : "this thread runs");
}

/// Chooses on this machine. Requires: at least one device. Errors: unsupported (no hwloc), and those of topology.
inline result<device_choice> choose(std::string_view fabric, const std::vector<offered_device>& all,
                                    const port_options& options) {
  if (options.device_near == device_near::none) return first_of(fabric, all);
  const result<topology> machine = topology::of_machine();
  if (!machine) return failure{machine.why(), "fabric " + std::string(fabric) + ": " + machine.error().sentence};
  return choose_on(*machine, fabric, all, options);
}

}  // namespace weft::backends::devices
