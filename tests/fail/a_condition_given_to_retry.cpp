// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: retry() takes a post that returns weft::status; for a condition use net.until()
// EXPECT: [WEFT-C014]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto on = [](auto&&) {};
#ifdef WEFT_FIXED
  return net.until([] { return true; }, weft::duration(1), on) ? 0 : 1;
#else
  return net.retry([] { return true; }, weft::duration(1), on) ? 0 : 1;
#endif
}
