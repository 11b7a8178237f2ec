// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: notify::message_after_ordered_write needs order_send_after_write in the fabric's row: without it the message overtakes the write
// EXPECT: [WEFT-C002]
#include "made_fabric.hpp"

struct fabric : weft::fabrics::loopback {
  static constexpr weft::fabric_facts facts = mistake::without_order();
#ifdef WEFT_FIXED
  using policies = mistake::answers<weft::answers::notify::message_after_delivery>;
#else
  using policies = mistake::answers<weft::answers::notify::message_after_ordered_write>;
#endif
};

int main() { return weft::open<fabric>({}) ? 0 : 1; }
