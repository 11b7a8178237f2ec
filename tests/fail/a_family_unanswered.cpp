// SPDX-License-Identifier: Apache-2.0
// EXPECT: complete_fabric
// EXPECT: answered_by
#include "made_fabric.hpp"

struct fabric : weft::fabrics::loopback {
#ifdef WEFT_FIXED
  using policies = mistake::answers<weft::answers::notify::immediate>;
#else
  using policies = weft::policy_set<weft::answers::endpoint::connected, weft::answers::bootstrap::socket_address>;
#endif
};
static_assert(weft::complete_fabric<fabric>);

int main() { return 0; }
