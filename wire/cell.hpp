// SPDX-License-Identifier: Apache-2.0
//
// A cell of the ring that a target watches (policies/notify.hpp, watched_word), and the credit word that gives cells
// back.
// Rows with bytes_visible_in_order force the layout: the last bytes of a write become visible last, even while the
// write is half received.
// The order is payload, tail, sequence word. The sequence word alone says that the rest is there. A half-visible word
// must not equal a valid one, so numbers count up. Of each pair of numbers, the one that must not be early comes last.
// Hot path: a copy of 40 bytes. Threads: values; read after an acquire load of the sequence.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::wire {

static_assert(std::endian::native == std::endian::little,
              "weft: notify::watched_word is written for processors that store the low byte first [WEFT-C039]");

/// The bytes after the payload.
struct cell_tail {
  /// A credit_word: how many cells the writer has read of the ring in the other direction.
  std::uint64_t credit = 0;
  /// The payload's destination, in the form of a write's. The target checks address, key and length.
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint32_t immediate = 0;
  /// The target's number of the connection: the target ignores cells of an earlier connection.
  std::uint32_t sender = 0;
  std::uint16_t length = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;  ///< Starts at 1, modulo 2^32. Old bytes of the cell hold an earlier number, or 0.
};
inline constexpr std::size_t cell_tail_bytes = sizeof(cell_tail);
static_assert(cell_tail_bytes == 40 && offsetof(cell_tail, sequence) == 36);

/// The last 8 bytes of the tail as one number. One load yields sequence, length and flags.
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

/// The initiator waits for the completion: the target returns the credit at once.
inline constexpr std::uint16_t cell_answered = 1;
/// A separate write carried the bytes; the payload is their number, 8 bytes.
inline constexpr std::uint16_t cell_outside = 2;
/// With cell_outside: the initiator's library reports a refusal, so the target need not.
inline constexpr std::uint16_t cell_reported_by_library = 4;
inline constexpr std::uint16_t cell_flags = 7;

inline constexpr std::uint32_t ring_cells = 32;
inline constexpr std::size_t cell_bytes = 4160;
inline constexpr std::size_t largest_cell_payload = cell_bytes - cell_tail_bytes;
/// Bytes before the cells: the credit word has its own cache line.
inline constexpr std::size_t cell_ring_front = 64;
inline constexpr std::size_t cell_ring_bytes = cell_ring_front + ring_cells * cell_bytes;

/// The number of cells read, and how many of those the target refused. The refusals occupy the low bytes: a reader that
/// sees the new count of reads sees them too.
constexpr std::uint64_t credit_word(std::uint32_t read, std::uint32_t refused) noexcept {
  return std::uint64_t{read} << 32 | refused;
}

}  // namespace weft::wire
