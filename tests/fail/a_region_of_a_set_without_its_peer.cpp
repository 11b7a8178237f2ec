// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a region has another key on each fabric of a set: name the peer: parse_region(peer, bytes)
// EXPECT: [WEFT-C035]
#include "made_fabric.hpp"

#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>

int main() {
  auto& net = mistake::opened<weft::fabric_set<weft::fabrics::mapped, weft::fabrics::loopback>>();
  const weft::peer other;
#ifdef WEFT_FIXED
  return net.parse_region(other, {}) ? 0 : 1;
#else
  return net.parse_region({}) ? 0 : 1;
#endif
}
