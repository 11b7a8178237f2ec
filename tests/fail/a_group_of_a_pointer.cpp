// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a member of a batch or a group is one slice of a region: region.slice(offset, size) or region.first(size)
// EXPECT: [WEFT-C009]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto page = net.allocate(64, weft::rights::none).value();
  auto group = net.coalesce({});
#ifdef WEFT_FIXED
  return group.send(page.first(8)) ? 0 : 1;
#else
  return group.send(page.data()) ? 0 : 1;
#endif
}
