// SPDX-License-Identifier: Apache-2.0
//
// rdma-core's devices. Its connection manager binds an id to a device by an address of the machine (rdma_bind_addr(3)),
// so a device without one cannot be chosen. The system's name of a device leads to its PCI address.
// Hot path: no. Threads: one owner.
#pragma once

#include "../../core/devices.hpp"
#include "address.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <memory>
#include <utility>
#include <vector>

namespace weft::backends::verbs {

/// The devices that the connection manager finds by an address, in its order, and the first address of each.
class bound_devices {
 public:
  struct bound_device {
    offered_device device;
    socket_address at;
  };

  bound_devices() {
    std::vector<std::pair<ibv_context*, socket_address>> bound = bind_each();
    int count = 0;
    ibv_context** const all = rdma_get_devices(&count);
    if (all == nullptr) return;
    for (int i = 0; i < count; ++i)
      for (const auto& [context, at] : bound)
        if (context == all[i]) {
          devices_.push_back({{ibv_get_device_name(context->device)}, at});
          break;
        }
    rdma_free_devices(all);
    devices_.push_back({});  // ends the list of offers
  }
  bool empty() const noexcept { return devices_.size() < 2; }
  /// Requires: not empty; the list outlives the offers.
  device_offers offers() const noexcept {
    return {devices_.data(),
            [](const void* one) -> const void* {
              const auto* const next = static_cast<const bound_device*>(one) + 1;
              return next->device.name.empty() ? nullptr : next;
            },
            [](const void* one) { return static_cast<const bound_device*>(one)->device; }};
  }

 private:
  static std::vector<std::pair<ibv_context*, socket_address>> bind_each() {
    std::vector<std::pair<ibv_context*, socket_address>> bound;
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return bound;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(found, ::freeifaddrs);
    for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
      socket_address at(each->ifa_addr);
      if (at.length() == 0 || at.is_link_local() || (each->ifa_flags & IFF_UP) == 0) continue;
      rdma_cm_id* made = nullptr;
      if (rdma_create_id(nullptr, &made, nullptr, RDMA_PS_TCP) != 0) return bound;
      const owned<rdma_cm_id> id(made);
      at.set_port(0);
      if (rdma_bind_addr(made, at.get()) == 0 && made->verbs != nullptr) bound.emplace_back(made->verbs, at);
    }
    return bound;
  }

  std::vector<bound_device> devices_;
};

}  // namespace weft::backends::verbs
