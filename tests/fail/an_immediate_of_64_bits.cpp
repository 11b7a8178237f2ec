// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: an immediate has 32 bits on every fabric: cast the number to std::uint32_t, or pack several fields with weft::immediate_layout or weft::spilled_layout
// EXPECT: [WEFT-C010]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto page = net.allocate(64, weft::rights::none).value();
  const std::uint64_t number = 7;
#ifdef WEFT_FIXED
  return net.put_notify({}, page.first(8), weft::remote_place{}, static_cast<std::uint32_t>(number)) ? 0 : 1;
#else
  return net.put_notify({}, page.first(8), weft::remote_place{}, number) ? 0 : 1;
#endif
}
