// SPDX-License-Identifier: Apache-2.0
//
// The command line and the report of the plain ping-pong, compiled once for all fabrics: libraries of command lines and
// of JSON take longer to compile than the ping-pong. Hot path: no.
#pragma once

#include "../run_settings.hpp"

#include <string_view>

namespace weft::bench {

/// The exit code to leave with, or -1 to continue.
int parse_words(run_settings& settings, int argc, char** argv);

/// Prints the round trips, or writes them where --json says. False: the file cannot be written.
bool report(const run_settings& settings, std::string_view fabric, std::string_view carrier,
            const samples& round_trips);

}  // namespace weft::bench
