// SPDX-License-Identifier: Apache-2.0
//
// Which of a fabric's devices is nearest to a place in the machine, and why not the others. Values in, values out:
// topology.hpp asks the machine. A library lists its devices in an order of its own, and knows nothing of the thread.
// Hot path: no. Threads: values.
#pragma once

#include "../../core/devices.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::backends::devices {

/// Numbers of NUMA nodes, as the system counts them.
using numa_nodes = std::vector<unsigned>;

/// A device, and how far it is.
struct placed_device {
  offered_device device;
  std::optional<std::uint64_t> distance{};  ///< As ACPI's SLIT counts: 10 is local. None: unknown.
  std::string why_unplaced{};               ///< Why the distance is unknown.
};

/// "NUMA node 1", "NUMA nodes 0, 1".
inline std::string printed(const numa_nodes& nodes) {
  std::string text = nodes.size() == 1 ? "NUMA node " : "NUMA nodes ";
  for (std::size_t i = 0; i < nodes.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(nodes[i]);
  return text;
}

/// The devices of a library's offers: one for each, with its first offer.
class listed_devices {
 public:
  explicit listed_devices(const device_offers& all) {
    for (const void* one = all.first; one != nullptr; one = all.next(one)) add(one, all.described(one));
  }
  const std::vector<offered_device>& all() const noexcept { return devices_; }
  const void* offer(std::size_t index) const { return offers_.at(index); }

 private:
  void add(const void* offer, offered_device device) {
    for (const offered_device& each : devices_)
      if (each.name == device.name && each.bus == device.bus) return;
    devices_.push_back(std::move(device));
    offers_.push_back(offer);
  }

  std::vector<offered_device> devices_;
  std::vector<const void*> offers_;
};

/// The verdicts where the library's first device was taken: nobody asked for a near one.
inline std::vector<device_verdict> in_order(std::string_view fabric, const device_offers& all) {
  std::vector<device_verdict> made;
  const listed_devices listed(all);
  for (const offered_device& each : listed.all())
    made.push_back({fabric, each.name, each.bus, made.empty(),
                    made.empty() ? "the library has it first, and device_near is none"
                                 : "the library has it later, and device_near is none"});
  return made;
}

/// The nearest device; of several, the library's first. A device without a place is taken only where none has one.
struct nearest {
  std::size_t index = 0;
  std::vector<device_verdict> verdicts;
};
/// `from`: the nodes, and what stands there ("this thread runs"). Requires: at least one device.
inline nearest nearest_of(std::string_view fabric, const std::vector<placed_device>& all, const numa_nodes& from,
                          std::string_view what) {
  nearest made;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& best = all[made.index].distance;
    if (all[i].distance && (!best || *all[i].distance < *best)) made.index = i;
  }
  const placed_device& taken = all[made.index];
  for (std::size_t i = 0; i < all.size(); ++i) {
    const placed_device& each = all[i];
    const bool is_taken = i == made.index;
    std::string reason;
    if (!each.distance) {
      reason = each.why_unplaced;
      if (is_taken) reason += all.size() == 1 ? "; it is the only device" : "; no other has a place, and it is first";
    } else {
      reason = "distance " + std::to_string(*each.distance) + " from " + printed(from);
      if (is_taken) reason += ", where " + std::string(what);
      else if (*each.distance == taken.distance) reason += " too, and the library has it later";
    }
    made.verdicts.push_back({fabric, each.device.name, each.device.bus, is_taken, std::move(reason)});
  }
  return made;
}

}  // namespace weft::backends::devices
