// SPDX-License-Identifier: Apache-2.0
//
// What benches compare and report with: two contenders alternated in one run. Machines are noisy and shared. So
// contenders are compared only within one run, batch by batch. The result is a ratio of medians with its spread, never
// a difference between two runs. Hot path: no.
#pragma once

#include "timing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::bench {

using json = nlohmann::ordered_json;

/// Nanoseconds, as every report has them.
inline json percentiles(const samples& of) {
  return {{"p50", of.percentile(.5)},
          {"p90", of.percentile(.9)},
          {"p99", of.percentile(.99)},
          {"p999", of.percentile(.999)}};
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
