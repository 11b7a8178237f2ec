// SPDX-License-Identifier: Apache-2.0
//
// Command lines for nodes: a manager's options for them, the daemon's own (weft-node), and those of the load of a
// cluster's demo. Hot path: no.
#pragma once

#include "../spawning.hpp"
#include "load_options.hpp"
#include "options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace CLI {
class App;
}

namespace weft::invocation {
struct stop_with;
}

namespace weft::invocation::nodes {

/// The manager's options for nodes.
class fleet_command {
 public:
  fleet_command(CLI::App& app, fleet_options& into, std::string program);
  fleet_command(const fleet_command&) = delete;
  ~fleet_command();
  /// After the parsing. `of_executors`: an option for executors that the user gave, or empty.
  std::optional<stop_with> store(const std::string& of_executors);

 private:
  struct parts;
  fleet_options& into_;
  std::string program_;
  std::unique_ptr<parts> parts_;
};

struct daemon_command {
  daemon_options options;
  process_spawner::settings spawn;
};
std::variant<daemon_command, stop_with> parse_daemon(std::string_view fabric, int argc, char** argv);
std::variant<load_options, stop_with> parse_load(std::string_view fabric, int argc, char** argv);

}  // namespace weft::invocation::nodes
