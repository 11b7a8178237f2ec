// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: the handler does not take `lost`: add
// EXPECT: [WEFT-C011]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  auto handler = weft::overloaded{
      [](const weft::completed&) {}, [](const weft::failed&) {},    [](const weft::received&) {},
      [](const weft::notified&) {},  [](const weft::requested&) {}, [](const weft::connected&) {},
#ifdef WEFT_FIXED
      [](const weft::lost&) {},
#endif
  };
  return net.progress(handler);
}
