// SPDX-License-Identifier: Apache-2.0
//
// What counters count, of one peer and of a whole transport: plain numbers, which only grow. A fabric's library has no
// such counts that are the same on every fabric: those of fi_cntr(3) and of a card's ports do not name peers. Hot path:
// the sums. Threads: values.
#pragma once

#include "../events.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft {

/// The operations that are counted apart. A tagged send is a send, and all atomics are one kind.
enum class traffic : std::uint8_t { send, put, put_notify, get, atomic, flush };
inline constexpr std::size_t traffic_kinds = 6;

/// The kind under which an operation counts. Requires: not operation::receive_tagged, which counts as a message.
constexpr traffic traffic_of(operation what) noexcept {
  switch (what) {
    case operation::put:
      return traffic::put;
    case operation::put_notify:
      return traffic::put_notify;
    case operation::get:
      return traffic::get;
    case operation::flush:
      return traffic::flush;
    default:
      return is_atomic(what) ? traffic::atomic : traffic::send;
  }
}

inline const char* name_of(traffic kind) noexcept {
  static constexpr const char* names[traffic_kinds] = {"send", "put", "put_notify", "get", "atomic", "flush"};
  return names[static_cast<std::size_t>(kind)];
}

/// Operations of one kind.
struct operation_counters {
  std::uint64_t posted = 0;     ///< Posts that the transport took.
  std::uint64_t bytes = 0;      ///< Bytes of these posts.
  std::uint64_t completed = 0;  ///< Events `completed`. Posts without a context have none.
  std::uint64_t failed = 0;     ///< Events `failed`, also of posts without a context.
};

/// What went to one peer and came from it.
struct peer_counters {
  std::array<operation_counters, traffic_kinds> operations{};
  std::uint64_t again = 0;          ///< Posts that returned `again`.
  std::uint64_t refused = 0;        ///< Posts that returned another error.
  std::uint64_t messages = 0;       ///< Messages that the handler took, and messages that tagged receives took.
  std::uint64_t message_bytes = 0;  ///< Their bytes.
  std::uint64_t notices = 0;        ///< Events `notified`.

  const operation_counters& of(traffic kind) const noexcept { return operations[static_cast<std::size_t>(kind)]; }
};

/// The counters of a transport.
struct transport_counters {
  peer_counters traffic;           ///< Of all peers that ever were, and of events that name no peer.
  std::uint64_t polls = 0;         ///< Calls of progress(). Polls inside of waiting calls do not count.
  std::uint64_t polls_found = 0;   ///< Those that found entries.
  std::uint64_t peers_met = 0;     ///< Connections that were established.
  std::uint64_t peers_lost = 0;    ///< Events `lost`.
  std::uint64_t stale = 0;         ///< transport::stale()
  std::uint64_t garbled = 0;       ///< transport::garbled()
  std::uint64_t turned_away = 0;   ///< transport::turned_away()
  std::uint64_t sleeps = 0;        ///< sleep_counts::sleeps
  std::uint64_t timed_sleeps = 0;  ///< sleep_counts::timed
  std::uint64_t missed_wakes = 0;  ///< sleep_counts::missed_wakes
};

namespace detail {
static_assert(sizeof(peer_counters) == 29 * sizeof(std::uint64_t), "a file of counters has no padding");
static_assert(sizeof(transport_counters) == 39 * sizeof(std::uint64_t), "a file of counters has no padding");

/// Adds every number of one group to another.
inline void add_to(peer_counters& sum, const peer_counters& more) noexcept {
  for (std::size_t i = 0; i < traffic_kinds; ++i) {
    sum.operations[i].posted += more.operations[i].posted;
    sum.operations[i].bytes += more.operations[i].bytes;
    sum.operations[i].completed += more.operations[i].completed;
    sum.operations[i].failed += more.operations[i].failed;
  }
  sum.again += more.again;
  sum.refused += more.refused;
  sum.messages += more.messages;
  sum.message_bytes += more.message_bytes;
  sum.notices += more.notices;
}
}  // namespace detail

}  // namespace weft
