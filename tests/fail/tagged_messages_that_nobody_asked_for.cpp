// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: this fabric's answer to tagged is none: ask for it, as in
// EXPECT: [WEFT-C016]
#include <weft/compose/tagged/tagged.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#ifdef WEFT_FIXED
using fabric = weft::with<weft::fabrics::loopback, weft::answers::tagged::matched_over_messages<>>;
#else
using fabric = weft::fabrics::loopback;
#endif

int main() {
  auto net = weft::open<fabric>({}).value();
  return net.send_tagged(weft::peer(), weft::local_memory{}, 7) ? 1 : 0;
}
