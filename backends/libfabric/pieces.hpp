// SPDX-License-Identifier: Apache-2.0
//
// A gather list in libfabric's types. The vector is on the caller's stack. weft does not offer FI_ASYNC_IOV on rows
// with more than one piece, so no provider keeps the vector beyond the call (fi_getinfo(3), mode).
// Hot path: gather lists only. Threads: values.
#pragma once

#include "../../core/memory.hpp"

#include <sys/uio.h>

namespace weft::backends::libfabric {

/// Room for gather_limit pieces, and a header before them. Not cleared: elements beyond `count` are never read.
struct vector_of_pieces {
  /// take() sets count and bytes.
  // NOLINTNEXTLINE(modernize-use-equals-default,hicpp-use-equals-default,cppcoreguidelines-pro-type-member-init)
  vector_of_pieces() noexcept {}
  /// Requires: at most gather_limit + 1 pieces.
  explicit vector_of_pieces(gather_list from) noexcept : count(0), bytes(total_of(from)) {
    for (const local_memory& each : from) put(count++, each);
  }

  /// Checks and converts a list of at most `Most` pieces in one pass. False where the list is longer, has an empty
  /// piece or no piece, or its sum overflows. After false the content is invalid.
  template <std::size_t Most>
  [[gnu::always_inline]] bool take(gather_list from) noexcept {
    static_assert(Most <= gather_limit);
    if (from.size() > Most) [[unlikely]]
      return false;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      put(i, from[i]);
      const std::size_t more = sum + from[i].size;
      if (more <= sum) [[unlikely]]  // An empty piece, or an overflow.
        return false;
      sum = more;
    }
    count = from.size();
    bytes = sum;
    return sum != 0;
  }

  iovec pieces[gather_limit + 1];
  void* descriptors[gather_limit + 1];
  std::size_t count;
  std::size_t bytes;

 private:
  [[gnu::always_inline]] void put(std::size_t at, const local_memory& piece) noexcept {
    pieces[at] = {piece.data, piece.size};
    descriptors[at] = piece.descriptor;
  }
};

}  // namespace weft::backends::libfabric
