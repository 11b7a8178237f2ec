// SPDX-License-Identifier: Apache-2.0
//
// libfabric's replies as devices. A reply stands for a domain and one address of it, so a card has several. Its PCI
// address is in fi_info.nic (fi_nic(3)); providers over the system's interfaces leave it out, and name the interface.
// Hot path: no. Threads: values.
#pragma once

#include "../../../core/devices.hpp"

#include <rdma/fabric.h>

#include <array>
#include <cstdio>

namespace weft::backends::devices {

/// A reply as a device.
inline offered_device device_of(const fi_info& info) {
  offered_device made;
  if (info.domain_attr != nullptr && info.domain_attr->name != nullptr) made.name = info.domain_attr->name;
  if (info.nic == nullptr) return made;
  if (info.nic->device_attr != nullptr && info.nic->device_attr->name != nullptr)
    made.system_name = info.nic->device_attr->name;
  if (info.nic->bus_attr == nullptr || info.nic->bus_attr->bus_type != FI_BUS_PCI) return made;
  const fi_pci_attr& at = info.nic->bus_attr->attr.pci;
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%01x", at.domain_id, at.bus_id, at.device_id,
                      at.function_id);
  made.bus = text.data();
  return made;
}

}  // namespace weft::backends::devices
