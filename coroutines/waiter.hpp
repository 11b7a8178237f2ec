// SPDX-License-Identifier: Apache-2.0
//
// Waits of coroutines. A waiter lives in its coroutine's frame and is in lists. A ticket is the context of a posted
// operation.
// The ticket outlives the waiter. When a coroutine gives up or is destroyed, its ticket stays until the operation ends,
// and that end wakes no coroutine.
// Hot path: yes, lists without allocation. Threads: the owner's.
#pragma once

#include "../core/error.hpp"
#include "../core/time.hpp"

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>

namespace weft::coroutines {

/// A node of a circular list. Its destructor leaves the list.
struct list_place {
  list_place* previous = this;
  list_place* next = this;

  list_place() = default;
  list_place(const list_place&) = delete;
  list_place& operator=(const list_place&) = delete;
  ~list_place() { leave(); }
  bool listed() const noexcept { return next != this; }
  void leave() noexcept {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
  void enter(list_place& before) noexcept {
    leave();
    previous = before.previous;
    next = &before;
    previous->next = this;
    before.previous = this;
  }
};
struct timed_place : list_place {};
struct queue_place : list_place {};

struct waiter;

/// The context of an operation that a coroutine waits for.
struct ticket {
  waiter* waits = nullptr;  ///< Null: the coroutine gave up, or is destroyed.
  ticket* next = nullptr;
};

inline constexpr instant no_deadline = instant::max();

struct waiter : timed_place, queue_place {
  std::coroutine_handle<> resumes{};
  instant due = no_deadline;
  ticket* held = nullptr;
  status why;

  waiter() = default;
  explicit waiter(instant until) noexcept : due(until) {}
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  ~waiter() { forget(); }
  /// Waits for nothing any more. The operation's completion finds no waiter.
  void forget() noexcept {
    timed_place::leave();
    queue_place::leave();
    if (held != nullptr) held->waits = nullptr;
    held = nullptr;
  }
  /// Ends the wait and resumes the coroutine. The waiter may be destroyed afterwards.
  void wake(const status& how) noexcept {
    forget();
    why = how;
    resumes.resume();
  }
};

/// Waiters in order of arrival.
template <class Place>
class waiter_list {
 public:
  void add(waiter& w) noexcept { static_cast<Place&>(w).enter(head_); }
  bool empty() const noexcept { return !head_.listed(); }
  waiter& front() noexcept { return of(*head_.next); }
  /// The first waiter that fulfils `which`, or null.
  template <class Which>
  waiter* find(Which&& which) noexcept {
    for (list_place* at = head_.next; at != &head_; at = at->next)
      if (which(of(*at))) return &of(*at);
    return nullptr;
  }
  /// Moves the waiters that fulfil `which` to another list. Calls `which` once for each waiter.
  template <class Which>
  void move_to(waiter_list& other, Which&& which) noexcept {
    for (list_place* at = head_.next; at != &head_;) {
      waiter& w = of(*at);
      at = at->next;
      if (which(w)) other.add(w);
    }
  }

 private:
  static waiter& of(list_place& at) noexcept { return static_cast<waiter&>(static_cast<Place&>(at)); }
  list_place head_;
};

/// All tickets. Their number bounds the operations that coroutines have in flight.
class ticket_pool {
 public:
  explicit ticket_pool(std::uint32_t count) : all_(std::make_unique<ticket[]>(count)), count_(count) {
    for (std::uint32_t i = count; i > 0; --i) give(all_[i - 1]);
  }
  ticket* take(waiter& w) noexcept {
    if (free_ == nullptr) return nullptr;
    ticket* taken = free_;
    free_ = taken->next;
    ++out_;
    taken->waits = &w;
    return w.held = taken;
  }
  void give(ticket& t) noexcept {
    if (out_ > 0) --out_;
    t.waits = nullptr;
    t.next = free_;
    free_ = &t;
  }
  /// Takes back the ticket that is this context. Returns its waiter, or null if no coroutine waits.
  waiter* redeem(void* context) noexcept {
    auto& t = *static_cast<ticket*>(context);
    waiter* waits = t.waits;
    if (waits != nullptr) waits->held = nullptr;
    give(t);
    return waits;
  }
  bool holds(const void* context) const noexcept {
    const std::less<> before;
    return !before(context, all_.get()) && before(context, all_.get() + count_);
  }
  /// Operations that have not ended, including those without a waiter.
  std::uint32_t out() const noexcept { return out_; }

 private:
  std::unique_ptr<ticket[]> all_;
  std::uint32_t count_;
  ticket* free_ = nullptr;
  std::uint32_t out_ = 0;
};

}  // namespace weft::coroutines
