// SPDX-License-Identifier: Apache-2.0
//
// What every bench measures with: a clock, samples and percentiles, a spin that yields, and pinning. Hot path: now_ns,
// spinner. Threads: each owns its samples.
#pragma once

#include <sched.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

namespace weft::bench {

inline std::uint64_t now_ns() noexcept {
  std::timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Durations in nanoseconds. The buffer is allocated before the clock runs.
class samples {
 public:
  explicit samples(std::size_t expected = 0) { values_.reserve(expected); }
  void add(std::uint64_t ns) { values_.push_back(ns); }
  void add(const samples& others) { values_.insert(values_.end(), others.values_.begin(), others.values_.end()); }
  std::size_t size() const noexcept { return values_.size(); }
  void clear() noexcept { values_.clear(); }

  /// The smallest value that at least `share` of all values do not exceed (nearest rank); 0 without values.
  std::uint64_t percentile(double share) const {
    if (values_.empty()) return 0;
    std::vector<std::uint64_t> sorted = values_;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }

 private:
  std::vector<std::uint64_t> values_;
};

/// What a side does after `after` empty polls in a row. With fewer processors than spinning threads, a spin without a
/// yield measures the scheduler. Where the library's own thread moves the data, even yielding starves that thread; only
/// a short sleep lets it run.
enum class fruitless : std::uint8_t { never, yield, nap };

struct patience {
  fruitless how = fruitless::yield;
  std::uint32_t after = 16;
};

class spinner {
 public:
  explicit constexpr spinner(patience p) noexcept : patience_(p) {}
  void polled(bool found) noexcept {
    if (found) idle_ = 0;
    else if (++idle_ >= patience_.after) give_way();
  }

 private:
  void give_way() const noexcept {  // the kernel adds its timer slack, about 50 us
    constexpr std::timespec shortest{0, 1};
    if (patience_.how == fruitless::yield) sched_yield();
    if (patience_.how == fruitless::nap) nanosleep(&shortest, nullptr);
  }

  patience patience_;
  std::uint32_t idle_ = 0;
};

/// Pins the calling thread; false where the processor does not exist. Later threads inherit the processor.
inline bool pin_to(unsigned processor) noexcept {
  if (processor >= std::thread::hardware_concurrency()) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace weft::bench
