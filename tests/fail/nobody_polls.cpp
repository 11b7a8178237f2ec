// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: on this fabric bytes land only while the target polls; name the progress owner: export_region(region, weft::owner_polls)
#include "made_fabric.hpp"

int main() {
  auto net = weft::open<weft::fabrics::loopback>({}).value();
  const auto memory = net.allocate(64, weft::rights::remote_write).value();
#ifdef WEFT_FIXED
  return static_cast<int>(net.export_region(memory, weft::owner_polls)[0]);
#else
  return static_cast<int>(net.export_region(memory)[0]);
#endif
}
