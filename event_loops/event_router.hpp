// SPDX-License-Identifier: Apache-2.0
//
// The handler of a dispatcher's transport: what each event ends. Hot path: yes, inlined. Threads: the owner's.
#pragma once

#include "../core/describe.hpp"
#include "pending.hpp"

#include <vector>

namespace weft::event_loops::detail {

template <class Dispatcher>
struct event_router {
  Dispatcher& d;
  void operator()(const completed& e) const { d.ends(e.context, {{}, e.peer, e.old}); }
  void operator()(const failed& e) const { d.ends(e.context, {e.why, e.peer}); }
  bool operator()(const received& e) const { return d.takes(e); }
  void operator()(const notified& e) const { d.takes(e); }
  void operator()(const requested& e) const { d.takes(e); }
  void operator()(const connected& e) const {
    if (pending* p = d.for_connections_.find([&](const pending& each) { return each.from == e.peer; }))
      d.end(*p, {{}, e.peer});
  }
  void operator()(const lost& e) const {
    d.last_refusal_ = d.net_.reason().empty() ? describe(e.why) : d.net_.reason();
    std::erase(d.callers_, e.peer);
    d.end_all_of(e.peer, e.why);
    if (d.lost_) d.lost_(e);
  }
};

}  // namespace weft::event_loops::detail
