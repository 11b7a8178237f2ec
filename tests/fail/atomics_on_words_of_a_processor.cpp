// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: atomics on these words are their owner's alone (atomicity::processor)
// EXPECT: [WEFT-C023]
#include "made_fabric.hpp"

int main() {
  using weft::atomicity;
  auto& net = mistake::opened<weft::fabrics::loopback>();
#ifdef WEFT_FIXED
  const auto there = net.parse_words<atomicity::provider>({}).value();
#else
  const auto there = net.parse_words<atomicity::processor>({}).value();
#endif
  return net.fetch_add(weft::peer(), there.at(8), 1, nullptr) ? 0 : 1;
}
