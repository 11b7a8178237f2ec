// SPDX-License-Identifier: Apache-2.0
//
// "Tell me when n puts with this id are in." Counts notices by id, in whatever order they come: on fabrics without order the last write
// says nothing about those before it, a count does. Needs no counter of the library, so it works on every fabric.
// Notices that come before they are expected are counted too. Feed it from the handler of `notified`.
// Hot path: note(): a hash and a comparison, no allocation. Threads: the owner's.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

class notification_counter {
 public:
  /// `ids`: how many different ids may be under way at once. Allocates once, here.
  explicit notification_counter(std::uint32_t ids) {
    std::uint32_t size = 16;
    while (size < 2 * ids) size *= 2;
    entries_.resize(size);
  }

  /// Counts one notice. Returns false when the table is full of other ids: the notice was not counted.
  bool note(std::uint32_t id) noexcept {
    entry* e = place(id);
    if (e == nullptr) return false;
    ++e->seen;
    return true;
  }
  /// Notices with this id so far.
  std::uint64_t seen(std::uint32_t id) const noexcept {
    const std::uint32_t mask = static_cast<std::uint32_t>(entries_.size()) - 1;
    for (std::uint32_t i = 0, at = hash(id) & mask; i <= mask; ++i, at = (at + 1) & mask) {
      if (entries_[at].seen == 0) return 0;
      if (entries_[at].id == id) return entries_[at].seen;
    }
    return 0;
  }
  /// True when at least `count` notices with this id are in: `net.until([&] { return arrivals.reached(7, 64); }, 2s, on)`.
  bool reached(std::uint32_t id, std::uint64_t count) const noexcept { return seen(id) >= count; }
  /// Starts over, for the next epoch of ids.
  void clear() noexcept { entries_.assign(entries_.size(), entry{}); }

 private:
  struct entry {
    std::uint64_t seen = 0;  // 0: free
    std::uint32_t id = 0;
  };
  static constexpr std::uint32_t hash(std::uint32_t id) noexcept { return (id * 0x9e3779b9U) >> 7; }
  entry* place(std::uint32_t id) noexcept {
    const std::uint32_t mask = static_cast<std::uint32_t>(entries_.size()) - 1;
    for (std::uint32_t i = 0, at = hash(id) & mask; i <= mask; ++i, at = (at + 1) & mask) {
      if (entries_[at].seen != 0 && entries_[at].id != id) continue;
      entries_[at].id = id;
      return &entries_[at];
    }
    return nullptr;
  }

  std::vector<entry> entries_;
};

}  // namespace weft
