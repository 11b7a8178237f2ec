// SPDX-License-Identifier: Apache-2.0
//
// The memory of watched rings (wire/cell.hpp). Each peer has a ring that it writes into, and staged cells where this
// side assembles what it sends. A staged cell is free when the peer has read its copy, so its write needs no
// completion. A table says which operation waits for which cell. One registration serves all peers and is made at open;
// untouched pages cost no memory. Hot path: plain arithmetic. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "../../wire/cell.hpp"
#include "operations.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace weft::detail {

/// The part of a peer's record for watched rings. This side writes into the ring `their_cells`.
struct cell_state {
  remote_memory their_cells{};
  std::byte* incoming = nullptr;   ///< The ring that the peer writes: credit word, then cells.
  std::byte* outgoing = nullptr;   ///< Memory of this side: credit word, then staged cells.
  std::uint32_t* waits = nullptr;  ///< For each cell: the index of the operation that waits, or no_index.
  std::uint32_t cells_posted = 0;
  std::uint32_t cells_credited = 0;  ///< Posted cells that the peer has read.
  std::uint32_t cells_refused = 0;   ///< Posted cells that the peer refused by message.
  /// Cells that posts may use: all, or none while a notice is deferred, because no later notice may overtake it.
  std::uint32_t cells_allowed = wire::ring_cells;
  std::uint32_t cells_waiting = 0;   ///< Operations that wait until their cell is read.
  std::uint32_t cells_read = 0;      ///< Cells of the peer that this side has read.
  std::uint32_t cells_reported = 0;  ///< Read cells that credit has reported to the peer.
  std::uint32_t cells_denied = 0;    ///< Read cells that this side refused.
  bool answer_is_due = false;        ///< Credit is due.
};

/// Copies the payload of a cell. Most payloads have one or two words, and two overlapping moves cost less than a call.
/// Without them the compiler takes `rep movs`, which costs more than both.
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
  /// Payloads up to this size are copied into the staged cell. Larger ones are gathered from the caller's memory.
  static constexpr std::size_t largest_staged = 472;
  static constexpr std::size_t staged_bytes = largest_staged + wire::cell_tail_bytes;
  static constexpr std::size_t outgoing_bytes = wire::cell_ring_front + wire::ring_cells * staged_bytes;

  /// Allocates. On failure incoming() is a null span.
  void make(std::size_t peers) {
    memory_.reset(static_cast<std::byte*>(std::calloc(peers * (wire::cell_ring_bytes + outgoing_bytes) + line, 1)));
    if (!memory_) return;
    start_ = memory_.get() + (line - reinterpret_cast<std::uintptr_t>(memory_.get()) % line) % line;
    peers_ = peers;
    waits_.assign(peers * wire::ring_cells, no_index);
  }
  bytes incoming() const noexcept { return {start_, peers_ * wire::cell_ring_bytes}; }
  bytes outgoing() const noexcept { return {start_ + peers_ * wire::cell_ring_bytes, peers_ * outgoing_bytes}; }

  /// The first state of a connection whose record has this index.
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

  /// The end of the n-th cell since the connection began. Cells are used in turn.
  static std::byte* end_of_cell(std::byte* ring, std::uint32_t n) noexcept {
    return ring + wire::cell_ring_front + (n % wire::ring_cells + 1) * wire::cell_bytes;
  }
  static std::byte* end_of_staged(std::byte* staged, std::uint32_t n) noexcept {
    return staged + wire::cell_ring_front + (n % wire::ring_cells + 1) * staged_bytes;
  }

  registration registered;     ///< Of the incoming rings.
  void* descriptor = nullptr;  ///< Of the outgoing cells, where local buffers must be registered.
  std::uint32_t next = 0;      ///< Index of the peer at which the next poll begins.

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
