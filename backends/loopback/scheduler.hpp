// SPDX-License-Identifier: Apache-2.0
//
// Virtual time: a heap of due events, and the fibers that sleep until then.
// A run depends on its seed alone. Nothing is compared by address, and events of one instant run in an order drawn from
// the seed.
// Hot path: yes (every poll passes here). Threads: one.
#pragma once

#include "chance.hpp"
#include "fiber.hpp"
#include "ring.hpp"
#include "trace.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace weft::backends::loopback {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint32_t no_index = ~std::uint32_t{0};

/// Kinds of due events. `subject` is a task, a packet, an action, or a port whose receives are tried again.
enum class due_kind : std::uint8_t { wake, packet, action, feed };

struct due {
  std::int64_t at = 0;
  std::uint32_t tie = 0;  ///< Drawn from the seed. 0 comes before all others of the instant, in order of posting.
  std::uint64_t order = 0;
  due_kind kind{};
  std::uint32_t subject = 0;
  std::uint64_t ticket = 0;
};

/// A thread of control of a node.
struct task {
  std::unique_ptr<fiber, void (*)(fiber*)> thread{nullptr, &fiber::abandon};
  std::uint32_t node = 0;
  bool service = false;                ///< The run may end before it.
  std::uint64_t ticket = 0;            ///< Wake-ups with an older ticket are stale.
  std::uint32_t asleep_at = no_index;  ///< The port that it waits on without a deadline.
  bool condemned = false;              ///< Dies as soon as it leaves.
  std::int64_t processor_ns = 0;       ///< What it really took (scheduler::measured).
};

/// Runs due events, earliest first.
class scheduler {
 public:
  explicit scheduler(std::uint64_t seed) : draw(seed) { heap_.reserve(4096); }

  chance draw;
  trace log;
  std::uint32_t measured = 0;  ///< The first so many tasks count their processor's time. No run depends on it.
  std::vector<task> tasks;
  std::function<void(std::uint32_t)> on_packet;  ///< Set by the world: a packet is due.
  /// Set by the world: matches messages with receives again.
  std::function<void(std::uint32_t, std::uint64_t)> on_feed;
  /// Set by the world: when a node's fibers may run again; 0: now.
  std::function<std::int64_t(std::uint32_t)> paused_until;

  std::int64_t now() const noexcept { return now_; }
  std::int64_t limit() const noexcept { return limit_; }
  std::uint32_t running() const noexcept { return running_; }
  bool idle() const noexcept { return heap_.empty(); }
  /// Tasks, without services, that have not ended.
  std::size_t unfinished() const noexcept { return unfinished_; }
  std::int64_t next_due() const noexcept { return heap_.empty() ? never : heap_.front().at; }
  void set_limit(std::int64_t at) noexcept { limit_ = at; }

  void post(std::int64_t at, due_kind kind, std::uint32_t subject, std::uint64_t ticket = 0, bool first = false) {
    const auto tie = first ? 0U : static_cast<std::uint32_t>(draw.next() >> 33) + 1U;
    heap_.push_back({std::max(at, now_), tie, ++order_, kind, subject, ticket});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void post_action(std::int64_t at, std::function<void()> action) {
    auto slot = static_cast<std::uint32_t>(actions_.size());
    if (free_actions_.empty()) {
      actions_.emplace_back();
    } else {
      slot = free_actions_.back();
      free_actions_.pop_back();
    }
    actions_[slot] = std::move(action);
    post(at, due_kind::action, slot);
  }

  /// Runs the earliest due event. Returns the exception that left a fiber's body, if any. Requires: not idle.
  std::exception_ptr step() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const due next = heap_.back();
    heap_.pop_back();
    now_ = std::max(now_, next.at);
    switch (next.kind) {
      case due_kind::packet:
        on_packet(next.subject);
        break;
      case due_kind::action:
        act(next.subject);
        break;
      case due_kind::feed:
        on_feed(next.subject, next.ticket);
        break;
      case due_kind::wake:
        return wake(next);
    }
    return {};
  }

  /// Lets time pass for the caller. Earlier events run meanwhile.
  void pass(std::int64_t cost) { sleep_until(now_ + cost); }

  void sleep_until(std::int64_t at) {
    if (running_ == no_index) {
      while (!heap_.empty() && heap_.front().at <= at) (void)step();
      now_ = std::max(now_, at);
      return;
    }
    const std::int64_t resumes = std::max(at, paused_until(tasks[running_].node));
    if (resumes <= limit_ && next_due() > resumes) {
      now_ = resumes;
      return;
    }
    post(resumes, due_kind::wake, running_, tasks[running_].ticket);
    leave();
  }

  /// Stops the caller's fiber until a wake-up with its present ticket. Requires: a fiber is running.
  void leave() {
    const std::uint32_t self = running_;
    // No reference into `tasks`: it may grow while this fiber is away.
    fiber* thread = tasks[self].thread.get();
    thread->leave();
  }

  std::uint32_t add(std::uint32_t node, bool service, std::function<void()> body) {
    tasks.emplace_back();
    task& fresh = tasks.back();
    fresh.thread.reset(new fiber(std::move(body)));
    fresh.node = node;
    fresh.service = service;
    if (!service) ++unfinished_;
    const auto index = static_cast<std::uint32_t>(tasks.size() - 1);
    post(now_, due_kind::wake, index, 0);
    return index;
  }

  /// A task that will not run again. Its stack is given back.
  void drop(task& over) {
    if (!over.thread) return;
    if (!over.service) --unfinished_;
    over.thread.reset();
  }

 private:
  static bool later(const due& a, const due& b) noexcept {
    if (a.at != b.at) return a.at > b.at;
    if (a.tie != b.tie) return a.tie > b.tie;
    return a.order > b.order;
  }

  static std::int64_t processor_time() noexcept {
    timespec at{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
  }

  void act(std::uint32_t slot) {
    const std::function<void()> action = std::exchange(actions_[slot], nullptr);
    free_actions_.push_back(slot);
    action();
  }

  std::exception_ptr wake(const due& next) {
    task& sleeper = tasks[next.subject];
    if (!sleeper.thread || sleeper.thread->done() || sleeper.ticket != next.ticket) return {};
    if (const std::int64_t later_at = paused_until(sleeper.node); later_at > now_) {
      post(later_at, due_kind::wake, next.subject, next.ticket);
      return {};
    }
    ++sleeper.ticket;
    log.note(now_, trace_event::ran, sleeper.node, next.subject);
    fiber* thread = sleeper.thread.get();
    running_ = next.subject;
    const bool measures = next.subject < measured;
    const std::int64_t began = measures ? processor_time() : 0;
    thread->resume();
    running_ = no_index;
    task& stopped = tasks[next.subject];
    if (measures) stopped.processor_ns += processor_time() - began;
    const bool done = stopped.thread && stopped.thread->done();
    std::exception_ptr escaped = done ? stopped.thread->escaped() : std::exception_ptr{};
    if (done || stopped.condemned) drop(stopped);
    return escaped;
  }

  std::vector<due> heap_;
  std::vector<std::function<void()>> actions_;
  std::vector<std::uint32_t> free_actions_;
  std::uint64_t order_ = 0;
  std::size_t unfinished_ = 0;
  std::int64_t now_ = 1'000'000'000;  // Not zero: an instant of zero often means "none" to callers.
  std::int64_t limit_ = never;
  std::uint32_t running_ = no_index;
};

}  // namespace weft::backends::loopback
