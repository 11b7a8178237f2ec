// SPDX-License-Identifier: Apache-2.0
//
// Parts of command lines that several programs of the invocation have. Hot path: no.
#pragma once

#include "../commands.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace weft::invocation {

/// Nothing: go on. A mistake has the exit code 2, --help 0.
std::optional<stop_with> parse(CLI::App& app, int argc, const char* const* argv);
/// "invocation-manager.tcp"
std::string program(std::string_view name, std::string_view fabric);
/// The program of that name in the folder of this one.
std::string beside(const char* self, const std::string& name);
void add_fabric(CLI::App& app, std::string& fabrics);

/// An option in milliseconds. store() fills the duration, after the parsing.
struct milliseconds_option {
  std::uint64_t value;
  duration& into;
  CLI::Option* option;
  milliseconds_option(CLI::App& app, const char* name, duration& target, const char* help, std::uint64_t least = 0);
  void store() const { into = std::chrono::milliseconds(value); }
};

/// What executors are started with, by a manager or by a daemon of a node.
class spawn_options {
 public:
  spawn_options(CLI::App& app, process_spawner::settings& into, std::string program);
  /// After the parsing.
  std::optional<stop_with> store();
  /// The first of these options that the user gave; empty: none.
  std::string given() const;

 private:
  process_spawner::settings& into_;
  std::string program_;
  bool unconfined_ = false;
  std::vector<CLI::Option*> all_;
};

}  // namespace weft::invocation
