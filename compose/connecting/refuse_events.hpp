// SPDX-License-Identifier: Apache-2.0
//
// The handler of waiting calls whose caller passes none. Messages stay for later; any other event ends the wait with an
// error, so that no event is lost in silence. Hot path: no. Threads: the owner's.
#pragma once

#include "../events.hpp"

namespace weft::detail {

struct refuse_events {
  const char* seen = nullptr;
  void operator()(const completed&) { seen = "the completion of an operation"; }
  void operator()(const failed&) { seen = "the failure of an operation"; }
  bool operator()(const received&) { return false; }
  void operator()(const notified&) { seen = "a notice"; }
  void operator()(const requested&) { seen = "a request to connect"; }
  void operator()(const connected&) { seen = "a connection"; }
  void operator()(const lost&) { seen = "the loss of a peer"; }
};

/// The name of an event that ended the wait. Null: no such event, or the caller passed a handler.
template <class Handler>
const char* interrupted(const Handler& on) noexcept {
  if constexpr (requires { on.seen; }) return on.seen;
  else return nullptr;
}

}  // namespace weft::detail
