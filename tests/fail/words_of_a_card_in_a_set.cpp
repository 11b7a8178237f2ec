// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: peers of a set reach a word by several fabrics, and a word has one executor: register the region with atomicity::target
// EXPECT: [WEFT-C024]
#include "made_fabric.hpp"

#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>

int main() {
  using weft::atomicity;
  auto& net = mistake::opened<weft::fabric_set<weft::fabrics::mapped, weft::fabrics::loopback>>();
#ifdef WEFT_FIXED
  const auto words = net.allocate_words<atomicity::target>(64, weft::rights::remote_atomic);
#else
  const auto words = net.allocate_words<atomicity::provider>(64, weft::rights::remote_atomic);
#endif
  return words ? 0 : 1;
}
