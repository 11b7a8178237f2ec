// SPDX-License-Identifier: Apache-2.0
//
// Contents of a page: made from the run's seed, the round and the page, so that every round and page differs. A page
// that is missing, late, or at another place is found. Hot path: yes: two additions and a shift for eight bytes.
// Threads: any.
#pragma once

#include "plan.hpp"

#include <cstring>
#include <optional>

namespace weft::paged {

/// The words of one page.
class contents {
 public:
  constexpr contents(std::uint64_t seed, std::uint64_t round, std::uint32_t page) noexcept
      : base_(mixed(mixed(seed ^ mixed(round)) + page)) {}

  constexpr std::uint64_t word(std::size_t index) const noexcept {
    const std::uint64_t x = base_ + index * 0xd1342543de82ef95;
    return x ^ x >> 29;
  }
  void write(bytes page) const noexcept {
    for (std::size_t i = 0; i < page.size() / sizeof(std::uint64_t); ++i) {
      const std::uint64_t each = word(i);
      std::memcpy(page.data() + i * sizeof each, &each, sizeof each);
    }
  }
  /// Offset of the first wrong word, if there is one.
  std::optional<std::size_t> first_wrong(const_bytes page) const noexcept {
    std::uint64_t differences = 0;  // first without a branch for each word: this is the cost of a check
    for (std::size_t i = 0; i < page.size() / sizeof(std::uint64_t); ++i) differences |= word(i) ^ read(page, i);
    if (differences == 0) return std::nullopt;
    for (std::size_t i = 0; i < page.size() / sizeof(std::uint64_t); ++i)
      if (word(i) != read(page, i)) return i * sizeof(std::uint64_t);
    return std::nullopt;
  }

 private:
  static std::uint64_t read(const_bytes page, std::size_t index) noexcept {
    std::uint64_t each = 0;
    std::memcpy(&each, page.data() + index * sizeof each, sizeof each);
    return each;
  }
  std::uint64_t base_;
};

}  // namespace weft::paged
