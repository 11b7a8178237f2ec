// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a card or the library executes the atomics on these words, and std::atomic is no atomic to it
// EXPECT: [WEFT-C021]
#include "made_fabric.hpp"

int main() {
  using weft::atomicity;
  auto& net = mistake::opened<weft::fabrics::loopback>();
#ifdef WEFT_FIXED
  constexpr auto executor = atomicity::target;
#else
  constexpr auto executor = atomicity::provider;
#endif
  const auto words = net.allocate_words<executor>(64, weft::rights::remote_atomic).value();
  return words.word<std::int32_t>(0).fetch_add(1);
}
