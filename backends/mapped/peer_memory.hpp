// SPDX-License-Identifier: Apache-2.0
//
// A peer's memory. A place in one of its regions becomes an address of this process, or the reason why not.
// The peer's table entry is read once, checked against the mapping, and used as read: a lying peer harms only its own
// bytes.
// The last used region is cached with its check, one for each right that it grants.
// Hot path: knows(), known() and offset_of(). Threads: the owner's.
#pragma once

#include "../../core/caller_duty.hpp"
#include "../../core/memory.hpp"
#include "arena.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace weft::backends::mapped {

/// Why a place is not in the mapping.
enum class absence : std::uint8_t {
  unknown,   ///< No such region: a wrong key, or a released region.
  denied,    ///< The region does not grant the access.
  outside,   ///< Beyond the region's end.
  ordinary,  ///< Memory outside of the peer's arena, at `address`.
  unmapped,  ///< Grow the mapping, then try again.
  broken,    ///< The peer's table contradicts its file.
};

struct missing_place {
  absence why{};
  std::uint64_t address = 0;
};

class peer_memory {
 public:
  peer_memory() = default;
  /// Maps a peer's arena. `file_bytes` is the size of its file.
  static result<peer_memory> of(const file& theirs, std::uint64_t file_bytes, const std::string& who) {
    peer_memory made;
    made.file_bytes_ = file_bytes;
    auto here = mapping::of(theirs, std::min(file_bytes, first_bytes), who);
    if (!here) return std::move(here).error();
    made.here_ = std::move(here).value();
    return made;
  }

  /// Whether the place is in the last region used with this right. Only its key needs a check. If false, find() may
  /// know the place. A trusted caller uses no released region. Its bounds are checked: they are what the peer said, and
  /// a lying peer must not lead a store out of the mapping.
  template <rights Asked, bool TrustsCaller = false>
  [[gnu::always_inline]] bool knows(remote_memory at, std::size_t size) const noexcept {
    const known_region& last = last_for(Asked);
    const auto registered = [&]() __attribute__((always_inline)) {
      return last.row->key.load(std::memory_order_acquire) == at.key;
    };
    return at.key == last.key &&
           weft::detail::duty_kept<TrustsCaller>(registered, "a transfer", "the peer released the region") &&
           last.holds(at.address, size);
  }
  /// Requires: knows().
  template <rights Asked>
  [[gnu::always_inline]] std::byte* known(std::uint64_t address) const noexcept {
    return last_for(Asked).start + address;
  }
  /// Finds a place in any region. Null: missing() says why. `asked`: one right.
  std::byte* find(remote_memory at, std::size_t size, rights asked) const noexcept {
    const known_region& last = last_for(asked);
    if (at.key == last.key && last.row->key.load(std::memory_order_acquire) == at.key)
      return last.place(at.address, size);
    return find_another(at, size, asked);
  }
  /// Bytes of its arena that the peer lends. Null: it named a place outside, or this process has no room for them.
  [[gnu::noinline]] const std::byte* lent(std::uint64_t offset, std::size_t size) noexcept {
    if (offset > file_bytes_) return nullptr;  // else the sum could overflow
    if (offset + size > here_.size() && (!grow() || offset + size > here_.size())) return nullptr;
    return here_.start() + offset;
  }
  /// Offset, in its owner's arena, of bytes that were just found for writing.
  [[gnu::always_inline]] std::uint64_t offset_of(const std::byte* found) const noexcept {
    return reinterpret_cast<std::uintptr_t>(found) + last_for(rights::remote_write).shift;
  }

  [[gnu::cold]] missing_place missing(remote_memory at, std::size_t size, rights asked) const noexcept {
    const region_row& row = head().table[at.key % arena_head::rows];
    const std::uint64_t place = row.place.load(std::memory_order_relaxed);
    const std::uint64_t length = row.length.load(std::memory_order_relaxed);
    const std::uint32_t flags = row.flags.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (at.key == 0 || row.key.load(std::memory_order_acquire) != at.key) return {absence::unknown};
    if (!grants(static_cast<rights>(flags & 7U), asked)) return {absence::denied};
    if (at.address > length || size > length - at.address) return {absence::outside};
    if ((flags & region_row::in_arena) == 0) return {absence::ordinary, place + at.address};
    if (place > file_bytes_ || length > file_bytes_ - place) return {absence::broken};
    wants_growth_ = true;
    return {absence::unmapped};
  }

