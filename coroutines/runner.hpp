// SPDX-License-Identifier: Apache-2.0
//
// Runs coroutines: their frames, the list of spawned coroutines, and the deadlines of waits.
// It knows no transport. scheduler.hpp adds one; other sources of completions may do the same.
// Hot path: yes. Threads: one owner, that of the transport.
#pragma once

#include "task.hpp"
#include "waiter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weft::coroutines {

struct runner_options {
  std::uint32_t frames = 64;  ///< Coroutines alive at once, awaited ones included.
  /// The largest frame. Builds without optimisation need more: see frames().largest_asked().
  std::size_t frame_bytes = 2048;
  /// Operations that coroutines have in flight, at least 1. A further post waits until one ends.
  std::uint32_t operations = 256;
  /// Notices stored for coroutines that do not wait yet. 0: the handler of progress() gets them.
  std::uint32_t kept_notices = 256;
};

class runner {
 public:
  explicit runner(const runner_options& o) : frames_(o.frames, o.frame_bytes), tickets_(std::max(o.operations, 1U)) {}
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  ~runner() { stop(); }

  frame_pool& frames() noexcept { return frames_; }

  /// Starts a coroutine next to the running ones. Its result goes to `end`, which must live until then. Without `end`,
  /// a failure is counted (ended_badly). Errors: again (all frames are in use); no_memory (its frame is larger than
  /// frame_bytes). After an error it did not start.
  status spawn(task<status> t, status* end = nullptr) noexcept {
    if (!t) return frames_.left() == 0 ? again(waits_for::operation_slot, "spawn") : error(errc::no_memory, "spawn");
    const auto started = t.release();
    detail::promise_base& p = started.promise();
    p.owner = this;
    p.self = started;
    p.result_to = end;
    p.next = spawned_;
    if (spawned_ != nullptr) spawned_->previous = &p;
    spawned_ = &p;
    ++alive_;
    const resuming running(*this);
    started.resume();
    return {};
  }
  /// Spawned coroutines that have not ended.
  std::uint32_t alive() const noexcept { return alive_; }
  /// Failures of coroutines that were spawned without `end`, and the last such status.
  std::uint64_t ended_badly() const noexcept { return ended_badly_; }
  status last_bad_end() const noexcept { return last_bad_end_; }
  /// Operations in flight, including those whose coroutine gave up: the library still owns their memory.
  std::uint32_t in_flight() const noexcept { return tickets_.out(); }

  /// Destroys every spawned coroutine at its suspension point. Do not call it inside a coroutine.
  void stop() noexcept {
    while (spawned_ != nullptr) {
      detail::promise_base& p = *spawned_;
      unlist(p);
      p.self.destroy();
    }
  }

 protected:
  waiter_list<timed_place>& timed() noexcept { return timed_; }
  ticket_pool& tickets() noexcept { return tickets_; }

  /// Gives a waiter a deadline.
  void limit(waiter& w, instant due) noexcept {
    w.due = due;
    if (due == no_deadline) return;
    timed_.add(w);
    next_due_ = std::min(next_due_, due);
  }
  instant next_due() const noexcept { return next_due_; }
  /// While it lives, coroutines may run: a call that waits for them would wait for ever.
  class resuming {
   public:
    explicit resuming(runner& of) noexcept : of_(of), before_(std::exchange(of.inside_, true)) {}
    resuming(const resuming&) = delete;
    resuming& operator=(const resuming&) = delete;
    ~resuming() { of_.inside_ = before_; }

   private:
    runner& of_;
    bool before_;
  };
  bool is_inside() const noexcept { return inside_; }
  /// Ends the waits whose deadline has passed.
  void expire(instant now) noexcept {
    if (now < next_due_) return;
    waiter_list<timed_place> over;
    next_due_ = no_deadline;
    timed_.move_to(over, [&](const waiter& w) {
      if (w.due <= now) return true;
      next_due_ = std::min(next_due_, w.due);
      return false;
    });
    while (!over.empty()) over.front().wake(error(errc::deadline, "wait of a coroutine"));
  }

 private:
  friend void detail::ended(detail::promise_base& which, const status& how) noexcept;
  void unlist(detail::promise_base& p) noexcept {
    if (p.previous != nullptr) p.previous->next = p.next;
    else spawned_ = p.next;
    if (p.next != nullptr) p.next->previous = p.previous;
    --alive_;
  }

  frame_pool frames_;
  ticket_pool tickets_;
  waiter_list<timed_place> timed_;
  instant next_due_ = no_deadline;
  detail::promise_base* spawned_ = nullptr;
  std::uint32_t alive_ = 0;
  std::uint64_t ended_badly_ = 0;
  status last_bad_end_;
  bool inside_ = false;
};

inline void detail::ended(promise_base& which, const status& how) noexcept {
  runner& owner = *which.owner;
  owner.unlist(which);
  if (which.result_to != nullptr) *which.result_to = how;
  else if (!how) {
    ++owner.ended_badly_;
    owner.last_bad_end_ = how;
  }
}

}  // namespace weft::coroutines
