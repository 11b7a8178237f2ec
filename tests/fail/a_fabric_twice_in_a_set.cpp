// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a fabric is twice in this set: each fabric, with its answers, may be there once
// EXPECT: [WEFT-C031]
#include "made_fabric.hpp"

#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>

int main() {
#ifdef WEFT_FIXED
  using set = weft::fabric_set<weft::fabrics::mapped, weft::fabrics::loopback>;
#else
  using set = weft::fabric_set<weft::fabrics::mapped, weft::fabrics::mapped>;
#endif
  return set::name.empty() ? 1 : 0;
}
