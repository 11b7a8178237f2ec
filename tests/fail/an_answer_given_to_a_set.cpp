// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a set has no answers of its own: give them to its fabrics
// EXPECT: [WEFT-C033]
#include "made_fabric.hpp"

#include <weft/compose/sets/fabric_set.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/mapped.hpp>

using trusted = weft::answers::checks::trusted;

int main() {
#ifdef WEFT_FIXED
  using set = weft::fabric_set<weft::with<weft::fabrics::mapped, trusted>, weft::fabrics::loopback>;
#else
  using set = weft::with<weft::fabric_set<weft::fabrics::mapped, weft::fabrics::loopback>, trusted>;
#endif
  return set::name.empty() ? 1 : 0;
}
