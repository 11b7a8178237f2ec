// SPDX-License-Identifier: Apache-2.0
//
// The program of one combination of answers: Google Benchmark over two pinned processes, manual time. A benchmark is
// named operation/bytes or operation/bytes/window. Before each benchmark the program checks contents, immediates and
// sums; a wrong one ends the program without a time. In addition to the library's figures, each benchmark prints
// quantiles of single operations, q000 to q100, in nanoseconds. `weft bench` writes the three lines that include this
// header, and runs the programs in turns. Hot path: sides.hpp. Threads: one per process.
#pragma once

#include "../../compose/coalescing.hpp"
#include "../../compose/with.hpp"
#include "../command_line.hpp"
#include "sides.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <limits>
#include <vector>

namespace weft::bench {

struct program_options {
  std::vector<std::string> operations{"put_notify", "send", "put_visible", "put_notify_rate", "send_rate", "put"};
  std::vector<std::size_t> sizes{8};
  std::vector<std::size_t> windows{1, 4, 16, 64};
  std::size_t window_bytes = 8;
  double seconds = 0.02;
  std::string out;
  run_options run;

  /// The exit code to leave with, or -1 to continue.
  int parse(int argc, char** argv) {
    CLI::App app("One combination of a fabric's answers, timed; ./weft bench writes, builds and runs such programs");
    app.add_option("--operations", operations, "What is timed")->delimiter(',')->capture_default_str();
    app.add_option("--sizes", sizes, "Bytes of each transfer")
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 24))
        ->capture_default_str();
    app.add_option("--windows", windows, "Operations before one answer, for rates")
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 16))
        ->capture_default_str();
    app.add_option("--window-bytes", window_bytes, "Bytes of each operation of a window")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seconds", seconds, "The time of each benchmark, about")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--limit", run.limit, "Seconds after which the run is ended")->capture_default_str();
    app.add_option("--out", out, "The file for Google Benchmark's JSON");
    app.add_option("--yield-after", run.yield_after, "Fruitless polls before a side gives way")->capture_default_str();
    app.add_flag("--spin", run.spin_only, "Never give way: only where each side has a processor of its own");
    app.add_flag("!--not-pinned", run.pinned, "Leave the two processes where the kernel puts them");
    try {
      app.parse(argc, argv);
      for (const std::string& each : operations) scenario_of(each);
    } catch (const CLI::ParseError& e) {
      return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 2;
    }
    return -1;
  }
  std::size_t largest() const {
    return std::max({*std::max_element(sizes.begin(), sizes.end()), window_bytes, std::size_t{8}});
  }
};

/// The benchmarks of the initiating side.
template <class F>
class measurements {
 public:
  measurements(sides<F>& ends, const program_options& o) : ends_(ends), o_(o) {
    for (const std::string& name : o.operations) {
      const scenario what = scenario_of(name);
      if (is_rate(what))
        for (const std::size_t window : o.windows) add({.what = what, .bytes = o.window_bytes, .window = window});
      else if (what == scenario::fetch_add) add({.what = what, .bytes = 8});
      else
        for (const std::size_t bytes : o.sizes) add({.what = what, .bytes = bytes});
    }
  }

 private:
  void add(const request& r) {
    std::string name = std::string(name_of(r.what)) + '/' + std::to_string(r.bytes);
    if (is_rate(r.what)) name += '/' + std::to_string(r.window);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [this, r](benchmark::State& state) {
                                   if (const std::string why = ends_.obstacle(r.what, r.bytes); !why.empty())
                                     return state.SkipWithError(why.c_str());
                                   run(r, state);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond)
        ->Iterations(1);
  }
  void check(request r) {
    samples unused(16);
    r.checked = true;
    r.rounds = 4;
    ends_.ask(r, unused);
  }
  /// Rounds that fill the time at the speed of the fastest warm-up round. A round that the kernel delayed must not end
  /// a measurement.
  std::size_t rounds(request r) {
    samples warm(8);
    r.rounds = 8;
    ends_.ask(r, warm);
    const double ns = static_cast<double>(std::max<std::uint64_t>(warm.percentile(0), 1) * r.window);
    return static_cast<std::size_t>(std::clamp(o_.seconds * 1e9 / ns, 16.0, 4096.0));
  }
  void run(request r, benchmark::State& state) {
    check(r);
    r.rounds = rounds(r);
    samples found(r.rounds);
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(r.rounds))) {
      const std::uint64_t before = now_ns();
      ends_.ask(r, found);
      state.SetIterationTime(static_cast<double>(now_ns() - before) / 1e9);
    }
    for (int percent = 0; percent <= 100; percent += 5) {
      char name[8];
      std::snprintf(name, sizeof name, "q%03d", percent);
      state.counters[name] = static_cast<double>(found.percentile(percent / 100.0));
    }
  }

  sides<F>& ends_;
  const program_options& o_;
};

/// Google Benchmark takes its options from arguments only.
inline void initialize(const program_options& o) {
  static std::vector<std::string> library_arguments{"combination"};  // the library keeps the pointers
  if (!o.out.empty())
    library_arguments.insert(library_arguments.end(), {"--benchmark_out=" + o.out, "--benchmark_out_format=json"});
  std::vector<char*> pointers;
  for (std::string& each : library_arguments) pointers.push_back(each.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
}

/// The largest message to measure: the row's limit less weft's own bytes, and at most 1 MiB for each posted receive.
template <class F>
constexpr std::size_t message_bound(std::size_t wanted) noexcept {
  constexpr std::uint64_t most = F::facts.largest_message;
  constexpr std::uint64_t room = most > 512 ? most - 256 : most;
  return static_cast<std::size_t>(std::min<std::uint64_t>({wanted, room, 1U << 20}));
}

template <class F>
int measured_side(const channel& to, bool first, program_options o) {
  settle<F>(first, o.run);
  try {
    sides<F> ends(to, first, o.largest(), message_bound<F>(o.largest()), o.run.waiting);
    if (!first) return ends.answer(), 0;
    initialize(o);
    measurements<F> all(ends, o);
    benchmark::RunSpecifiedBenchmarks();
    ends.part();
    return 0;
  } catch (const absent& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 77;
  }
}

/// The main function of a combination's program. Exit codes: 0, 1 (a wrong result, a deadline), 2 (usage), 77 (the
/// fabric cannot be opened here).
template <class F>
int measure(int argc, char** argv) {
  program_options o;
  if (const int wrong = o.parse(argc, argv); wrong >= 0) return wrong;
  return two_processes(
      o.run.limit, [&](const channel& to) { return measured_side<F>(to, true, o); },
      [&](const channel& to) { return measured_side<F>(to, false, o); });
}

}  // namespace weft::bench
