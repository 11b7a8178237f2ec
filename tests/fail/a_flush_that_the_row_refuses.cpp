// SPDX-License-Identifier: Apache-2.0
// FABRIC: tcp
// EXPECT: weft: this fabric cannot tell when earlier writes are visible
// EXPECT: [WEFT-C018]
#include <weft/compose/transport.hpp>
#include <weft/generated/tcp.hpp>
#include <weft/generated/verbs_rxm.hpp>

// Only the headers of tcp's library are needed: nothing is linked.
#ifdef WEFT_FIXED
using fabric = weft::fabrics::tcp;
#else
using fabric = weft::fabrics::verbs_rxm;
#endif

int main() {
  auto net = weft::open<fabric>({}).value();
  return net.flush(weft::peer(), nullptr) ? 0 : 1;
}
