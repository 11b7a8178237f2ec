// SPDX-License-Identifier: Apache-2.0
//
// What each contender of bench/transfers writes. Hot path: place_of. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::bench {

/// A list of `pages` pages of `size` bytes. `in_flight` of them are under way at once.
struct list_plan {
  std::size_t size = 0;
  std::uint32_t pages = 0;
  std::uint32_t in_flight = 0;
};

/// Posts between two polls, of each contender.
inline constexpr std::uint32_t posts_at_once = 16;

/// Page i goes to place place_of(i): each page has one place, and neighbours go apart.
constexpr std::uint32_t place_of(const list_plan& p, std::uint32_t i) noexcept {
  const std::uint32_t half = (p.pages + 1) / 2;
  return i < half ? 2 * i : 2 * (i - half) + 1;
}

}  // namespace weft::bench
