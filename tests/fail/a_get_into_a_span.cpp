// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a transfer takes a slice of a region: region.slice(offset, size) or region.first(size)
// EXPECT: [WEFT-C008]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto page = net.allocate(64, weft::rights::none).value();
#ifdef WEFT_FIXED
  return net.get({}, page.first(8), weft::remote_place{}, nullptr) ? 0 : 1;
#else
  return net.get({}, page.memory(), weft::remote_place{}, nullptr) ? 0 : 1;
#endif
}
