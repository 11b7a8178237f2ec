// SPDX-License-Identifier: Apache-2.0
//
// Command lines of the three programs: parsed once for all fabrics, checked, explained. Exit codes: 0 success, 1
// failure, 2 usage. Hot path: no.
#pragma once

#include "client.hpp"
#include "manager.hpp"
#include "nodes/commands.hpp"
#include "spawning.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft::invocation {

/// Parsing ended the program: with --help (0) or a mistake (2).
struct stop_with {
  int code;
};

struct manager_command {
  manager_options options;
  process_spawner::settings spawn;
  nodes::fleet_options nodes;
  std::string announce;    ///< File that gets host:service once the manager listens.
  std::string membership;  ///< etcd://host:port/prefix of the managers that share clients; empty: this one is alone.
};
std::variant<manager_command, stop_with> parse_manager(std::string_view fabric, int argc, char** argv);

struct executor_command {
  executor_order order;
  trust trusted;
  int journal = -1;
  bool ignores_signals = false;
  int parent = 0;
};
std::variant<executor_command, stop_with> parse_executor(std::string_view fabric, int argc, const char* const* argv);

/// Whether the executor's program is to be a warm parent of executors.
bool is_warm_parent(const std::vector<std::string>& words);
std::variant<warm::parent_command, stop_with> parse_warm_parent(std::string_view fabric, int argc,
                                                                const char* const* argv);

struct client_command {
  enum class what : std::uint8_t { invoke, run, list };
  what act = what::list;
  std::string manager;
  client_options options;
  allocation_request request;
  std::string object;  ///< File of a shared object to send; empty: built-ins.
  std::string function = "echo";
  std::string input;
  std::string output;
  std::uint64_t count = 1000;
  std::uint64_t warm_up = 100;
  std::uint32_t size = 64;
  std::uint32_t depth = 1;  ///< Calls in flight per worker.
  std::uint32_t batch = 1;  ///< Calls per measured time (their mean). More than one requires a single call in flight.
  duration connect_limit = 5s;  ///< Until the manager answers.
  duration deadline = 5s;
  duration hold{};  ///< After a run the workers are kept, idle, for so long.
  bool json = false;
};
std::variant<client_command, stop_with> parse_client(std::string_view fabric, int argc, char** argv);

/// "PROGRAM: sentence" on standard error.
void complain(std::string_view program, std::string_view sentence);
/// For the exception that ends main(): one sentence, without another allocation. Returns the exit code.
int ended_by(const std::exception& e, std::string_view program, std::string_view fabric) noexcept;
std::optional<std::vector<std::byte>> read_file(const std::string& path);
bool write_file(const std::string& path, const_bytes contents);

}  // namespace weft::invocation
