// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: progress() needs a handler for every kind of event
// EXPECT: [WEFT-C012]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
#ifdef WEFT_FIXED
  return net.progress([](auto&&) {});
#else
  return net.progress();
#endif
}
