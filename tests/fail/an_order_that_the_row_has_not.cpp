// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: order::send_after_write is not to be had: order_send_after_write is false in the fabric's row
// EXPECT: [WEFT-C017]
#include "made_fabric.hpp"

#include <weft/compose/ordering.hpp>

struct fabric : weft::fabrics::loopback {
#ifndef WEFT_FIXED
  static constexpr weft::fabric_facts facts = mistake::without_order();
#endif
};
using mine = weft::ordered<fabric, weft::order::send_after_write>;

int main() { return weft::ordering<mine>::send_after_write ? 0 : 1; }
