// SPDX-License-Identifier: Apache-2.0
//
// The memory that a transport shares with all its peers: a table of its regions, and the bytes of regions that it
// allocated.
// Each transport has one file. A peer maps it once, in the handshake, so the first use of a region needs no message.
// A key is a row of the table and 48 bits that no other region had: a lookup reads one row.
// The system gets the bytes of a released region back at once. Their addresses are reused as late as possible, so a
// late write hits no other region.
// Hot path: no; peer_memory.hpp is what peers use. Threads: the owner's; peers read the table.
#pragma once

#include "../../core/memory.hpp"
#include "sealed_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace weft::backends::mapped {

/// One region, as its owner announces it to all peers. The owner writes `key` last and erases it first.
struct alignas(64) region_row {
  /// Flag next to the bits of `rights`. Without it `place` is an address of the owner.
  static constexpr std::uint32_t in_arena = 8;
  std::atomic<std::uint64_t> key{0};
  std::atomic<std::uint64_t> place{0};
  std::atomic<std::uint64_t> length{0};
  std::atomic<std::uint32_t> flags{0};
};

/// The beginning of an arena's file.
struct arena_head {
  static constexpr std::uint64_t rows = 1U << 16;
  std::atomic<std::uint64_t> reach{0};   ///< End of the bytes that may be in use.
  std::atomic<std::uint32_t> asleep{0};  ///< The owner sleeps, or is about to sleep: a sender wakes it.
  std::array<region_row, rows> table;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
              "weft: processes share these words, so that no lock of one process may stand for them [WEFT-C039]");

/// Allocates pieces of a range in ascending order. A freed piece is reused after the allocation reached the end.
class range_of_pages {
 public:
  static constexpr std::uint64_t page = 4096;
  range_of_pages(std::uint64_t from, std::uint64_t to) : free_{{from, to}}, next_(from) {}

  /// Returns the start; 0: no piece is large enough. Makes room for give(), which a destructor may call.
  std::uint64_t take(std::uint64_t size) {
    if (free_.capacity() < taken_ + 3) free_.reserve(2 * (taken_ + 3));
    for (const std::uint64_t from : {next_, std::uint64_t{0}})
      for (std::size_t i = 0; i < free_.size(); ++i) {
        const std::uint64_t start = std::max(free_[i].from, from);
        if (start >= free_[i].to || size > free_[i].to - start) continue;
        cut(i, start, start + size);
        next_ = start + size;
        ++taken_;
        return start;
      }
    return 0;
  }
  /// Allocates nothing: between taken pieces there are at most as many free ones and one more.
  void give(std::uint64_t start, std::uint64_t size) {
    --taken_;
    auto at = std::find_if(free_.begin(), free_.end(), [start](const piece& p) { return p.from > start; });
    at = free_.insert(at, {start, start + size});
    if (at + 1 != free_.end() && (at + 1)->from == at->to) {
      at->to = (at + 1)->to;
      free_.erase(at + 1);
    }
    if (at != free_.begin() && (at - 1)->to == at->from) {
      (at - 1)->to = at->to;
      free_.erase(at);
    }
  }

 private:
  struct piece {
    std::uint64_t from, to;
  };
  void cut(std::size_t i, std::uint64_t start, std::uint64_t end) {
    const piece whole = free_[i];
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    const auto at = free_.begin() + static_cast<std::ptrdiff_t>(i);
    if (end < whole.to) free_.insert(at, {end, whole.to});
    if (whole.from < start) free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(i), {whole.from, start});
  }

  std::vector<piece> free_;
  std::size_t taken_ = 0;
  std::uint64_t next_;
};

/// The owner's side of an arena.
class arena {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 30, least_bytes = std::uint64_t{1} << 30;

  /// Makes an arena of 64 GiB, or of a half, a quarter and so on. A process may have fewer addresses (by a limit, or by
  /// a tool that it runs under), or may make no such file.
  static result<std::unique_ptr<arena>> make(const std::string& who) {
    for (std::uint64_t size = most_bytes;; size /= 2) {
      auto memory = sealed_memory(size, who);
      if (!memory && size > least_bytes) continue;
      if (!memory) return std::move(memory).error();
      auto here = mapping::of(*memory, size, who);
      if (here) return std::unique_ptr<arena>(new arena(std::move(memory).value(), std::move(here).value()));
      if (size <= least_bytes) return std::move(here).error();
    }
  }
  std::uint64_t size() const noexcept { return here_.size(); }

