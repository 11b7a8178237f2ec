// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a notify answer that rides on the write needs write_immediate_bytes of 4 or more in the fabric's row
// EXPECT: [WEFT-C002]
#include "made_fabric.hpp"

struct fabric : weft::fabrics::loopback {
  static constexpr weft::fabric_facts facts = mistake::without_order();
#ifdef WEFT_FIXED
  using policies = mistake::answers<weft::answers::notify::message_after_delivery>;
#else
  using policies = mistake::answers<weft::answers::notify::immediate>;
#endif
};

int main() { return weft::open<fabric>({}) ? 0 : 1; }
