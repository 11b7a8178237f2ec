// SPDX-License-Identifier: Apache-2.0
//
// Counts of a rail, for printing: one shard for each rail, in a cache line of its own, written by the rail's thread
// alone. Counters that the threads of all rails share cost libfabric-efa-demo a fifth of its rate. Hot path: yes: a
// load and a store. Threads: one writes, any reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace weft::paged {

/// Counts up; one thread writes, so no locked instruction is needed.
class tally {
 public:
  void add(std::uint64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

struct alignas(64) shard {
  tally bytes;   ///< Written (writer) or verified (reader).
  tally pages;   ///< Pages of these bytes.
  tally agains;  ///< Posts answered `again`.
  tally rounds;  ///< Begun (writer) or verified (reader).
};

struct totals {
  std::uint64_t bytes = 0, pages = 0, agains = 0, rounds = 0;
};
inline totals sum(const std::vector<shard>& all) noexcept {
  totals t;
  for (const shard& s : all) {
    t.bytes += s.bytes.read();
    t.pages += s.pages.read();
    t.agains += s.agains.read();
    t.rounds += s.rounds.read();
  }
  return t;
}

}  // namespace weft::paged
