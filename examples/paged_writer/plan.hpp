// SPDX-License-Identifier: Apache-2.0
//
// Parameters that both sides share, and the place of each page: the reader requests rounds, the writer fills them. A
// round is a buffer of pages; page p travels on rail p % rails, and each rail has its own random order. Two buffers
// take turns, so one round is in flight while the last is verified. Hot path: page_order only. Threads: values.
#pragma once

#include <weft/core/memory.hpp>
#include <weft/core/time.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::paged {

using namespace std::chrono_literals;

/// Rounds in flight at once: each has a buffer of its own.
inline constexpr std::uint32_t buffers = 2;

/// Of one run, from its command line.
struct plan {
  std::vector<std::string> nodes{"127.0.0.1"};   ///< Local address of each rail; with fewer than rails they take turns.
  std::uint32_t rails = 1;                       ///< Endpoints, each a transport of its own.
  bool one_thread = false;                       ///< One thread drives all rails, instead of one each.
  bool pinned = false;                           ///< Each thread stays on a processor.
  std::uint32_t first_processor = 0;             ///< Among those that the process may use.
  std::uint64_t total = std::uint64_t{1} << 28;  ///< Bytes to write and verify, at least.
  std::uint64_t page_bytes = 65536;
  std::uint32_t pages = 256;  ///< Of one round, all rails together.
  std::uint64_t seed = 1;
  std::uint32_t batch = 16;        ///< Pages posted between two polls of the queue.
  std::uint32_t window = 64;       ///< Pages of a rail in flight.
  std::uint32_t operations = 256;  ///< Operations of a transport; fewer than `window`: posts are answered `again`.
  bool eager = false;              ///< Post at once, not at the next poll.
  duration report{1s};             ///< Between two lines of progress; 0: none.
  duration patience{30s};          ///< Without any progress for so long: an error.
  std::uint64_t spoil = 0;  ///< The writer damages a word of this round (from 1), to show that the verification fails.

  std::uint64_t round_bytes() const noexcept { return page_bytes * pages; }
  std::uint64_t rounds() const noexcept { return (total + round_bytes() - 1) / round_bytes(); }
  std::uint64_t memory_bytes() const noexcept { return round_bytes() * buffers; }
  /// Pages of a round that this rail carries.
  std::uint32_t pages_of(std::uint32_t rail) const noexcept { return (pages - rail + rails - 1) / rails; }
  const std::string& node(std::uint32_t rail) const noexcept { return nodes[rail % nodes.size()]; }
};

/// One step of a generator that reaches every state (splitmix64).
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// The pages of a rail in the order in which they are written in this round: random, the same on both sides.
inline void page_order(std::vector<std::uint32_t>& into, std::uint64_t seed, std::uint64_t round, std::uint32_t rail,
                       std::uint32_t rails, std::uint32_t pages) {
  into.clear();
  for (std::uint32_t page = rail; page < pages; page += rails) into.push_back(page);
  std::uint64_t state = mixed(seed ^ mixed(round << 16 | rail));
  for (std::size_t left = into.size(); left > 1; --left) {
    state = mixed(state);
    std::swap(into[left - 1], into[state % left]);
  }
}

}  // namespace weft::paged
