// SPDX-License-Identifier: Apache-2.0
//
// How the owner of one transport sleeps: until an entry may be there, work is due, or the caller's time is over. Hot
// path: no. Threads: the owner's.
#pragma once

#include "blocking_calls.hpp"

#include <algorithm>
#include <optional>

namespace weft::detail {

template <class Engine>
class sleeping {
 public:
  explicit sleeping(Engine& e) noexcept : e_(e) {}

  status sleep(duration at_most) noexcept {
    const std::optional<duration> due = longest_sleep();
    if (!due) return {};
    ++e_.sleeps.sleeps;
    const instant end = after(e_.port->now(), std::min(at_most, *due));
    const status s = e_.port->wait(end);
    if (s.code != errc::deadline) return s;
    ++e_.sleeps.timed;
    blocking_calls<Engine>(e_).timer_ended_sleep(end);
    return {};
  }
  /// How long a sleep may last before work is due. Nothing: the owner must poll on.
  std::optional<duration> longest_sleep() noexcept {
    e_.poll_budget.timers_after(0);
    if (!e_.coalescer.post_all()) return std::nullopt;  // the queue is full, and no entry would wake the sleeper
    if (!e_.tagged.settled()) return std::nullopt;
    if constexpr (Engine::ends_at_return)
      if (!e_.ended.empty()) return std::nullopt;
    // After the end of a link its last entries may be in the queue, and nothing would end the sleep.
    if (!e_.options.sleeps || e_.draining) return std::nullopt;
    duration due = rare_calls<Engine>::until_due(e_);
    // Arming the queue may receive a cell's bytes. A cell makes no entry, so nothing would end the sleep.
    if (Engine::watches_cells) due = std::min<duration>(due, 1ms);
    if constexpr (requires { Engine::port_type::longest_sleep; }) due = std::min(due, Engine::port_type::longest_sleep);
    return due;
  }

 private:
  Engine& e_;
};

}  // namespace weft::detail
