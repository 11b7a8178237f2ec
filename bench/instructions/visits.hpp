// SPDX-License-Identifier: Apache-2.0
//
// A run counts an operation in several visits. Each visit is counted alone, because a library or a housekeeping poll
// does rare work in some of them (bench/instructions/gate/counting.py). Hot path: none, visits end outside of the
// measured functions. Threads: one per process.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace weft::bench {

/// callgrind begins another part of its profile when this function returns.
[[gnu::noinline]] inline void visit_ended() noexcept { asm volatile("" ::: "memory"); }

/// The result of one run: the number of operations, and how many were refused.
struct tally {
  std::uint64_t operations = 0, refused = 0;
  std::vector<std::uint64_t> empty;  ///< Of each visit, the polls that found nothing.

  /// Ends a visit in which `nothing` polls found nothing.
  void end_visit(std::uint64_t nothing = 0) {
    empty.push_back(nothing);
    visit_ended();
  }
};

/// A line that bench/instructions/gate/counting.py reads.
inline void say(const std::string& what, const tally& t) {
  std::printf(
      "%s\n",
      nlohmann::json{{"operation", what}, {"operations", t.operations}, {"refused", t.refused}, {"empty", t.empty}}
          .dump()
          .c_str());
}

/// Under callgrind, on a busy machine; the kernel ends a run that takes longer.
constexpr unsigned seconds_of_a_run = 280;

}  // namespace weft::bench
