// SPDX-License-Identifier: Apache-2.0
//
// What coroutines wait for: an operation's end, a message, a notice, a time. Each is made by the scheduler or a remote,
// and awaited at once: `co_await there.put(from, at)`, with a deadline of its own `co_await there.put(from,
// at).within(5ms)`. After a deadline the operation may still happen, and its memory belongs to the library until it
// ended: the scheduler's in_flight() tells. Hot path: yes. Threads: the owner's.
#pragma once

#include "../compose/events.hpp"
#include "waiter.hpp"

#include <cstdint>
#include <utility>

namespace weft::coroutines {

/// How an atomic ended: `old` is the value before it.
struct fetched {
  status why;
  std::uint64_t old = 0;
  explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

/// A message; its bytes are valid until the coroutine waits again.
struct message {
  status why;
  weft::peer from;
  const_bytes bytes;
  explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

/// A notice; `from` is nobody where the fabric does not say who wrote.
struct notice {
  status why;
  weft::peer from;
  std::uint32_t immediate = 0;
  explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

/// Which notices a coroutine waits for: those whose immediate has `value` in the bits of `mask`. All, by default.
struct notice_match {
  std::uint32_t value = 0;
  std::uint32_t mask = 0;
  constexpr bool takes(std::uint32_t immediate) const noexcept { return (immediate & mask) == (value & mask); }
};

/// Waits of an operation, as the scheduler sees them.
struct operation_waiter : waiter {
  using waiter::waiter;
  std::uint64_t old = 0;
  bool (*attempt)(operation_waiter&) noexcept = nullptr;  ///< Posts it. False: nothing is free, try again later.
};
struct message_waiter : waiter {
  message_waiter(weft::peer of, instant until) noexcept : waiter(until), from(of) {}
  weft::peer from;  ///< Nobody: of anyone.
  received got;
};
struct notice_waiter : waiter {
  notice_waiter(notice_match which, instant until) noexcept : waiter(until), wants(which) {}
  notice_match wants;
  notified got;
};

/// An operation. `Post(context)` is the transport's posting call; when it is answered `again` the coroutine waits its
/// turn.
template <class Scheduler, class Post, class Value>
class [[nodiscard]] operation_awaiter : public operation_waiter {
 public:
  operation_awaiter(Scheduler& s, Post post, instant until = no_deadline) noexcept
      : operation_waiter(until), scheduler_(s), post_(std::move(post)) {}
  /// Gives up after `most`; without it the transport's operation_timeout ends the operation.
  operation_awaiter within(duration most) && noexcept {
    return operation_awaiter(scheduler_, std::move(post_), scheduler_.now() + most);
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
      : message_waiter(of, s.now() + most), scheduler_(s) {}
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
      : notice_waiter(which, s.now() + most), scheduler_(s) {}
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
  sleep_awaiter(Scheduler& s, duration most) noexcept : waiter(s.now() + most), scheduler_(s) {}
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
