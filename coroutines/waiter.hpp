// SPDX-License-Identifier: Apache-2.0
//
// Who waits for what: a waiter lies in its coroutine's frame and is in lists; a ticket is what the transport holds as
// an operation's context. The ticket outlives the waiter: when a coroutine gave up (deadline) or is gone, its ticket
// stays until the operation ends, and nobody is woken. Hot path: yes, lists without allocation. Threads: the owner's.
#pragma once

#include "../core/error.hpp"
#include "../core/time.hpp"

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>

namespace weft::coroutines {

/// A place in a circular list. Leaves it when it ends.
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
  waiter* waits = nullptr;  ///< Null: gave up, or is gone.
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
  /// Waits for nothing any more; the operation's end will find nobody.
  void forget() noexcept {
    timed_place::leave();
    queue_place::leave();
    if (held != nullptr) held->waits = nullptr;
    held = nullptr;
  }
  /// Ends the wait and goes on with the coroutine. The waiter may be gone afterwards.
  void wake(const status& how) noexcept {
    forget();
    why = how;
    resumes.resume();
  }
};

/// Waiters in the order in which they came.
template <class Place>
class waiter_list {
 public:
  void add(waiter& w) noexcept { static_cast<Place&>(w).enter(head_); }
  bool empty() const noexcept { return !head_.listed(); }
  waiter& front() noexcept { return of(*head_.next); }
  /// The first of which `which` holds, or null.
  template <class Which>
  waiter* find(Which&& which) noexcept {
    for (list_place* at = head_.next; at != &head_; at = at->next)
      if (which(of(*at))) return &of(*at);
    return nullptr;
  }
  /// Moves those of which `which` holds to another list. `which` sees each once.
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

/// All tickets: the bound of operations that coroutines have in flight.
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
  /// Takes the ticket back that a context is. Returns who waits for it: null if nobody does any more.
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
  /// Operations that have not ended, those that nobody waits for any more included.
  std::uint32_t out() const noexcept { return out_; }

 private:
  std::unique_ptr<ticket[]> all_;
  std::uint32_t count_;
  ticket* free_ = nullptr;
  std::uint32_t out_ = 0;
};

}  // namespace weft::coroutines
