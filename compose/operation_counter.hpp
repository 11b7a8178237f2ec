// SPDX-License-Identifier: Apache-2.0
//
// The initiator's counter: how many of its operations have completed, and how many failed. Wait for a number instead of
// keeping a list. Forced by fi_cntr(3): counters are missing on verbs, udp and old tcp, so this one counts completions,
// on every fabric. Post with the counter's address as the context, and give counting(handler) to progress(). Hot path:
// two comparisons and an addition. Threads: the owner's.
#pragma once

#include "../core/time.hpp"
#include "events.hpp"

#include <cstdint>

namespace weft {

class operation_counter {
 public:
  std::uint64_t value() const noexcept { return value_; }
  std::uint64_t errors() const noexcept { return errors_; }
  /// Why the last failed operation failed.
  const status& last_error() const noexcept { return last_error_; }
  void set(std::uint64_t value) noexcept { value_ = value; }
  void add(std::uint64_t more) noexcept { value_ += more; }
  void reset() noexcept { *this = {}; }

  /// Counts the end of an operation whose context is this counter. Returns false for other operations.
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

  /// Counts the ends of this counter's operations, and gives every other event to `on`.
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

  /// Waits until `threshold` operations have completed. Ends at once when one more fails. Other events go to `on`.
  /// Errors: deadline; the error of the failed operation.
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
