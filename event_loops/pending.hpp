// SPDX-License-Identifier: Apache-2.0
//
// Something that a program waits for: the end of an operation, a message, a notice, a peer. It lives in memory of its
// initiator (an Asio handler's, a sender's operation state) and is in lists, so beginning one allocates nothing.
// Hot path: yes. Threads: the owner's.
#pragma once

#include "../compose/events.hpp"
#include "../coroutines/awaiters.hpp"

#include <cstdint>
#include <memory>

namespace weft::event_loops {

using coroutines::notice_match;

/// How a wait ended. `number`: the bytes of a message, the immediate of a notice, or the word before an atomic.
struct outcome {
  status why;
  weft::peer peer{};
  std::uint64_t number = 0;
  bool cancelled = false;  ///< By cancel(). The library may still use the memory of the operation.
};

/// What one operation may take, and what it keeps.
struct operation_options {
  /// The wait ends with errc::deadline when this time has passed. A post that is in flight goes on.
  duration timeout = duration::max();
  /// The owner of the operation's memory. It is released when the library has let go of the memory, which may be after
  /// the end: an operation that was cancelled, or whose time is over, still reads or writes.
  std::shared_ptr<const void> keeps{};
};

struct dispatcher_options {
  std::uint32_t operations = 256;    ///< In flight at once, at least 1. A further post waits until one ends.
  std::uint32_t kept_notices = 256;  ///< Notices stored while nobody waits. Further ones are counted and dropped.
  std::uint32_t kept_callers = 16;   ///< Requests stored while nobody accepts. Further ones are rejected.
};

struct pending;
using ticket = coroutines::ticket_of<pending>;

struct pending : coroutines::timed_place, coroutines::queue_place {
  /// Takes the outcome. Called once, outside the transport's progress(). The pending may be destroyed there.
  void (*ended)(pending&) noexcept = nullptr;
  /// Gives its memory back, where the dispatcher ends before deliver() came to it. Null: nothing to do.
  void (*dropped)(pending&) noexcept = nullptr;
  /// Posts what `request` describes. `again`: later.
  status (*post)(void* request, void* context) noexcept = nullptr;
  void* request = nullptr;
  instant due = coroutines::no_deadline;
  ticket* held = nullptr;
  weft::peer from{};   ///< The peer that a message, a connection or a region is awaited of. Nobody: any.
  bytes into{};        ///< Where the message goes.
  notice_match wants;  ///< The notices that are awaited.
  outcome got;
  std::shared_ptr<const void> keeps;  ///< operation_options::keeps
  bool is_ready = false;              ///< It ended, and deliver() has not called its initiator yet.

  pending() = default;
  pending(const pending&) = delete;
  pending& operator=(const pending&) = delete;
  ~pending() { forget(); }
  /// Waits for nothing any more. The operation's end finds nobody.
  void forget() noexcept {
    timed_place::leave();
    queue_place::leave();
    if (held != nullptr) held->waits = nullptr;
    held = nullptr;
  }
  bool waits() const noexcept { return !is_ready && (queue_place::listed() || held != nullptr); }
};

}  // namespace weft::event_loops
