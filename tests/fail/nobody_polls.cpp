// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: on this fabric bytes land only while the target polls; name the progress owner: export_region(region, weft::owner_polls) [WEFT-C006]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto page = net.allocate(64, weft::rights::remote_write).value();
#ifdef WEFT_FIXED
  net.export_region(page, weft::owner_polls);
#else
  net.export_region(page);
#endif
}
