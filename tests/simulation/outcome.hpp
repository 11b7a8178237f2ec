// SPDX-License-Identifier: Apache-2.0
//
// What a run found, and the options that every system takes.
// Hot path: no. Threads: values.
#pragma once

#include "plan.hpp"

#include "../../backends/loopback/port.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace weft::simulation {

/// A violated property by name, with a sentence.
struct finding {
  std::string name;
  std::string sentence;
};

struct outcome {
  std::vector<finding> findings;
  std::uint64_t hash = 0;    ///< Of every event of the run.
  std::uint64_t events = 0;  ///< Lines of the trace.
  duration lasted{};         ///< Virtual time.
  std::uint64_t operations = 0;
  std::string trace;  ///< With keep_trace.

  void add(std::string name, std::string sentence) { findings.push_back({std::move(name), std::move(sentence)}); }
  bool names(std::string_view name) const {
    return std::ranges::any_of(findings, [name](const finding& each) { return each.name == name; });
  }
};

/// Polls cost some microseconds of virtual time: a loop of polls then has fewer turns, and a run takes less real time.
inline void slow_polls(loopback::world& w) {
  loopback::prices& cost = w.inside().cost;
  cost.poll_least = 2us;
  cost.poll_most = 8us;
  cost.clock = 300ns;
  cost.refused_post = 2us;
}

struct run_settings {
  loopback::planted_bug bug = loopback::planted_bug::none;
  bool keep_trace = false;
};

}  // namespace weft::simulation
