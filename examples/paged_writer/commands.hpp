// SPDX-License-Identifier: Apache-2.0
//
// The command line: parsed once for all fabrics, checked, explained. Exit codes: 0 all bytes verified, 1 not, 2 usage.
// Hot path: no.
#pragma once

#include "plan.hpp"

#include <optional>
#include <string_view>

namespace weft::paged {

enum class role : std::uint8_t { both, server, client };

struct command {
  role as = role::both;
  plan run;
  std::string where;     ///< client: the server's addresses.
  std::string announce;  ///< server: file that gets its addresses; empty: standard output.
};

/// Either a command, or the code to end with (after --help, or a mistake).
struct parsed {
  command what;
  std::optional<int> stop;
};
parsed parse_command(std::string_view fabric, int argc, char** argv);

}  // namespace weft::paged
