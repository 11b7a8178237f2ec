// SPDX-License-Identifier: Apache-2.0
//
// The initiator's counter: how many of its own operations have ended, and how many of them badly; wait for a number of
// them instead of keeping a list. Forced by fi_cntr(3): missing on verbs, udp and old tcp; made of completions here,
// the same on every fabric. Post operations with the counter's address as their context, and give counting(handler) to
// progress. Hot path: two comparisons and an addition. Threads: the owner's.
#pragma once

#include "../core/time.hpp"
#include "events.hpp"

#include <cstdint>

namespace weft {

class operation_counter {
 public:
  std::uint64_t value() const noexcept { return value_; }
  std::uint64_t errors() const noexcept { return errors_; }
  /// Why the last operation that failed did.
  const status& last_error() const noexcept { return last_error_; }
  void set(std::uint64_t value) noexcept { value_ = value; }
  void add(std::uint64_t more) noexcept { value_ += more; }
  void reset() noexcept { *this = {}; }

  /// Counts the end of an operation that was posted with this counter as its context; says whether it was one.
  bool note(const completed& e) noexcept {
    if (e.context != this) return false;
    ++value_;
    return true;
  }
  bool note(const failed& e) noexcept {
    if (e.context != this) return false;
    ++errors_;
    last_error_ = e.why;
    return true;
  }

  /// `on`, but for the ends that this counter counts.
  template <class Handler>
  struct counting_handler {
    operation_counter& counter;
    Handler& on;
    void operator()(const completed& e) {
      if (!counter.note(e)) on(e);
    }
    void operator()(const failed& e) {
      if (!counter.note(e)) on(e);
    }
    template <class Event>
    decltype(auto) operator()(const Event& e) {
      return on(e);
    }
  };
  template <class Handler>
  counting_handler<Handler> counting(Handler& on) noexcept {
    return {*this, on};
  }

  /// Waits until `threshold` operations have ended well. Ends at once when one more fails. Other events go to `on`.
  /// Errors: deadline; that of the operation that failed.
  template <class Transport, class Handler>
  status wait(Transport& net, std::uint64_t threshold, duration timeout, Handler& on) {
    const std::uint64_t failures = errors_;
    auto mine = counting(on);
    const status s = net.until([&] { return value_ >= threshold || errors_ != failures; }, timeout, mine);
    return s && errors_ != failures ? last_error_ : s;
  }

 private:
  std::uint64_t value_ = 0;
  std::uint64_t errors_ = 0;
  status last_error_{};
};

}  // namespace weft
