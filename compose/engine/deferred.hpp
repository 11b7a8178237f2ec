// SPDX-License-Identifier: Apache-2.0
//
// Operations that still defer something and found no room for it, or may not speak yet: notices, parts, compare-swaps,
// questions, and ends that are due at the next look. A list by index through the slots. What is worked off while
// handlers of users run stays on a list of its own: a handler may close a peer or post, and then what it ended leaves
// both lists, and what it added waits for the next look. Hot path: `empty`. Threads: the owner's.
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

  /// At the next look, behind those that wait already. Requires: on no list.
  void add(Slot& s) noexcept { append(later_, s); }
  /// In this look: next of all. Requires: on no list; between begin() and the take() that returns null.
  void add_now(Slot& s) noexcept {
    s.next = now_.first;
    now_.first = s.index;
    if (now_.last == no_index) now_.last = s.index;
  }

  /// All that wait are due now.
  void begin() noexcept { now_ = std::exchange(later_, {}); }
  /// The next that is due; it is on no list then. Null: no more.
  Slot* take() noexcept {
    if (now_.first == no_index) return nullptr;
    Slot& s = *all_.at(now_.first);
    now_.first = s.next;
    if (now_.first == no_index) now_.last = no_index;
    return &s;
  }

  /// Takes those that are due and that `which(slot)` says yes to off their list, in their order. It may change `next`
  /// of those.
  template <class Which>
  void take_due(Which&& which) noexcept {
    filter(now_, which);
  }
  /// Takes those that `which(slot)` says yes to off both lists: they end in another way, and what they deferred will
  /// not come.
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
