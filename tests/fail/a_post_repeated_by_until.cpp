// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: until() would repeat a post that can never succeed: use net.retry(post, timeout, handler), which repeats only `again`
// EXPECT: [WEFT-C013]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto post = [&] { return net.put({}, weft::local_memory{}, weft::remote_place{}); };
  const auto on = [](auto&&) {};
#ifdef WEFT_FIXED
  return net.retry(post, weft::duration(1), on) ? 0 : 1;
#else
  return net.until(post, weft::duration(1), on) ? 0 : 1;
#endif
}
