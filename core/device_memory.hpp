// SPDX-License-Identifier: Apache-2.0
//
// Memory that is not the processor's own: of a graphics processor, say. Drivers hand it out as a dmabuf file
// descriptor, which cards import (ibv_reg_dmabuf_mr(3); fi_mr(3), FI_MR_DMABUF since libfabric 1.20), or as a pointer
// of CUDA's that the library understands (FI_HMEM). The processor may not touch it: post from it with a context, since
// small unsignalled posts are copied by the processor. Hot path: no. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// Where a region's bytes are, and by what they are registered.
enum class memory_kind : std::uint8_t {
  host,    ///< The processor's. Everything else in weft speaks of this.
  dmabuf,  ///< Behind a file descriptor of the kernel's. To choose where the driver exports one.
  cuda,    ///< A pointer of CUDA's. To choose where the library has CUDA's support built in.
};

/// Part of a dmabuf. `address` is what transfers count from: the device's own pointer, or where the dmabuf is mapped.
struct dmabuf_memory {
  int descriptor = -1;
  std::uint64_t offset = 0;  ///< From the dmabuf's beginning, in bytes.
  std::byte* address = nullptr;
  std::size_t size = 0;
  int cuda_device = -1;  ///< The ordinal, where it is CUDA's; -1: nobody's in particular.
};

/// Memory that CUDA allocated.
struct cuda_memory {
  std::byte* address = nullptr;
  std::size_t size = 0;
  int device = 0;  ///< The ordinal.
};

/// As ports take it.
struct device_memory {
  memory_kind kind = memory_kind::host;
  std::byte* address = nullptr;
  std::size_t size = 0;
  int descriptor = -1;
  std::uint64_t offset = 0;
  int cuda_device = -1;

  static constexpr device_memory of(const dmabuf_memory& m) noexcept {
    return {memory_kind::dmabuf, m.address, m.size, m.descriptor, m.offset, m.cuda_device};
  }
  static constexpr device_memory of(const cuda_memory& m) noexcept {
    return {memory_kind::cuda, m.address, m.size, -1, 0, m.device};
  }
};

/// CUDA's driver header is there: whoever has memory of CUDA's has it too.
#if __has_include(<cuda.h>)
inline constexpr bool built_with_cuda = true;
#else
inline constexpr bool built_with_cuda = false;
#endif

}  // namespace weft
