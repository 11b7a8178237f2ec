// SPDX-License-Identifier: Apache-2.0
//
// What every contender measures: half a round trip at each size, and the time of one of many small transfers in one
// direction. One contender runs alone in one pair of processes, as a foreign program does; `weft bench --peers` lets
// the pairs take turns. Transfers without notice also have the time of the call alone, which is the initiator's cost.
// Reading the clock takes longer than a store that another processor sees, so a sample is the mean of a batch of round
// trips. Hot path: ask, answer, fire, take. Threads: one per end.
#pragma once

#include "../pingpong.hpp"
#include "../two_processes.hpp"

#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace weft::bench {

inline constexpr std::size_t small_transfer =
    4096;  ///< Above it ends are opened anew, so that small transfers do not have receives of a megabyte.
inline constexpr std::size_t window = 64;  ///< One-way transfers between two credits.
inline constexpr std::size_t burst = 16;   ///< Quiet transfers whose calls are timed.
/// Batches of large transfers before any is timed. Each receive must have had a message: its first one waits for the
/// receive's pages.
inline constexpr std::size_t first_touches = 20;

/// What a run demands of its contender.
struct ladder {
  std::vector<std::size_t> sizes;
  std::size_t count;  ///< Round trips of a small transfer; larger ones have fewer.
  patience waiting;

  std::size_t batches(std::size_t size) const noexcept {
    const std::size_t divisor = size <= small_transfer ? 1 : size <= 65536 ? 4 : 40;
    return std::max<std::size_t>(count / divisor / per_batch(size), 5);
  }
  static std::size_t per_batch(std::size_t size) noexcept { return size <= small_transfer ? 20 : 4; }
};

/// An end whose windows are many quiet transfers and one with a notice.
template <class End>
concept quiet_inside_of_windows = requires(End& e) {
  e.stream(std::size_t{});
};
/// An end that must know the size of the next transfer.
template <class End>
concept expects_a_size = requires(End& e) {
  e.expect(std::size_t{});
};

template <class End>
class climb {
 public:
  climb(End& end, const ladder& plan, bool first) noexcept
      : end_(end), plan_(plan), first_(first), spin_(plan.waiting) {}

  /// Half a round trip in nanoseconds: the median of batches. Bytes are compared first.
  double latency(std::size_t size) {
    if constexpr (expects_a_size<End>) end_.expect(size);
    check(size);
    turn(size, std::max(plan_.batches(size) / 10 + 1, size <= small_transfer ? 1 : first_touches));
    taken_.clear();
    turn(size, plan_.batches(size));
    return median() / static_cast<double>(2 * ladder::per_batch(size));
  }
  /// Nanoseconds of one of many transfers in one direction; a credit comes back for each window.
  double rate(std::size_t size, std::size_t windows) {
    if constexpr (expects_a_size<End>) end_.expect(size);
    if constexpr (requires { end_.windowed(true); }) end_.windowed(true);
    taken_.clear();
    if (first_) fire(size, windows);
    else take(size, windows);
    if constexpr (requires { end_.windowed(true); }) end_.windowed(false);
    return median() / static_cast<double>(window);
  }
  /// Nanoseconds of the call of one quiet transfer: bursts of them, while the target does not poll.
  double call(std::size_t size, std::size_t bursts) {
    if constexpr (expects_a_size<End>) end_.expect(size);
    taken_.clear();
    for (std::size_t b = 0; b < bursts; ++b) {
      if (first_) {
        const std::uint64_t before = now_ns();
        for (std::size_t i = 0; i < burst; ++i)
          while (!end_.stream(size)) poll_once();
        taken_.push_back(static_cast<double>(now_ns() - before));
      } else {
        usleep(100);  // longer than a burst takes
      }
      if (!first_) wait(1);
      post(size);
      if (first_) wait(1);
    }
    return median() / static_cast<double>(burst);
  }

 private:
  static constexpr std::size_t arrivals_per_window = quiet_inside_of_windows<End> ? 1 : window;

  void check(std::size_t size) {
    const auto nothing = [] {};
    pingpong<ending::unsignalled, End, decltype(nothing)> p(end_, {size, 16, plan_.waiting}, nothing);
    first_ ? p.ask_checked(8) : p.answer_checked(8);
  }
  void turn(std::size_t size, std::size_t batches) {
    const std::size_t rounds = ladder::per_batch(size);
    for (std::size_t b = 0; b < batches; ++b) {
      const std::uint64_t before = now_ns();
      for (std::size_t i = 0; i < rounds; ++i) {
        if (!first_) wait(1);
        post(size);
        if (first_) wait(1);
      }
      taken_.push_back(static_cast<double>(now_ns() - before));
    }
  }
  void fire(std::size_t size, std::size_t windows) {
    for (std::size_t w = 0; w < windows; ++w) {
      const std::uint64_t before = now_ns();
      if constexpr (quiet_inside_of_windows<End>) {
        for (std::size_t i = 1; i < window; ++i)
          while (!end_.stream(size)) poll_once();
        post(size);
      } else {
        for (std::size_t i = 0; i < window; ++i) post(size);
      }
      if (w > 0) wait(1);  // the credit of the window before: one is always on its way
      taken_.push_back(static_cast<double>(now_ns() - before));
    }
    wait(1);
  }
  void take(std::size_t size, std::size_t windows) {
    for (std::size_t w = 0; w < windows; ++w) {
      wait(arrivals_per_window);
      post(size);
    }
  }
  void post(std::size_t size) {
    while (!end_.template post<ending::unsignalled>(size, 0)) poll_once();
  }
  void poll_once() {
    const int came = end_.poll();
    arrived_ += static_cast<std::size_t>(came);
    spin_.polled(came > 0);
  }
  void wait(std::size_t wanted) {
    while (arrived_ < wanted) poll_once();
    arrived_ -= wanted;
  }
  double median() {
    if (taken_.empty()) return 0;
    const auto middle = taken_.begin() + static_cast<std::ptrdiff_t>(taken_.size() / 2);
    std::nth_element(taken_.begin(), middle, taken_.end());
    return *middle;
  }

  End& end_;
  const ladder& plan_;
  bool first_;
  spinner spin_;
  std::size_t arrived_ = 0;
  std::vector<double> taken_;
};

inline json reading(const char* operation, std::size_t bytes, double ns) {
  return {{"operation", operation}, {"bytes", bytes}, {"ns", ns}};
}

/// Runs an end over the sizes of one class and appends the results of the initiating side.
template <class End>
void run_class(End& end, const ladder& plan, bool first, bool large, bool rates, json& into) {
  climb<End> up(end, plan, first);
  std::size_t largest = 0;  // of this class: the size of the regions
  for (const std::size_t size : plan.sizes)
    if ((size > small_transfer) == large) largest = std::max(largest, size);
  for (const std::size_t size : plan.sizes)
    if ((size > small_transfer) == large) into.push_back(reading("latency", size, up.latency(size)));
  if constexpr (quiet_inside_of_windows<End>)
    if (rates && !large)
      for (const std::size_t size : {std::size_t{8}, std::size_t{256}})
        if (size <= largest)
          into.push_back(reading("call", size, up.call(size, std::max<std::size_t>(plan.count / 20, 10))));
  if (rates && !large) into.push_back(reading("rate", 8, up.rate(8, std::max<std::size_t>(plan.count / 20, 10))));
}

}  // namespace weft::bench
