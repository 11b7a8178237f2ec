// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a transfer takes a slice of a region: region.slice(offset, size) or region.first(size)
// EXPECT: [WEFT-C008]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  char text[8] = {};
#ifdef WEFT_FIXED
  return net.send({}, net.memory(std::as_bytes(std::span(text)))) ? 0 : 1;
#else
  return net.send({}, text) ? 0 : 1;
#endif
}
