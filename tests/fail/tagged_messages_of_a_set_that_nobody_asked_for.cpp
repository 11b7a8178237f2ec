// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a fabric of this set answers none to tagged: ask each for it, as in
// EXPECT: [WEFT-C016]
#include <weft/compose/sets/tagged.hpp>
#include <weft/generated/loopback.hpp>

#ifdef WEFT_FIXED
using set = weft::with_each<weft::fabric_set<weft::fabrics::loopback>, weft::answers::tagged::matched_over_messages<>>;
#else
using set = weft::fabric_set<weft::fabrics::loopback>;
#endif

int main() {
  auto net = weft::open<set>({}).value();
  return net.send_tagged(weft::peer(), weft::local_memory{}, 7) ? 1 : 0;
}
