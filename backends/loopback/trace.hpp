// SPDX-License-Identifier: Apache-2.0
//
// The events of a simulated run in order, and one hash of them: runs with equal hashes did the same.
// The trace holds nothing that differs between processes or compilers: no pointers, and no payloads, because peers
// exchange addresses in them.
// Hot path: append is a few multiplications; lines are stored only on request. Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::backends::loopback {

/// The kind of a line.
enum class trace_event : std::uint8_t {
  ran,
  slept,
  departed,
  arrived,
  executed,
  starved,
  refused,
  ended,
  reported,
  changed,
  crashed,
  paused,
  lost,
  duplicated,
  cut,
  healed,
};

constexpr const char* name_of(trace_event what) noexcept {
  constexpr const char* names[] = {"ran",     "slept",      "departed", "arrived", "executed", "starved",
                                   "refused", "ended",      "reported", "changed", "crashed",  "paused",
                                   "lost",    "duplicated", "cut",      "healed"};
  return names[static_cast<std::uint8_t>(what)];
}

/// One line: time, subject (a node or a port, by kind), and two numbers that depend on the kind.
struct trace_line {
  std::int64_t at = 0;
  trace_event what{};
  std::uint32_t who = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

/// The run's trace and its 64-bit hash.
class trace {
 public:
  void note(std::int64_t at, trace_event what, std::uint32_t who, std::uint64_t first = 0, std::uint64_t second = 0) {
    mix(static_cast<std::uint64_t>(at));
    mix((std::uint64_t{who} << 8) | static_cast<std::uint8_t>(what));
    mix(first);
    mix(second);
    ++count_;
    if (keeps_) lines_.push_back({at, what, who, first, second});
  }
  /// Stores the lines too, from now on.
  void keep() { keeps_ = true; }
  std::uint64_t hash() const noexcept { return hash_; }
  std::uint64_t count() const noexcept { return count_; }
  const std::vector<trace_line>& lines() const noexcept { return lines_; }

  /// The last lines as text, for a failing test.
  std::string text(std::size_t last = 200) const {
    std::string all;
    for (std::size_t i = lines_.size() > last ? lines_.size() - last : 0; i < lines_.size(); ++i) {
      const trace_line& line = lines_[i];
      all += std::to_string(line.at) + " ns  " + name_of(line.what) + " " + std::to_string(line.who) + "  " +
             std::to_string(line.first) + " " + std::to_string(line.second) + "\n";
    }
    return all;
  }

 private:
  void mix(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15U;
    hash_ ^= hash_ >> 29;
  }

  std::uint64_t hash_ = 0x77656674U;
  std::uint64_t count_ = 0;
  bool keeps_ = false;
  std::vector<trace_line> lines_;
};

}  // namespace weft::backends::loopback
