// SPDX-License-Identifier: Apache-2.0
//
// invocation-manager.<fabric>
#include "commands.hpp"

#include <weft/compose/selected.hpp>

#include <csignal>
#include <iostream>

int main(int argc, char** argv) try {
  using namespace weft::invocation;
  using fabric = weft::selected;
  const auto parsed = parse_manager(fabric::name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  const auto& command = std::get<manager_command>(parsed);

  // Blocked, and checked between two rounds: no signal handler, ours or a library's, runs within a round.
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, s);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);

  auto made = manager<fabric, process_spawner>::open(command.options, process_spawner(command.spawn));
  const std::string self = "invocation-manager." + std::string(fabric::name);
  if (!made) {
    complain(self, made.error().sentence);
    return 1;
  }
  manager<fabric, process_spawner>& m = **made;
  std::cout << "listening at " << m.listen_address() << std::endl;
  if (!command.announce.empty()) {
    const std::string line = m.listen_address() + "\n";
    if (!write_file(command.announce, std::as_bytes(std::span(line)))) {
      complain(self, command.announce + " cannot be written");
      return 1;
    }
  }
  m.serve([&] {
    constexpr timespec now{};
    return ::sigtimedwait(&ends, nullptr, &now) > 0;
  });
  std::cout << "allocations billed: " << m.bills() << ", exactly: " << m.exact_bills() << std::endl;
  return m.bills() == m.exact_bills() ? 0 : 1;
} catch (const std::exception& e) {
  return weft::invocation::ended_by(e, "invocation-manager", weft::selected::name);
}
