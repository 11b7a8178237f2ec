// SPDX-License-Identifier: Apache-2.0
//
// The regions of a port, found by their keys. weft draws the keys at random (policies/region_key.hpp), so a key is its
// own hash, and a peer cannot choose keys that collide.
// Each place that a peer names is checked here: key, rights, bounds.
// Hot path: reach. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../../core/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::backends::streams {

/// A place in a region, or why there is none.
struct reached_place {
  std::byte* at = nullptr;
  errc why = errc::ok;
};

class regions {
 public:
  regions() : table_(16) {}

  /// Requires: `key` is not 0 and not listed.
  void add(std::uint64_t key, bytes where, rights granted) {
    if (2 * (count_ + 1) > table_.size()) grow();
    place_for(key) = {key, where.data(), where.size(), granted};
    ++count_;
  }
  void erase(std::uint64_t key) noexcept {
    std::size_t hole = index_of(key);
    if (table_[hole].key != key || key == 0) return;
    --count_;
    // Entries behind the hole move up, so a search never ends early.
    for (std::size_t i = next(hole); table_[i].key != 0; i = next(i)) {
      const std::size_t home = table_[i].key & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      table_[hole] = table_[i];
      hole = i;
    }
    table_[hole] = {};
  }

  [[gnu::always_inline]] reached_place reach(std::uint64_t key, std::uint64_t offset, std::uint64_t size,
                                             rights asked) const noexcept {
    const entry& e = table_[index_of(key)];
    if (e.key != key || key == 0 || !grants(e.granted, asked)) [[unlikely]]
      return {nullptr, errc::denied};
    if (offset > e.size || size > e.size - offset) [[unlikely]]
      return {nullptr, errc::out_of_range};
    return {e.base + offset, errc::ok};
  }

 private:
  struct entry {
    std::uint64_t key = 0;  ///< 0: free.
    std::byte* base = nullptr;
    std::size_t size = 0;
    rights granted{};
  };
  std::size_t mask() const noexcept { return table_.size() - 1; }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask(); }
  /// Of the entry with the key, or of the free entry where the search ends.
  [[gnu::always_inline]] std::size_t index_of(std::uint64_t key) const noexcept {
    std::size_t i = key & mask();
    while (table_[i].key != key && table_[i].key != 0) i = next(i);
    return i;
  }
  entry& place_for(std::uint64_t key) noexcept { return table_[index_of(key)]; }
  void grow() {
    std::vector<entry> old(2 * table_.size());
    old.swap(table_);
    for (const entry& each : old)
      if (each.key != 0) place_for(each.key) = each;
  }

  std::vector<entry> table_;  ///< The size is a power of two; half of it stays free.
  std::size_t count_ = 0;
};

}  // namespace weft::backends::streams
