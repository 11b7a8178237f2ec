// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a set of fabrics has no counters: open a counted transport of one fabric
// EXPECT: [WEFT-C043]
#include "made_fabric.hpp"

#include <weft/compose/counting/counted.hpp>
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>

using set = weft::fabric_set<weft::fabrics::mapped, weft::fabrics::loopback>;

int main() {
#ifdef WEFT_FIXED
  using counting = weft::counted<weft::fabrics::loopback>;
#else
  using counting = weft::counted<set>;
#endif
  return weft::open<counting>({}) ? 0 : 1;
}
