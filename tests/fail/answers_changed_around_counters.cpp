// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: counters are asked for last: counted<with<F, answers::checks::trusted>>
// EXPECT: [WEFT-C043]
#include "made_fabric.hpp"

#include <weft/compose/counting/counted.hpp>
#include <weft/compose/with.hpp>

using trusted = weft::answers::checks::trusted;

int main() {
#ifdef WEFT_FIXED
  using counting = weft::counted<weft::with<weft::fabrics::loopback, trusted>>;
#else
  using counting = weft::with<weft::counted<weft::fabrics::loopback>, trusted>;
#endif
  return weft::open<counting>({}) ? 0 : 1;
}
