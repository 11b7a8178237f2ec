// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a set cannot be changed as a whole: change its fabrics
// EXPECT: [WEFT-C033]
#include "made_fabric.hpp"

#include <weft/compose/ordering.hpp>
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>

using weft::order;

int main() {
#ifdef WEFT_FIXED
  using set = weft::fabric_set<weft::ordered<weft::fabrics::mapped, order::send_after_write>, weft::fabrics::loopback>;
#else
  using set = weft::ordered<weft::fabric_set<weft::fabrics::mapped, weft::fabrics::loopback>, order::send_after_write>;
#endif
  return weft::open<set>({}) ? 0 : 1;
}
