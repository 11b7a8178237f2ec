// SPDX-License-Identifier: Apache-2.0
//
// What coroutines wait for: an operation, a message, a notice, a time.
// The scheduler or a remote makes each awaiter, and the coroutine awaits it at once: `co_await there.put(from, at)`. A
// wait may have its own deadline: `co_await there.put(from, at).within(5ms)`.
// After a deadline the operation may still happen. The library owns its memory until the operation ends; the
// scheduler's in_flight() counts such operations.
// Hot path: yes. Threads: the owner's.
#pragma once

#include "../compose/events.hpp"
#include "waiter.hpp"

#include <cstdint>
#include <utility>

namespace weft::coroutines {

/// The result of an atomic. `old` is the value before it.
struct fetched {
  status why;
  std::uint64_t old = 0;
  explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

/// A message. Its bytes are valid until the coroutine waits again.
struct message {
  status why;
  weft::peer from;
  const_bytes bytes;
  explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

/// A notice. `from` is a null peer where the fabric does not name the writer.
struct notice {
  status why;
  weft::peer from;
  std::uint32_t immediate = 0;
  explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

/// The notices that a coroutine waits for: immediates that have `value` in the bits of `mask`. Default: all.
struct notice_match {
  std::uint32_t value = 0;
  std::uint32_t mask = 0;
  constexpr bool takes(std::uint32_t immediate) const noexcept { return (immediate & mask) == (value & mask); }
};

/// The wait for an operation, as the scheduler sees it.
struct operation_waiter : waiter {
  using waiter::waiter;
  std::uint64_t old = 0;
  /// Posts the operation. False: no ticket is free, or the transport answered `again`; try later.
  bool (*attempt)(operation_waiter&) noexcept = nullptr;
};
struct message_waiter : waiter {
  message_waiter(weft::peer of, instant until) noexcept : waiter(until), from(of) {}
  weft::peer from;  ///< A null peer: from any peer.
  received got;
};
struct notice_waiter : waiter {
  notice_waiter(notice_match which, instant until) noexcept : waiter(until), wants(which) {}
  notice_match wants;
  notified got;
};

/// Awaits an operation. `Post(context)` is the transport's posting call. When the call returns `again`, the coroutine
/// waits and posts later.
template <class Scheduler, class Post, class Value>
class [[nodiscard]] operation_awaiter : public operation_waiter {
 public:
  operation_awaiter(Scheduler& s, Post post, instant until = no_deadline) noexcept
      : operation_waiter(until), scheduler_(s), post_(std::move(post)) {}
  /// Sets a deadline of `most` from now. Without it the transport's operation_timeout ends the operation.
  operation_awaiter within(duration most) && noexcept {
    return operation_awaiter(scheduler_, std::move(post_), after(scheduler_.now(), most));
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) noexcept {
    resumes = h;
    return scheduler_.begin(*this, post_);
  }
  Value await_resume() const noexcept {
    if constexpr (std::same_as<Value, fetched>) return {why, old};
    else return why;
  }

 private:
  friend Scheduler;
  Scheduler& scheduler_;
  Post post_;
};

template <class Scheduler>
class [[nodiscard]] message_awaiter : public message_waiter {
 public:
  message_awaiter(Scheduler& s, weft::peer of, duration most) noexcept
      : message_waiter(of, after(s.now(), most)), scheduler_(s) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) noexcept {
    resumes = h;
    return scheduler_.expect(*this);
  }
  message await_resume() const noexcept { return {why, got.peer, got.message}; }

 private:
  Scheduler& scheduler_;
};

template <class Scheduler>
class [[nodiscard]] notice_awaiter : public notice_waiter {
 public:
  notice_awaiter(Scheduler& s, notice_match which, duration most) noexcept
      : notice_waiter(which, after(s.now(), most)), scheduler_(s) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) noexcept {
    resumes = h;
    return scheduler_.expect(*this);
  }
  notice await_resume() const noexcept { return {why, got.peer, got.immediate}; }

 private:
  Scheduler& scheduler_;
};

template <class Scheduler>
class [[nodiscard]] sleep_awaiter : public waiter {
 public:
  sleep_awaiter(Scheduler& s, duration most) noexcept : waiter(after(s.now(), most)), scheduler_(s) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept {
    resumes = h;
    scheduler_.expect(*this);
  }
  void await_resume() const noexcept {}

 private:
  Scheduler& scheduler_;
};

}  // namespace weft::coroutines
