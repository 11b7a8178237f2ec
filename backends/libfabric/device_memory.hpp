// SPDX-License-Identifier: Apache-2.0
//
// Requests for device memory: fi_mr_regattr(3) with an interface, and with FI_MR_DMABUF where the library knows it
// (1.20 and later).
// An older library would read the dmabuf structure as a list of buffers, so weft never passes one to it.
// Hot path: no. Threads: values.
#pragma once

#include "../../core/device_memory.hpp"
#include "../../core/error.hpp"
#include "version.hpp"

#include <rdma/fi_domain.h>
#include <sys/uio.h>

#include <cstdint>
#include <string>

namespace weft::backends::libfabric {

/// The arguments of fi_mr_regattr. It must not move: `attr` points into it.
struct device_request {
  fi_mr_attr attr{};
  std::uint64_t flags = 0;
  iovec place{};
#if defined(FI_MR_DMABUF)
  fi_mr_dmabuf dmabuf{};
#endif
  device_request() = default;
  device_request(const device_request&) = delete;
  device_request& operator=(const device_request&) = delete;
};

/// Fills a request. Returns why this library cannot register the memory, or "".
inline std::string describe(const device_memory& memory, std::uint64_t access, std::uint64_t key,
                            device_request& into) {
  into.attr.iov_count = 1;
  into.attr.access = access;
  into.attr.requested_key = key;
  into.attr.iface = memory.cuda_device >= 0 ? FI_HMEM_CUDA : FI_HMEM_SYSTEM;
  if (memory.cuda_device >= 0) into.attr.device.cuda = memory.cuda_device;
  if (memory.kind == memory_kind::dmabuf) {
#if defined(FI_MR_DMABUF)
    if (running_with() < library_version{1, 20})
      return "libfabric " + printed(running_with()) + " registers no dmabuf; 1.20 and later do";
    into.dmabuf = {memory.descriptor, memory.offset, memory.size, memory.address};
    into.attr.dmabuf = &into.dmabuf;
    into.flags = FI_MR_DMABUF;
    return "";
#else
    return "this program was built with libfabric " + printed(built_with) +
           ", which registers no dmabuf; 1.20 and later do";
#endif
  }
  into.place = {memory.address, memory.size};
  into.attr.mr_iov = &into.place;
  return "";
}

}  // namespace weft::backends::libfabric
