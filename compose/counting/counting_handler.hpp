// SPDX-License-Identifier: Apache-2.0
//
// A handler that counts each event, and passes it to the user's handler. An event counts before the handler sees it,
// because a handler may close the peer; a message counts when the handler took it. Hot path: all of it. Threads: the
// owner's.
#pragma once

#include "../events.hpp"
#include "../tagged/receive.hpp"
#include "counting_engine.hpp"

#include <concepts>
#include <type_traits>

namespace weft::detail {

/// Refers to both; belongs to one call.
template <class Counting, class User>
struct counting_handler {
  Counting& counts;
  User& on;

  [[gnu::always_inline]] void operator()(const completed& e) const {
    if (e.what == operation::receive_tagged) [[unlikely]]
      counts.message(e.peer, static_cast<const tagged_receive*>(e.context)->size());
    else counts.ended(e);
    on(e);
  }
  void operator()(const failed& e) const {
    if (e.what != operation::receive_tagged) counts.ended(e);
    on(e);
  }
  [[gnu::always_inline]] bool operator()(const received& e) const
      requires(std::same_as<std::invoke_result_t<User&, const received&>, bool>) {
    const peer from = e.peer;
    const std::size_t size = e.message.size();
    const bool taken = on(e);
    if (taken) counts.message(from, size);
    return taken;
  }
  [[gnu::always_inline]] void operator()(const received& e) const
      requires(!std::same_as<std::invoke_result_t<User&, const received&>, bool>) {
    counts.message(e.peer, e.message.size());
    on(e);
  }
  [[gnu::always_inline]] void operator()(const notified& e) const {
    counts.notice(e);
    on(e);
  }
  void operator()(const requested& e) const { on(e); }
  void operator()(const connected& e) const {
    counts.met(e.peer);
    on(e);
  }
  void operator()(const lost& e) const {
    counts.lost(e);
    on(e);
  }
};

}  // namespace weft::detail
