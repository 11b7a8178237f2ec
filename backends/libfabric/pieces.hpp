// SPDX-License-Identifier: Apache-2.0
//
// A gather list in libfabric's words. The vector lies on the caller's stack: rows that take more than one piece are not
// offered FI_ASYNC_IOV, so that no provider keeps it beyond the call (fi_getinfo(3), mode). Hot path: gather lists
// only. Threads: values.
#pragma once

#include "../../core/memory.hpp"

#include <sys/uio.h>

namespace weft::backends::libfabric {

/// Room for gather_limit pieces, and a header in front of them. Not cleared: what is not counted is never read.
struct vector_of_pieces {
  /// take() says how many, and how much.
  vector_of_pieces() noexcept {
  }  // NOLINT(modernize-use-equals-default,hicpp-use-equals-default,cppcoreguidelines-pro-type-member-init)
  /// Requires: no more than there is room for.
  explicit vector_of_pieces(gather_list from) noexcept : count(0), bytes(total_of(from)) {
    for (const local_memory& each : from) put(count++, each);
  }

  /// All of a list of at most `Most` pieces, looked at and written in one pass. False where it is longer, has a piece
  /// without bytes or none at all, or more bytes than a number counts; what was written is then not to be used.
  template <std::size_t Most>
  [[gnu::always_inline]] bool take(gather_list from) noexcept {
    static_assert(Most <= gather_limit);
    if (from.size() > Most) [[unlikely]]
      return false;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      put(i, from[i]);
      const std::size_t more = sum + from[i].size;
      if (more <= sum) [[unlikely]]  // nothing was added, or too much
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
