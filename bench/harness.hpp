// SPDX-License-Identifier: Apache-2.0
//
// What every bench shares: a clock, samples and percentiles, a spin that yields, pinning, and two contenders alternated
// in one run. Machines are noisy and shared. So contenders are compared only within one run, batch by batch. The result
// is a ratio of medians with its spread, never a difference between two runs. Hot path: now_ns, spinner. Threads: each
// owns its samples.
#pragma once

#include <nlohmann/json.hpp>

#include <sched.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace weft::bench {

using json = nlohmann::ordered_json;

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
  json percentiles() const {
    return {{"p50", percentile(.5)}, {"p90", percentile(.9)}, {"p99", percentile(.99)}, {"p999", percentile(.999)}};
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

/// The ratio of two contenders that took turns: one ratio of medians per turn. The report has the median and the middle
/// four fifths of these ratios.
class comparison {
 public:
  void turn(const samples& ours, const samples& theirs) {
    const std::uint64_t base = theirs.percentile(.5);
    if (base > 0) ratios_.push_back(static_cast<double>(ours.percentile(.5)) / static_cast<double>(base));
  }
  void add(double ratio) { ratios_.push_back(ratio); }
  double ratio() const { return at(.5); }
  json report() const { return {{"median", at(.5)}, {"low", at(.1)}, {"high", at(.9)}, {"turns", ratios_.size()}}; }

 private:
  double at(double share) const {
    if (ratios_.empty()) return 0;
    std::vector<double> sorted = ratios_;
    std::sort(sorted.begin(), sorted.end());
    const double value =
        sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
    return std::round(value * 1000) / 1000;
  }
  std::vector<double> ratios_;
};

/// Two contenders: all their samples, and their ratios turn by turn.
struct duel {
  samples ours, theirs;
  comparison compared;
};

/// Lets two contenders take turns. Who begins alternates, so that neither always runs on the other's warm caches. The
/// first turn warms up and does not count. `run_*` fill the samples that they get.
template <class Ours, class Theirs>
duel alternate(std::size_t turns, Ours&& run_ours, Theirs&& run_theirs) {
  duel all;
  for (std::size_t turn = 0; turn <= turns; ++turn) {
    samples ours, theirs;
    if (turn % 2 == 0) run_ours(ours);
    run_theirs(theirs);
    if (turn % 2 != 0) run_ours(ours);
    if (turn == 0) continue;
    all.compared.turn(ours, theirs);
    all.ours.add(ours);
    all.theirs.add(theirs);
  }
  return all;
}

/// Writes to a file, or to standard output for "-". Prints a sentence and returns false when the file cannot be
/// written.
inline bool write_text(const std::string& text, const std::string& file) {
  if (file == "-") return std::fputs(text.c_str(), stdout) >= 0;
  std::ofstream out(file);
  out << text;
  if (out.flush()) return true;
  std::fprintf(stderr, "%s cannot be written\n", file.c_str());
  return false;
}
inline bool write_json(const json& what, const std::string& file) {
  return file.empty() || write_text(what.dump(2) + '\n', file);
}

}  // namespace weft::bench
