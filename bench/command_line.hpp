// SPDX-License-Identifier: Apache-2.0
//
// The options of every two-process bench, and their meaning for the fabric: where each side runs and how it waits. Hot
// path: no.
#pragma once

#include "../core/facts.hpp"
#include "pingpong.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace weft::bench {

struct run_options {
  std::size_t size = 64;
  std::size_t count = 10000;
  std::size_t turns = 20;
  unsigned limit = 300;
  std::uint32_t yield_after = 16;
  bool spin_only = false;
  bool pinned = true;
  std::string json;
  std::string csv;
  patience waiting;

  round_plan plan(std::size_t rounds) const noexcept { return {size, rounds, waiting}; }

  /// The exit code to leave with, or -1 to continue. `more(app)` adds a program's own options.
  template <class More>
  int parse(int argc, char** argv, const std::string& what, bool takes_turns, More&& more) {
    CLI::App app(what);
    more(app);
    app.add_option("--size", size, "Bytes of each transfer")->check(CLI::Range(1, 1 << 22))->capture_default_str();
    app.add_option("--count", count, "Round trips")->check(CLI::PositiveNumber)->capture_default_str();
    if (takes_turns)
      app.add_option("--turns", turns, "Turns of each contender; --count is divided among them")
          ->check(CLI::PositiveNumber)
          ->capture_default_str();
    app.add_option("--yield-after", yield_after, "Fruitless polls before a side gives way")->capture_default_str();
    app.add_flag("--spin", spin_only, "Never give way: only where each side has a processor of its own");
    app.add_flag("!--not-pinned", pinned, "Leave the two processes where the kernel puts them");
    app.add_option("--limit", limit, "Seconds after which the run is ended")->capture_default_str();
    app.add_option("--json", json, "Where the result goes: a file; - or nothing for standard output")
        ->expected(0, 1)
        ->default_str("-");
    if (takes_turns) app.add_option("--csv", csv, "Where the result goes as a table: a file, or -");
    if (const int left = understand(app, argc, argv); left >= 0) return left;
    if (app.count("--json") > 0 && json.empty()) json = "-";
    return -1;
  }
  int parse(int argc, char** argv, const std::string& what, bool takes_turns = false) {
    return parse(argc, argv, what, takes_turns, [](CLI::App&) {});
  }

 private:
  static int understand(CLI::App& app, int argc, char** argv) {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return app.exit(e) == 0 ? 0 : 2;
    }
    return -1;
  }
};

/// Where a side runs and how it waits. The two sides are pinned to processors 1 and 0, and yield. Where the library's
/// own threads move the data, both would be unfair: the threads would inherit the processor, and a yielding caller
/// starves them. There no side is pinned, and an idle side sleeps for the kernel's shortest time. Both contenders
/// always get the same.
template <class F>
void settle(bool first, run_options& o) {
  constexpr bool thread_moves_data = F::facts.data_progress == data_progress::thread;
  o.waiting = {o.spin_only ? fruitless::never : thread_moves_data ? fruitless::nap : fruitless::yield, o.yield_after};
  if (o.pinned && !thread_moves_data) pin_to(first ? 1 : 0);
}

}  // namespace weft::bench
