// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: this program is built without CUDA: its driver header (cuda.h) was not found; without it, register a dmabuf_memory
// EXPECT: [WEFT-C036]
#include "made_fabric.hpp"

int main() {
  auto& net = mistake::opened<weft::fabrics::loopback>();
#ifdef WEFT_FIXED
  return net.register_region(weft::dmabuf_memory{}, weft::rights::none) ? 0 : 1;
#else
  return net.register_region(weft::cuda_memory{}, weft::rights::none) ? 0 : 1;
#endif
}
