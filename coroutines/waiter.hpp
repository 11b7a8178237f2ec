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

/// The context of an operation that somebody waits for.
template <class Waiter>
struct ticket_of {
  Waiter* waits = nullptr;  ///< Null: the waiter gave up, or is destroyed.
  ticket_of* next = nullptr;
};
using ticket = ticket_of<waiter>;

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
template <class Place, class Waiter = waiter>
class waiter_list {
 public:
  void add(Waiter& w) noexcept { static_cast<Place&>(w).enter(head_); }
  bool empty() const noexcept { return !head_.listed(); }
  Waiter& front() noexcept { return of(*head_.next); }
  /// The first waiter that fulfils `which`, or null.
  template <class Which>
  Waiter* find(Which&& which) noexcept {
    for (list_place* at = head_.next; at != &head_; at = at->next)
      if (which(of(*at))) return &of(*at);
    return nullptr;
  }
  /// Moves the waiters that fulfil `which` to another list. Calls `which` once for each waiter.
  template <class Which>
  void move_to(waiter_list& other, Which&& which) noexcept {
    for (list_place* at = head_.next; at != &head_;) {
      Waiter& w = of(*at);
      at = at->next;
      if (which(w)) other.add(w);
    }
  }

 private:
  static Waiter& of(list_place& at) noexcept { return static_cast<Waiter&>(static_cast<Place&>(at)); }
  list_place head_;
};

/// All tickets. Their number bounds the operations in flight that somebody may wait for.
template <class Waiter>
class ticket_pool_of {
  using ticket = ticket_of<Waiter>;

 public:
  explicit ticket_pool_of(std::uint32_t count) : all_(std::make_unique<ticket[]>(count)), count_(count) {
    for (std::uint32_t i = count; i > 0; --i) give(all_[i - 1]);
  }
  ticket* take(Waiter& w) noexcept {
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
  /// Takes back the ticket that is this context. Returns its waiter, or null if nobody waits.
  Waiter* redeem(void* context) noexcept {
    auto& t = *static_cast<ticket*>(context);
    Waiter* waits = t.waits;
    if (waits != nullptr) waits->held = nullptr;
    give(t);
    return waits;
  }
  bool holds(const void* context) const noexcept {
    const std::less<> before;
    return !before(context, all_.get()) && before(context, all_.get() + count_);
  }
  /// The place of the ticket that is this context. Requires: holds(context).
  std::size_t index_of(const void* context) const noexcept {
    return static_cast<std::size_t>(static_cast<const ticket*>(context) - all_.get());
  }
  /// Visits each waiter that has a ticket. It may give up its wait there.
  template <class Visit>
  void each_waiter(Visit&& visit) noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
      if (Waiter* const w = all_[i].waits; w != nullptr) visit(*w);
  }
  /// Operations that have not ended, including those without a waiter.
  std::uint32_t out() const noexcept { return out_; }

 private:
  std::unique_ptr<ticket[]> all_;
  std::uint32_t count_;
  ticket* free_ = nullptr;
  std::uint32_t out_ = 0;
};
using ticket_pool = ticket_pool_of<waiter>;

}  // namespace weft::coroutines
