// SPDX-License-Identifier: Apache-2.0
//
// A cell of the ring that a target watches (policies/notify.hpp, watched_word), and the word by which it gives cells
// back. Bytes lie so that what is looked at comes last: payload, tail, and the tail's last member is the sequence word,
// which alone says that the rest is there. Forced by rows that say bytes_visible_in_order: a write's last bytes are
// seen only when all of it is, also when it is half received. So a word that is half there must not look like another
// one: numbers count up, and of each pair the one that must not be early lies behind. Hot path: a copy of 40 bytes.
// Threads: values; read with an acquire of the sequence.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::wire {

static_assert(std::endian::native == std::endian::little,
              "weft: notify::watched_word is written for processors that store the low byte first");

/// What lies behind the payload.
struct cell_tail {
  std::uint64_t credit = 0;  ///< What the writer has read of the ring in the other direction: a credit_word.
  std::uint64_t address =
      0;  ///< Where the payload goes, as a write's would be: the target checks address, key and length.
  std::uint64_t key = 0;
  std::uint32_t immediate = 0;
  std::uint32_t sender = 0;  ///< The target's number of the connection: cells of an earlier one are recognised.
  std::uint16_t length = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;  ///< From 1, modulo 2^32; old bytes of the cell hold an earlier one, or 0.
};
inline constexpr std::size_t cell_tail_bytes = sizeof(cell_tail);
static_assert(cell_tail_bytes == 40 && offsetof(cell_tail, sequence) == 36);

/// The tail's last 8 bytes as one number, which is how they are looked at: whoever sees the sequence has length and
/// flags with it.
struct cell_end {
  std::uint64_t word = 0;
  static constexpr cell_end of(std::uint16_t length, std::uint16_t flags, std::uint32_t sequence) noexcept {
    return {std::uint64_t{sequence} << 32 | std::uint64_t{flags} << 16 | length};
  }
  constexpr std::uint16_t length() const noexcept { return static_cast<std::uint16_t>(word); }
  constexpr std::uint16_t flags() const noexcept { return static_cast<std::uint16_t>(word >> 16); }
  constexpr std::uint32_t sequence() const noexcept { return static_cast<std::uint32_t>(word >> 32); }
};
static_assert(sizeof(cell_end) == 8 && offsetof(cell_tail, length) == cell_tail_bytes - sizeof(cell_end) &&
              offsetof(cell_tail, flags) == offsetof(cell_tail, length) + 2 &&
              offsetof(cell_tail, sender) == offsetof(cell_tail, immediate) + 4);

/// The initiator waits for its end: the credit goes back at once.
inline constexpr std::uint16_t cell_answered = 1;
/// The bytes went ahead in a write of their own; the payload is their number, 8 bytes.
inline constexpr std::uint16_t cell_outside = 2;
/// Of those: the initiator's library tells it of a refusal, so that the target need not.
inline constexpr std::uint16_t cell_told_by_library = 4;
inline constexpr std::uint16_t cell_flags = 7;

inline constexpr std::uint32_t ring_cells = 32;
inline constexpr std::size_t cell_bytes = 4160;
inline constexpr std::size_t largest_cell_payload = cell_bytes - cell_tail_bytes;
/// In front of the cells: the credit word, alone in its line.
inline constexpr std::size_t cell_ring_front = 64;
inline constexpr std::size_t cell_ring_bytes = cell_ring_front + ring_cells * cell_bytes;

/// How many cells were read, and how many of those were refused. The refusals lie in front: who sees the new count of
/// reads sees theirs too.
constexpr std::uint64_t credit_word(std::uint32_t read, std::uint32_t refused) noexcept {
  return std::uint64_t{read} << 32 | refused;
}

}  // namespace weft::wire