  /// Whether missing() answered `unmapped` since the mapping grew last.
  bool wants_growth() const noexcept { return wants_growth_; }
  /// Maps twice the bytes that the peer uses now. False: this process has no room for them.
  [[gnu::cold]] bool grow() noexcept {
    wants_growth_ = false;
    const std::uint64_t reach = std::min(head().reach.load(std::memory_order_acquire), file_bytes_);
    const std::uint64_t wanted =
        std::min(file_bytes_, (std::max(reach, here_.size()) * 2 + first_bytes - 1) / first_bytes * first_bytes);
    known_ = {};
    return wanted <= here_.size() || here_.grow(wanted);
  }

  /// Whether its owner sleeps. Check this after sending.
  bool asleep() const noexcept { return head().asleep.load(std::memory_order_relaxed) != 0; }
  /// False: another thread wakes it.
  bool claim_waking() const noexcept { return head().asleep.exchange(0, std::memory_order_relaxed) != 0; }

 private:
  static inline const region_row no_row{{1}, {0}, {0}, {0}};
  /// A region as its row said when it was read and checked. A row does not change while its key is valid.
  struct known_region {
    std::uint64_t key = 0;
    const region_row* row = &no_row;  ///< With the wrong key 0, which no region has.
    std::byte* start = nullptr;
    std::uint64_t shift = 0;  ///< From addresses here to offsets in the owner's arena.
    std::uint64_t length = 0;

    [[gnu::always_inline]] bool holds(std::uint64_t at, std::size_t size) const noexcept {
      std::uint64_t end = 0;
      return !__builtin_add_overflow(at, size, &end) && end <= length;
    }
    std::byte* place(std::uint64_t at, std::size_t size) const noexcept {
      return holds(at, size) ? start + at : nullptr;
    }
  };
  static_assert(rights::all == (rights::remote_write | rights::remote_read | rights::remote_atomic));
  [[gnu::always_inline]] known_region& last_for(rights asked) const noexcept {
    return known_[static_cast<std::uint8_t>(asked) >> 1];
  }
  [[gnu::noinline]] std::byte* find_another(remote_memory at, std::size_t size, rights asked) const noexcept {
    const region_row& row = head().table[at.key % arena_head::rows];
    if (at.key == 0 || row.key.load(std::memory_order_acquire) != at.key) return nullptr;
    const std::uint64_t place = row.place.load(std::memory_order_relaxed);
    const std::uint64_t length = row.length.load(std::memory_order_relaxed);
    const std::uint32_t flags = row.flags.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    // Released meanwhile; the row may belong to another region now.
    if (row.key.load(std::memory_order_relaxed) != at.key) return nullptr;
    if ((flags & region_row::in_arena) == 0 || place > here_.size() || length > here_.size() - place) return nullptr;
    if (!grants(static_cast<rights>(flags & 7U), asked)) return nullptr;
    std::byte* const start = here_.start() + place;
    const known_region found{at.key, &row, start, place - reinterpret_cast<std::uintptr_t>(start), length};
    for (const rights each : {rights::remote_write, rights::remote_read, rights::remote_atomic})
      if (each == asked || (last_for(each).key == 0 && grants(static_cast<rights>(flags & 7U), each)))
        last_for(each) = found;
    return found.place(at.address, size);
  }
  static constexpr std::uint64_t first_bytes = std::uint64_t{256} << 20;
  static_assert(first_bytes > sizeof(arena_head));
  arena_head& head() const noexcept { return *reinterpret_cast<arena_head*>(here_.start()); }

  mapping here_;
  mutable std::array<known_region, 3> known_;  ///< For writes, reads and atomics.
  std::uint64_t file_bytes_ = 0;
  mutable bool wants_growth_ = false;
};

}  // namespace weft::backends::mapped
