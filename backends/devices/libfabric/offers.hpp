// SPDX-License-Identifier: Apache-2.0
//
// libfabric's replies as devices. A reply stands for a domain and one address of it, so a card has several. Its PCI
// address is in fi_info.nic (fi_nic(3)); providers over the system's interfaces leave it out, and name the interface.
// Hot path: no. Threads: values.
#pragma once

#include "../near.hpp"

#include <rdma/fabric.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

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

/// Replies, one for each device: the first of its addresses.
class offered_infos {
 public:
  void add(const fi_info& info) {
    offered_device one = device_of(info);
    for (const offered_device& each : devices_)
      if (each.name == one.name && each.bus == one.bus) return;
    devices_.push_back(std::move(one));
    infos_.push_back(&info);
  }
  bool empty() const noexcept { return infos_.empty(); }
  const std::vector<offered_device>& devices() const noexcept { return devices_; }
  const fi_info& at(std::size_t index) const { return *infos_.at(index); }

 private:
  std::vector<offered_device> devices_;
  std::vector<const fi_info*> infos_;
};

}  // namespace weft::backends::devices
