// SPDX-License-Identifier: Apache-2.0
//
// Calls that ask for news: of queues, counters and poll sets. A record has one event for each answer that was one; it
// says how many polls of the object before it had none. A replay answers as many with nothing, and one more whenever
// the record has another event first. Hot path: no. Threads: a call that may wait holds no lock while it does.
#pragma once

#include "objects.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::recording {

class poll_call : public call {
 public:
  /// `timeout` in milliseconds as libfabric's; 0 for a call that does not wait.
  poll_call(object& on, std::string_view verb, int timeout = 0) : call(&on, verb), on_(on), timeout_(timeout) {}

  /// The news, or nothing. `real` asks the library; `nothing` is true for an answer without news.
  template <class Real, class Nothing>
  std::optional<std::int64_t> news(Real real, Nothing nothing) {
    if (replays_) return replayed() ? std::optional(answer_) : std::nullopt;
    began_ns_ = session_.now_ns();
    const std::uint64_t saw = session_.last_seen_ns.load();
    if (timeout_ != 0) hold_.unlock();
    answer_ = static_cast<std::int64_t>(real());
    if (timeout_ != 0) hold_.lock();
    if (quiet()) return nothing(answer_) ? std::nullopt : std::optional(answer_);
    const std::string landed = changes();
    if (nothing(answer_) && landed.empty()) {
      ++on_.empty_polls;
      return std::nullopt;
    }
    if (saw != 0) add("saw", seconds_of(saw));
    add("after", std::to_string(on_.empty_polls));
    if (!landed.empty()) add("landed", landed);
    on_.empty_polls = 0;
    line_ = session_.begin_line(began_ns_, session::thread(), asked());
    return answer_;
  }

 private:
  bool replayed();
  /// The bytes of watched regions that are otherwise than before, as "mr1+64:0a0b", separated by ",".
  static std::string changes();
  void land(std::string_view changes) const;

  object& on_;
  int timeout_;
};

}  // namespace weft::recording
