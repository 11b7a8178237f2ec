// SPDX-License-Identifier: Apache-2.0
// EXPECT: no match for 'operator=' | no viable overloaded '='
#include "made_fabric.hpp"

struct other : weft::fabrics::loopback {};

int main() {
  auto& one = mistake::opened<weft::fabrics::loopback>();
#ifdef WEFT_FIXED
  one = std::move(mistake::opened<weft::fabrics::loopback>());
#else
  one = std::move(mistake::opened<other>());
#endif
}
