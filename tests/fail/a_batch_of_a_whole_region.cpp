// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a member of a batch or a group is one slice of a region: region.slice(offset, size) or region.first(size)
// EXPECT: [WEFT-C009]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto page = net.allocate(64, weft::rights::none).value();
  auto batch = net.batch({});
#ifdef WEFT_FIXED
  return batch.put(page.first(64), weft::remote_place{}) ? 0 : 1;
#else
  return batch.put(page, weft::remote_place{}) ? 0 : 1;
#endif
}
