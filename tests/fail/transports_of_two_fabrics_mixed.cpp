// SPDX-License-Identifier: Apache-2.0
// EXPECT: no match for 'operator=' | no viable overloaded '='
#include "made_fabric.hpp"

struct other : weft::fabrics::loopback {};

int main() {
  auto one = weft::open<weft::fabrics::loopback>({}).value();
#ifdef WEFT_FIXED
  one = weft::open<weft::fabrics::loopback>({}).value();
#else
  one = weft::open<other>({}).value();
#endif
}
