// SPDX-License-Identifier: Apache-2.0
//
// The handler of waiting calls whose caller passes none. Messages stay for later; any other event ends the wait with an
// error, so that no event is lost in silence. Hot path: no. Threads: the owner's.
#pragma once

#include "../engine/erased_handler.hpp"
#include "../events.hpp"

#include <type_traits>

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

/// A handler of a waiting call, and the place where refuse_events names the event that ended the wait.
class waiting_handler {
 public:
  template <class Handler>
  waiting_handler(Handler& on) noexcept : on_(erased_handler::of(on)) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<Handler, refuse_events>) seen_ = &on.seen;
  }
  erased_handler events() const noexcept { return on_; }
  /// Whether nobody takes the events.
  bool refuses() const noexcept { return seen_ != nullptr; }
  /// Null: no such event, or the caller passed a handler.
  const char* interrupted() const noexcept { return seen_ == nullptr ? nullptr : *seen_; }

 private:
  erased_handler on_;
  const char* const* seen_ = nullptr;
};

}  // namespace weft::detail
