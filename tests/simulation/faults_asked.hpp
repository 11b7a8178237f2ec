// SPDX-License-Identifier: Apache-2.0
//
// The faults of a simulation by name, and sets of them. Weather is a probability for the whole run. A disturbance has a
// time, a node and a length.
// Hot path: no. Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::simulation {

enum class fault : std::uint8_t {
  // weather
  loss,
  reorder,
  delay,
  tear,
  again,       ///< Bursts in which every post returns `again`.
  wake,        ///< Waits that end without an event.
  stutter,     ///< A node stops for up to 2 ms, at any poll.
  handshakes,  ///< The first message of a connection arrives twice, the second time late.
  memory,      ///< A registration fails for want of memory.
  // disturbances
  one_way,    ///< Packets of one direction wait.
  partition,  ///< Packets of both directions wait.
  pause,      ///< A node stops.
  slow,       ///< A node stops again and again for a while.
  clock,      ///< A node's clock jumps ahead.
  crash,      ///< A process is killed, and starts again at the same address.
};
inline constexpr std::size_t fault_kinds = 15;
constexpr bool is_weather(fault f) noexcept { return f < fault::one_way; }

constexpr std::array<std::string_view, fault_kinds> fault_names{
    "loss",   "reorder", "delay",     "tear",  "again", "wake",  "stutter", "handshakes",
    "memory", "one_way", "partition", "pause", "slow",  "clock", "crash"};
constexpr std::string_view name_of(fault f) noexcept { return fault_names[static_cast<std::size_t>(f)]; }

/// A set of faults.
class fault_set {
 public:
  constexpr bool has(fault f) const noexcept { return (bits_ & bit(f)) != 0; }
  constexpr void add(fault f) noexcept { bits_ |= bit(f); }
  constexpr void remove(fault f) noexcept { bits_ &= ~bit(f); }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  static constexpr fault_set all() noexcept {
    fault_set every;
    every.bits_ = (1U << fault_kinds) - 1;
    return every;
  }
  /// Reads "all", "none" or names with commas between. Nothing for an unknown name.
  static std::optional<fault_set> parse(std::string_view text) {
    if (text == "all") return all();
    fault_set some;
    if (text == "none") return some;
    while (!text.empty()) {
      const std::string_view name = text.substr(0, text.find(','));
      text.remove_prefix(name.size() == text.size() ? name.size() : name.size() + 1);
      std::size_t found = 0;
      while (found < fault_kinds && fault_names[found] != name) ++found;
      if (found == fault_kinds) return std::nullopt;
      some.add(static_cast<fault>(found));
    }
    return some;
  }
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < fault_kinds; ++i)
      if (has(static_cast<fault>(i))) all += (all.empty() ? "" : ",") + std::string(fault_names[i]);
    return all.empty() ? "none" : all;
  }
  friend bool operator==(const fault_set&, const fault_set&) = default;

 private:
  static constexpr std::uint32_t bit(fault f) noexcept { return 1U << static_cast<std::uint32_t>(f); }
  std::uint32_t bits_ = 0;
};

}  // namespace weft::simulation
