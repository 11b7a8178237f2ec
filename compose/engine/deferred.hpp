// SPDX-License-Identifier: Apache-2.0
//
// Operations with a call that found no room or must wait: notices, parts, compare-swaps, flush requests, and ends that
// the next poll reports. The list links slots by their index. Operations of the current poll are on a second list,
// because a handler may close a peer or post. An operation that the handler ended leaves both lists, and one that the
// handler added waits for the next poll. Hot path: empty(). Threads: the owner's.
#pragma once

#include "operations.hpp"

#include <cstdint>
#include <utility>

namespace weft::detail {

template <class Slot>
class deferred_list {
 public:
  explicit deferred_list(operation_pool<Slot>& all) noexcept : all_(all) {}

  bool empty() const noexcept { return later_.first == no_index && now_.first == no_index; }

  /// Adds the slot for the next poll, at the end. Requires: on no list.
  void add(Slot& s) noexcept { append(later_, s); }
  /// Adds the slot for this poll, at the front. Requires: on no list; between begin() and the take() that returns null.
  void add_now(Slot& s) noexcept {
    s.next = now_.first;
    now_.first = s.index;
    if (now_.last == no_index) now_.last = s.index;
  }

  /// All waiting operations are due now.
  void begin() noexcept { now_ = std::exchange(later_, {}); }
  /// The next due operation, which is then on no list. Null: no more.
  Slot* take() noexcept {
    if (now_.first == no_index) return nullptr;
    Slot& s = *all_.at(now_.first);
    now_.first = s.next;
    if (now_.first == no_index) now_.last = no_index;
    return &s;
  }

  /// Removes the due operations for which `which(slot)` is true, in their order. `which` may change their `next`.
  template <class Which>
  void take_due(Which&& which) noexcept {
    filter(now_, which);
  }
  /// Removes the operations for which `which(slot)` is true from both lists. They end in another way.
  template <class Which>
  void forget(Which&& which) noexcept {
    const auto dropped = [&which](Slot& s) {
      if (!which(s)) return false;
      if (s.pending > 0) --s.pending;
      return true;
    };
    filter(now_, dropped);
    filter(later_, dropped);
  }

 private:
  struct bounds {
    std::uint32_t first = no_index, last = no_index;
  };

  void append(bounds& list, Slot& s) noexcept {
    s.next = no_index;
    if (list.last == no_index) list.first = s.index;
    else all_.at(list.last)->next = s.index;
    list.last = s.index;
  }
  template <class Which>
  void filter(bounds& list, Which&& which) noexcept {
    for (std::uint32_t i = std::exchange(list, {}).first; i != no_index;) {
      Slot& s = *all_.at(i);
      i = s.next;
      if (!which(s)) append(list, s);
    }
  }

  operation_pool<Slot>& all_;
  bounds later_, now_;
};

}  // namespace weft::detail
