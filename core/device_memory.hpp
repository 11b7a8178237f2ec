// SPDX-License-Identifier: Apache-2.0
//
// Memory of a device, for example of a graphics processor.
// Drivers export it as a dmabuf file descriptor (ibv_reg_dmabuf_mr(3); fi_mr(3), FI_MR_DMABUF since libfabric 1.20), or
// as a CUDA pointer (FI_HMEM).
// The processor must not touch such memory. Post from it with a context: the processor copies small unsignalled posts.
// Hot path: no. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// Where a region's bytes are, and how they are registered.
enum class memory_kind : std::uint8_t {
  host,    ///< Ordinary memory. The rest of weft assumes it.
  dmabuf,  ///< A dmabuf file descriptor. Choose it where the driver exports one.
  cuda,    ///< A CUDA pointer. Choose it where the library was built with CUDA.
};

/// Part of a dmabuf. `address` is the base of transfers: the device's own pointer, or the address where the dmabuf is
/// mapped.
struct dmabuf_memory {
  int descriptor = -1;
  std::uint64_t offset = 0;  ///< Bytes from the start of the dmabuf.
  std::byte* address = nullptr;
  std::size_t size = 0;
  int cuda_device = -1;  ///< The CUDA ordinal; -1 where the memory is not CUDA's.
};

/// Memory that CUDA allocated.
struct cuda_memory {
  std::byte* address = nullptr;
  std::size_t size = 0;
  int device = 0;  ///< The CUDA ordinal.
};

/// Device memory in the form that ports take.
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

/// Whether CUDA's driver header is installed.
#if __has_include(<cuda.h>)
inline constexpr bool built_with_cuda = true;
#else
inline constexpr bool built_with_cuda = false;
#endif

}  // namespace weft
