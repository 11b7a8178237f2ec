// SPDX-License-Identifier: Apache-2.0
//
// Which rail carries which bytes: the remote region is cut into pages, and page p goes by rail p % rails. Both sides
// can compute how many pieces, and so how many notices, a transfer has. Also the queue of transfers with pieces to
// post. Hot path: yes: a division per transfer and rail, additions per piece. Threads: values.
#pragma once

#include "../events.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace weft {

/// A part of a transfer that one rail carries in one operation.
struct stripe_piece {
  std::uint64_t offset = 0;  ///< In the remote region.
  std::uint64_t size = 0;
};

struct striping {
  std::uint64_t page_bytes = 65536;
  std::uint32_t rails = 1;

  /// The number of operations of a transfer, and of notices of a put_notify: one for each page touched, one for no
  /// bytes.
  constexpr std::uint64_t pieces(std::uint64_t offset, std::uint64_t size) const noexcept {
    return last_page(offset, size) - offset / page_bytes + 1;
  }
  /// The end of the page with this byte, and the rail that carries it. The next page goes by the next rail.
  constexpr std::uint64_t page_end(std::uint64_t offset) const noexcept {
    return (offset / page_bytes + 1) * page_bytes;
  }
  constexpr std::uint32_t rail_of(std::uint64_t offset) const noexcept {
    return static_cast<std::uint32_t>(offset / page_bytes % rails);
  }
  constexpr std::uint64_t last_page(std::uint64_t offset, std::uint64_t size) const noexcept {
    return (offset + (size == 0 ? 0 : size - 1)) / page_bytes;
  }
  /// The piece of a transfer in the page that ends at `page_end`.
  constexpr stripe_piece piece(std::uint64_t offset, std::uint64_t size, std::uint64_t page_end) const noexcept {
    const std::uint64_t begin = std::max(offset, page_end - page_bytes);
    return {begin, std::min(offset + size, page_end) - begin};
  }
};
static_assert(striping{4, 3}.pieces(0, 0) == 1 && striping{4, 3}.pieces(3, 2) == 2 && striping{4, 3}.pieces(4, 4) == 1);
static_assert(striping{4, 3}.page_end(17) == 20 && striping{4, 3}.rail_of(17) == 1);
static_assert(striping{4, 3}.piece(3, 6, 8).offset == 4 && striping{4, 3}.piece(3, 6, 12).size == 1);

/// A queue of small numbers with fixed room. Requires: the writer knows that there is room.
class number_ring {
 public:
  explicit number_ring(std::uint32_t room) : all_(std::make_unique<std::uint32_t[]>(room)), room_(room) {}
  bool empty() const noexcept { return count_ == 0; }
  std::uint32_t front() const noexcept { return all_[first_]; }
  void push(std::uint32_t n) noexcept { all_[(first_ + count_++) % room_] = n; }
  void pop() noexcept {
    first_ = (first_ + 1) % room_;
    --count_;
  }

 private:
  std::unique_ptr<std::uint32_t[]> all_;
  std::uint32_t room_, first_ = 0, count_ = 0;
};

}  // namespace weft
