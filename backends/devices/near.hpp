// SPDX-License-Identifier: Apache-2.0
//
// The choices of compose/connecting/near_device.hpp: of the devices that a library offers, the one near a thread or a
// buffer. Hot path: no. Threads: the place of the caller counts.
#pragma once

#include "choice.hpp"

#if __has_include(<hwloc.h>)
#include "topology.hpp"
#else
#include "without_topology.hpp"
#endif

namespace weft::backends::devices {

/// The nearest device to some nodes. Requires: at least one device.
inline nearest nearest_on(const topology& machine, std::string_view fabric, const std::vector<offered_device>& all,
                          const numa_nodes& from, std::string_view what) {
  std::vector<placed_device> placed;
  placed.reserve(all.size());
  for (const offered_device& each : all) placed.push_back(machine.place(each, from));
  return nearest_of(fabric, placed, from, what);
}

/// Chooses on this machine; `nodes(topology)` says from where. Errors: unsupported (no hwloc), and those of topology.
template <class Nodes>
result<device_choice> choose_here(std::string_view fabric, const device_offers& all, Nodes&& nodes,
                                  std::string_view what) {
  const result<topology> machine = topology::of_machine();
  if (!machine) return failure{machine.why(), "fabric " + std::string(fabric) + ": " + machine.error().sentence};
  const result<numa_nodes> from = nodes(*machine);
  if (!from) return from.error();
  const listed_devices listed(all);
  nearest found = nearest_on(*machine, fabric, listed.all(), *from, what);
  return device_choice{listed.offer(found.index), std::move(found.verdicts)};
}

inline result<device_choice> choose_by_thread(std::string_view fabric, const device_offers& all, const_bytes /*none*/) {
  return choose_here(
      fabric, all, [](const topology& on) { return on.of_this_thread(); }, "this thread runs");
}
inline result<device_choice> choose_by_memory(std::string_view fabric, const device_offers& all, const_bytes memory) {
  if (memory.empty()) return failure{error(errc::invalid, "open"), "near_memory has no bytes: name the buffer"};
  return choose_here(
      fabric, all, [&](const topology& on) { return on.of_memory(memory); }, "near_memory is");
}

}  // namespace weft::backends::devices
