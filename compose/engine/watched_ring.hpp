// SPDX-License-Identifier: Apache-2.0
//
// The memory of watched rings (wire/cell.hpp): for each peer a ring that it writes into, cells of our own in which what
// goes out is put together, and which operation waits for which cell. A cell of ours is free again when the peer has
// read the one that it was written to: no completion is asked for. One registration for all peers, made at open; pages
// that nobody wrote to cost nothing. Hot path: plain arithmetic. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "../../wire/cell.hpp"
#include "operations.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace weft::detail {

/// The part of a peer's record that watched rings need. "Theirs" is the ring that we write into.
struct cell_state {
  remote_memory their_cells{};
  std::byte* incoming = nullptr;  ///< Their side of our ring: credit word, then cells.
  std::byte* outgoing = nullptr;  ///< Where cells are put together: credit word, then staged cells.
  std::uint32_t* waits = nullptr;
  std::uint32_t cells_posted = 0;
  std::uint32_t cells_credited = 0;  ///< Of those, read by them.
  std::uint32_t cells_refused = 0;   ///< Refusals of ours that were told by message.
  std::uint32_t cells_waiting = 0;   ///< Operations that wait for their cell to be read.
  std::uint32_t cells_read = 0;
  std::uint32_t cells_told = 0;    ///< What they were told of that.
  std::uint32_t cells_denied = 0;  ///< Of those read: refused by us.
  bool answer_is_due = false;
};

/// The payload of a cell, into it or out of it. Most are a word or two: moves that may overlap, since a call costs
/// more, and a `rep movs` of which the compiler would think more than both.
[[gnu::always_inline]] inline void copy_payload(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  if (size - 8 <= 8) [[likely]] {
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, from, 8);
    std::memcpy(&last, from + size - 8, 8);
    std::memcpy(to, &first, 8);
    std::memcpy(to + size - 8, &last, 8);
  } else if (size != 0) {
    std::memcpy(to, from, size);
  }
}

class cell_memory {
 public:
  /// Payloads up to this size are copied into the staged cell; larger ones are gathered where they lie.
  static constexpr std::size_t largest_staged = 472;
  static constexpr std::size_t staged_bytes = largest_staged + wire::cell_tail_bytes;
  static constexpr std::size_t outgoing_bytes = wire::cell_ring_front + wire::ring_cells * staged_bytes;

  /// Null spans: no memory.
  void make(std::size_t peers) {
    memory_.reset(static_cast<std::byte*>(std::calloc(peers * (wire::cell_ring_bytes + outgoing_bytes) + line, 1)));
    if (!memory_) return;
    start_ = memory_.get() + (line - reinterpret_cast<std::uintptr_t>(memory_.get()) % line) % line;
    peers_ = peers;
    waits_.assign(peers * wire::ring_cells, no_index);
  }
  bytes incoming() const noexcept { return {start_, peers_ * wire::cell_ring_bytes}; }
  bytes outgoing() const noexcept { return {start_ + peers_ * wire::cell_ring_bytes, peers_ * outgoing_bytes}; }

  /// The state of a peer that is met anew, at this place of the table.
  cell_state fresh(std::uint32_t index) noexcept {
    cell_state s;
    s.incoming = start_ + index * wire::cell_ring_bytes;
    s.outgoing = outgoing().data() + index * outgoing_bytes;
    s.waits = waits_.data() + std::size_t{index} * wire::ring_cells;
    std::memset(s.incoming, 0, wire::cell_ring_front);
    for (std::uint32_t n = 0; n < wire::ring_cells; ++n) {
      std::memset(end_of_cell(s.incoming, n) - sizeof(std::uint32_t), 0, sizeof(std::uint32_t));
      s.waits[n] = no_index;
    }
    return s;
  }

  /// Behind the n-th cell, counted from 0 and for ever.
  static std::byte* end_of_cell(std::byte* ring, std::uint32_t n) noexcept {
    return ring + wire::cell_ring_front + (n % wire::ring_cells + 1) * wire::cell_bytes;
  }
  static std::byte* end_of_staged(std::byte* staged, std::uint32_t n) noexcept {
    return staged + wire::cell_ring_front + (n % wire::ring_cells + 1) * staged_bytes;
  }

  registration registered;     ///< Of what is incoming.
  void* descriptor = nullptr;  ///< Of what is outgoing, where local buffers must be registered.
  std::uint32_t next = 0;      ///< Peer at which the next look begins.

 private:
  struct freed {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  static constexpr std::size_t line = 64;
  std::unique_ptr<std::byte, freed> memory_;
  std::byte* start_ = nullptr;
  std::size_t peers_ = 0;
  std::vector<std::uint32_t> waits_;
};

}  // namespace weft::detail
