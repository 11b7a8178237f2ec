// SPDX-License-Identifier: Apache-2.0
//
// What a process records about a run, for the checker. Simulated and live runs use the same plain records.
// Each process records what it posted, how that ended, and which events its handler got. The checker sees all sides.
// Hot path: a record is one append. Threads: values.
#pragma once

#include "../core/error.hpp"
#include "../core/memory.hpp"
#include "../core/time.hpp"

#include <cstdint>
#include <string_view>

namespace weft::history {

/// The kind of a record. Each kind lists the members that it uses.
enum class event : std::uint8_t {
  /// process, peer, id, work, at, deadline (0: none), value (immediate or operand), sum (of the bytes), subject
  /// (counter)
  posted,
  ended,          ///< process, id, outcome, at, value (old value of an atomic)
  notified,       ///< process (the target), peer (the writer), value (immediate), sum (of the bytes as seen then)
  received,       ///< process (the receiver), peer (the sender), value (the message's number or immediate), sum
  peer_lost,      ///< process, peer: from here on no operation towards this peer may succeed
  key_issued,     ///< process, value (the key)
  guard,          ///< process, subject (region), value (expected sum of the guard bytes), sum (actual sum)
  counter_start,  ///< process (the owner), subject (counter), value
  counter_end,    ///< process (the owner), subject (counter), value
  finished,       ///< process: it stopped in order; its history is complete
  /// process, id (an operation that ended well), value (expected sum of its bytes), sum (actual sum in memory)
  acknowledged,
};
inline constexpr std::uint8_t event_kinds = 11;

/// What was posted. `wait` is a blocking call without an operation of the fabric.
enum class work : std::uint8_t { send, put, put_notify, get, fetch_add, compare_swap, wait, other };
inline constexpr std::uint8_t work_kinds = 8;

/// One record. The program that starts the run numbers the processes; ids are unique within a process.
struct record {
  event what{};
  work kind{};
  errc outcome{};
  std::uint8_t summed = 0;  ///< Whether `sum` is valid.
  std::uint16_t process = 0;
  std::uint16_t peer = 0;
  std::uint32_t subject = 0;
  std::int64_t at = 0;        ///< Nanoseconds of the process's own clock.
  std::int64_t deadline = 0;  ///< On the same clock.
  std::uint64_t id = 0;
  std::uint64_t value = 0;
  std::uint64_t sum = 0;
  friend bool operator==(const record&, const record&) = default;
};

constexpr std::string_view name_of(event what) noexcept {
  constexpr std::string_view names[] = {"posted",      "ended",      "notified",    "received",
                                        "peer_lost",   "key_issued", "guard",       "counter_start",
                                        "counter_end", "finished",   "acknowledged"};
  return names[static_cast<std::uint8_t>(what)];
}
constexpr std::string_view name_of(work kind) noexcept {
  constexpr std::string_view names[] = {"send",      "put",          "put_notify", "get",
                                        "fetch_add", "compare_swap", "wait",       "other"};
  return names[static_cast<std::uint8_t>(kind)];
}

/// A 64-bit sum over bytes and their positions. It exposes accidental differences, not forged bytes.
constexpr std::uint64_t sum_of(const_bytes all) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const std::byte each : all) sum = (sum ^ static_cast<std::uint64_t>(each)) * 0x100000001b3U;
  return sum;
}

}  // namespace weft::history
