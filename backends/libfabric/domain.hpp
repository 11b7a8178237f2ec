// SPDX-License-Identifier: Apache-2.0
//
// A provider's fabric and domain, which all other objects of a port need. opening/open_domain.hpp opens them.
// Hot path: no. Threads: one owner.
#pragma once

#include "../../core/devices.hpp"
#include "errors.hpp"
#include "hints.hpp"

#include <rdma/fi_domain.h>

#include <string>
#include <vector>

namespace weft::backends::libfabric {

/// A fabric and a domain, and the attested info that created them.
struct domain {
  owned_info info;
  owned<fid_fabric> fabric;
  owned<fid_domain> object;             // After `fabric`: closed before it.
  std::string differences;              // Accepted differences from the row.
  std::vector<device_verdict> devices;  // Of a near device; else nobody looked at the others.
};

/// What is said where no near device was asked for: asks the library once more. Empty if it has nothing now.
template <class Shape>
std::vector<device_verdict> devices_in_order(const port_options& options);

/// Opens fabric and domain. Refuses a library that differs from the baked values.
template <class Shape>
result<domain> open_domain(const port_options& options);

}  // namespace weft::backends::libfabric
