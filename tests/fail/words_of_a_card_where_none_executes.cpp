// SPDX-License-Identifier: Apache-2.0
// FABRIC: tcp
// EXPECT: weft: on this fabric neither card nor library executes atomics: register the region with atomicity::target
// EXPECT: [WEFT-C022]
#include <weft/compose/selected.hpp>
#include <weft/compose/transport.hpp>

int main() {
  using weft::atomicity;
  auto net = weft::open<weft::selected>({}).value();
#ifdef WEFT_FIXED
  return net.allocate_words<atomicity::target>(64, weft::rights::remote_atomic) ? 0 : 1;
#else
  return net.allocate_words<atomicity::provider>(64, weft::rights::remote_atomic) ? 0 : 1;
#endif
}
