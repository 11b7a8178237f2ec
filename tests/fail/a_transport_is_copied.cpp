// SPDX-License-Identifier: Apache-2.0
// EXPECT: transport
// EXPECT: deleted
#include "made_fabric.hpp"

int main() {
  auto& one = mistake::opened<weft::fabrics::loopback>();
#ifdef WEFT_FIXED
  auto two = std::move(one);
#else
  auto two = one;
#endif
  return two.in_flight() == 0 ? 0 : 1;
}