  const file& memory() const noexcept { return memory_; }
  arena_head& head() const noexcept { return *head_; }
  std::byte* start() const noexcept { return here_.start(); }
  /// The bytes that a peer must map to reach every region announced so far.
  std::uint64_t reach() const noexcept { return head_->reach.load(std::memory_order_relaxed); }

  /// Allocates zeroed bytes, aligned to a page. Empty: the arena is full.
  bytes take(std::size_t size) {
    const std::uint64_t whole = rounded(size);
    const std::uint64_t start = whole < size ? 0 : pages_.take(whole);
    if (start == 0) return {};
    if (start + whole > reach()) head_->reach.store(start + whole, std::memory_order_release);
    return {here_.start() + start, size};
  }
  /// Returns the bytes to the system. They are zero for their next user.
  void give(bytes gone) {
    const auto start = static_cast<std::uint64_t>(gone.data() - here_.start());
    (void)::fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(start),
                      static_cast<off_t>(rounded(gone.size())));
    pages_.give(start, rounded(gone.size()));
  }
  bool holds(const_bytes some) const noexcept {
    const auto* start = reinterpret_cast<const std::byte*>(head_);
    return some.data() >= start && some.data() < start + here_.size() &&
           some.size() <= static_cast<std::size_t>(start + here_.size() - some.data());
  }

  /// Announces a region to peers and returns its key. 0: all rows of the table are in use.
  std::uint64_t list(bytes region, rights granted) {
    if (unused_.empty() && rows_used_ == arena_head::rows) return 0;
    if (unused_.empty()) {
      // Room for erase() of all rows: a destructor may call it.
      if (unused_.capacity() <= rows_used_) unused_.reserve(2 * (std::size_t{rows_used_} + 1));
      unused_.push_back(rows_used_++);
    }
    const std::uint32_t index = unused_.back();
    unused_.pop_back();
    region_row& row = head_->table[index];
    const bool inside = holds(region);
    row.place.store(inside ? static_cast<std::uint64_t>(region.data() - here_.start())
                           : reinterpret_cast<std::uintptr_t>(region.data()),
                    std::memory_order_relaxed);
    row.length.store(region.size(), std::memory_order_relaxed);
    row.flags.store(static_cast<std::uint32_t>(granted) | (inside ? region_row::in_arena : 0),
                    std::memory_order_relaxed);
    const std::uint64_t key = fresh_key(index);
    row.key.store(key, std::memory_order_release);
    return key;
  }
  void erase(std::uint64_t key) {
    region_row& row = head_->table[key % arena_head::rows];
    row.key.store(0, std::memory_order_relaxed);
    row.flags.store(0, std::memory_order_release);
    unused_.push_back(static_cast<std::uint32_t>(key % arena_head::rows));
  }

 private:
  arena(file memory, mapping here)
      : memory_(std::move(memory)),
        here_(std::move(here)),
        // The file is zero already. A constructor would touch every row.
        head_(reinterpret_cast<arena_head*>(here_.start())),
        pages_(rounded(sizeof(arena_head)), here_.size()),
        draw_(std::random_device{}()),
        count_(draw_() << 32 | draw_()) {
    head_->reach.store(rounded(sizeof(arena_head)), std::memory_order_relaxed);
  }
  static constexpr std::uint64_t rounded(std::uint64_t size) noexcept {
    return (size + range_of_pages::page - 1) / range_of_pages::page * range_of_pages::page;
  }
  /// An odd step from a random start: 2^48 different values before the first one repeats.
  std::uint64_t fresh_key(std::uint32_t index) {
    do count_ += 0x9e37'79b9'7f4b;
    while (count_ << 16 == 0);
    return count_ << 16 | index;
  }

  file memory_;
  mapping here_;
  arena_head* head_;
  range_of_pages pages_;
  std::uint32_t rows_used_ = 0;
  std::vector<std::uint32_t> unused_;  ///< Free rows below rows_used_.
  std::mt19937_64 draw_;
  std::uint64_t count_;
};

}  // namespace weft::backends::mapped
