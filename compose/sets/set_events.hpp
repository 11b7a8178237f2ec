// SPDX-License-Identifier: Apache-2.0
//
// Events of one fabric of a set, on their way to the program's handler. Each names its peer, so they pass unchanged; the
// set only notes which fabrics have peers. Hot path: yes. Threads: the owner's.
#pragma once

#include "../events.hpp"

namespace weft::detail {

template <class Set, class Handler>
struct set_events {
  Set& set;
  Handler& on;

  [[gnu::always_inline]] void operator()(const completed& e) const { on(e); }
  [[gnu::always_inline]] void operator()(const failed& e) const { on(e); }
  [[gnu::always_inline]] bool operator()(const received& e) const { return offer(on, e); }
  [[gnu::always_inline]] void operator()(const notified& e) const { on(e); }
  void operator()(const requested& e) const {
    set.now_active(peer_access::member(e.peer));
    on(e);
  }
  void operator()(const connected& e) const { on(e); }
  void operator()(const lost& e) const {
    set.state_->lost_by = peer_access::member(e.peer);
    on(e);
  }
};

}  // namespace weft::detail
