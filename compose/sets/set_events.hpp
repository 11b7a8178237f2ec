// SPDX-License-Identifier: Apache-2.0
//
// Events of one fabric of a set, on their way to the program's handler. Each names its peer, so they pass unchanged;
// the set only notes which fabrics have peers. Hot path: yes. Threads: the owner's.
#pragma once

#include "../events.hpp"

namespace weft::detail {

template <class Set, class Handler>
class set_events {
 public:
  set_events(Set& set_of, Handler& handler) noexcept : set(set_of), on(handler) {}

  [[gnu::always_inline]] void operator()(const completed& e) const { report(e); }
  [[gnu::always_inline]] void operator()(const failed& e) const { report(e); }
  [[gnu::always_inline]] bool operator()(const received& e) const {
    return set.handling([&]() __attribute__((always_inline)) { return offer(on, e); });
  }
  [[gnu::always_inline]] void operator()(const notified& e) const { report(e); }
  void operator()(const requested& e) const {
    set.now_active(peer_access::member(e.peer));
    report(e);
  }
  void operator()(const connected& e) const { report(e); }
  void operator()(const lost& e) const {
    set.state_->lost_by = peer_access::member(e.peer);
    report(e);
  }

 private:
  template <class Event>
  [[gnu::always_inline]] void report(const Event& e) const {
    set.handling([&]() __attribute__((always_inline)) { on(e); });
  }
  Set& set;
  Handler& on;
};

}  // namespace weft::detail
