// SPDX-License-Identifier: Apache-2.0
//
// The command line of a simulation program.
// Hot path: no. Threads: one.
#pragma once

#include "outcome.hpp"

#include <string>
#include <vector>

namespace weft::simulation {

struct command {
  std::uint64_t first = 1;
  std::uint64_t last = 100;
  double seconds = 0;  ///< Above 0: seeds from `first` on until so many seconds of real time passed.
  std::string system = "transport";
  selection kept;
  run_settings settings;
  std::string expected;  ///< The finding that one of the seeds must have.
  std::string trace;     ///< File for the trace of the last seed.
  bool shrinks = false;
  bool hashes = false;  ///< Print the hash of each seed.
};

/// Planted bugs by name, as --bug takes them.
const std::vector<std::pair<std::string, loopback::planted_bug>>& planted_bugs();

/// Reads the command line. Returns whether it is right; otherwise the sentence is on standard error.
bool parse(int argc, char** argv, command& into);

inline constexpr const char* usage =
    "usage: simulate.<row> [options]\n"
    "  --seed N             one run\n"
    "  --seeds A..B         a run for each seed (default 1..100)\n"
    "  --seconds S          seeds from A on, until S seconds of real time passed (--hours H: the same)\n"
    "  --system NAME        transport, invocation or paged_writer\n"
    "  --faults LIST        all, none, or names with commas: loss reorder delay tear again wake stutter handshakes\n"
    "                       memory one_way partition pause slow clock crash\n"
    "  --steps LIST         keep these steps of the plan: numbers with commas, or none\n"
    "  --disturbances LIST  keep these disturbances of the plan\n"
    "  --shrink             find the shortest form of each failing run\n"
    "  --trace FILE         write every event of the last run\n"
    "  --hashes             print the hash of each run\n"
    "  --bug NAME           plant a bug into the simulated fabric (--bugs lists the names)\n"
    "  --expect NAME        end well as soon as a seed has this finding, badly if none has\n"
    "Exit codes: 0 no finding (or the expected one), 1 a finding (or not the expected one), 2 usage.\n";

}  // namespace weft::simulation
