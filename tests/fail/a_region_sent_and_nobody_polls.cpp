// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: on this fabric bytes land only while the target polls; name the progress owner: send_region(peer, region, weft::owner_polls)
// EXPECT: [WEFT-C006]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto page = net.allocate(64, weft::rights::remote_write).value();
#ifdef WEFT_FIXED
  return net.send_region({}, page, weft::owner_polls) ? 0 : 1;
#else
  return net.send_region({}, page) ? 0 : 1;
#endif
}
