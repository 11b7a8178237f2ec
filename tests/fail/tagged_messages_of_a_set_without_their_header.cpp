// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: tagged messages of a set have a header of their own: #include <weft/compose/sets/tagged.hpp>
// EXPECT: [WEFT-C015]
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/compose/tagged/tagged.hpp>
#include <weft/generated/loopback.hpp>
#ifdef WEFT_FIXED
#include <weft/compose/sets/tagged.hpp>
#endif

using fabric = weft::with<weft::fabrics::loopback, weft::answers::tagged::matched_over_messages<>>;

int main() {
  auto net = weft::open<weft::fabric_set<fabric>>({}).value();
  return net.in_flight() == 0 ? 0 : 1;
}
