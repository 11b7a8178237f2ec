// SPDX-License-Identifier: Apache-2.0
//
// A gather list in libfabric's words. The vector lies on the caller's stack: rows that take more than one piece are not offered FI_ASYNC_IOV,
// so that no provider keeps it beyond the call (fi_getinfo(3), mode).
// Hot path: gather lists only. Threads: values.
#pragma once

#include "../../core/memory.hpp"

#include <sys/uio.h>

namespace weft::backends::libfabric {

/// Requires: at most gather_limit pieces, and a header in front of them.
struct vector_of_pieces {
  explicit vector_of_pieces(gather_list from) noexcept {
    std::size_t i = 0;
    for (const local_memory& each : from) {
      pieces[i] = {each.data, each.size};
      descriptors[i++] = each.descriptor;
      bytes += each.size;
    }
  }

  iovec pieces[gather_limit + 1];
  void* descriptors[gather_limit + 1];
  std::size_t bytes = 0;
};

}  // namespace weft::backends::libfabric
