// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: a word has one executor for all of its atomics: take the place from a region parsed with the same atomicity
// EXPECT: [WEFT-C020]
#include "made_fabric.hpp"

int main() {
  using weft::atomicity;
  auto& net = mistake::opened<weft::fabrics::loopback>();
  const auto there = net.parse_words<atomicity::target>({}).value();
#ifdef WEFT_FIXED
  const weft::remote_word<atomicity::target> word(there.at(8));
#else
  const weft::remote_word<atomicity::provider> word(there.at(8));
#endif
  return net.fetch_add(weft::peer(), word, 1, nullptr) ? 0 : 1;
}
