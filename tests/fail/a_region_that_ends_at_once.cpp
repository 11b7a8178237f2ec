// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: this region would be deregistered at the end of the statement: keep it in a weft::owned_region, or let the transport keep it: owned_region::release()
// EXPECT: [WEFT-C019]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
#ifdef WEFT_FIXED
  const weft::region page = net.allocate(64, weft::rights::none).value().release();
#else
  const weft::region page = net.allocate(64, weft::rights::none).value();
#endif
  return page.size() == 64 ? 0 : 1;
}
