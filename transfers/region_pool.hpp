// SPDX-License-Identifier: Apache-2.0
//
// A pool of registered memory: one region, cut into pieces of one size. Registration costs a system call and pins pages
// (fi_mr(3)), so a program registers once and takes pieces. Hot path: take and give: no allocation, no lock. Threads:
// the owner's.
#pragma once

#include "../compose/region.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace weft::transfers {

/// Number of a piece in its pool, from 0. Its bytes begin at number * piece_bytes of the region.
struct piece {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t number = none;
  constexpr explicit operator bool() const noexcept { return number != none; }
};

class region_pool {
 public:
  /// Cuts a region into pieces; bytes behind the last whole piece are not used. Allocates 5 bytes for each piece. The
  /// region's rights say what peers may do with the pieces. Errors: invalid (no whole piece), no_memory.
  static result<region_pool> over(owned_region memory, std::size_t piece_bytes) {
    if (piece_bytes == 0 || memory.size() / piece_bytes == 0)
      return {error(errc::invalid, "region_pool"), "a pool of pieces of " + std::to_string(piece_bytes) +
                                                       " bytes needs a region of at least one piece; this one has " +
                                                       std::to_string(memory.size()) + " bytes"};
    const std::size_t count = memory.size() / piece_bytes;
    if (count >= piece::none)
      return {error(errc::invalid, "region_pool"), "a pool has fewer than 4294967295 pieces; take larger ones"};
    region_pool made(std::move(memory), piece_bytes, static_cast<std::uint32_t>(count));
    if (!made.free_ || !made.taken_) return {error(errc::no_memory, "region_pool"), "no memory for the pool's list"};
    return made;
  }

  /// Takes a piece; none where all are taken. The piece that was given last is taken first: its bytes are in the cache.
  piece take() noexcept {
    if (left_ == 0) return {};
    const std::uint32_t number = free_[--left_];
    taken_[number] = true;
    return {number};
  }
  /// Returns a piece. Errors: invalid, where the piece is not taken, or not of this pool.
  status give(piece p) noexcept {
    if (p.number >= count_ || !std::exchange(taken_[p.number], false))
      return error(errc::invalid, "region_pool::give: this piece is not taken");
    free_[left_++] = p.number;
    return {};
  }

  /// The piece as the end of a transfer. Past the piece's end the slice is refused by every transfer.
  local_memory memory(piece p) const noexcept { return memory(p, 0, piece_bytes_); }
  local_memory memory(piece p, std::size_t offset, std::size_t size) const noexcept {
    if (p.number >= count_ || offset > piece_bytes_ || size > piece_bytes_ - offset)
      return {nullptr, no_slice, nullptr};
    return region_.slice(offset_of(p) + offset, size);
  }
  /// Where the piece begins in the region: what a peer adds to remote_region::at().
  std::uint64_t offset_of(piece p) const noexcept { return std::uint64_t{p.number} * piece_bytes_; }
  const owned_region& region() const noexcept { return region_; }
  std::size_t piece_bytes() const noexcept { return piece_bytes_; }
  std::uint32_t pieces() const noexcept { return count_; }
  std::uint32_t left() const noexcept { return left_; }

 private:
  region_pool(owned_region memory, std::size_t piece_bytes, std::uint32_t count)
      : region_(std::move(memory)),
        piece_bytes_(piece_bytes),
        count_(count),
        left_(count),
        free_(new (std::nothrow) std::uint32_t[count]),
        taken_(new (std::nothrow) bool[count]{}) {
    for (std::uint32_t i = 0; free_ && i < count; ++i) free_[i] = count - 1 - i;
  }

  owned_region region_;
  std::size_t piece_bytes_;
  std::uint32_t count_;
  std::uint32_t left_;
  std::unique_ptr<std::uint32_t[]> free_;
  std::unique_ptr<bool[]> taken_;
};

}  // namespace weft::transfers
