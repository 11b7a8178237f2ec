// SPDX-License-Identifier: Apache-2.0
//
// The options of every two-process bench. Hot path: no.
#pragma once

#include "harness.hpp"
#include "run_settings.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace weft::bench {

struct run_options : run_settings {
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

}  // namespace weft::bench
