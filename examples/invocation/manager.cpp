// SPDX-License-Identifier: Apache-2.0
//
// invocation-manager.<fabric>
#include "../announcement.hpp"
#include "commands.hpp"

#include <weft/compose/selected.hpp>

#include <sys/resource.h>
#include <csignal>
#include <iostream>
#include <utility>

int main(int argc, char** argv) try {
  using namespace weft::invocation;
  using fabric = weft::selected;
  const auto parsed = parse_manager(weft::selected_name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  const auto& command = std::get<manager_command>(parsed);

  const std::string self = "invocation-manager." + std::string(weft::selected_name);
  if (fabric::facts.same_host && !command.spawn.confined.user.empty()) {
    complain(self, "--executor-user " + command.spawn.confined.user + ": over " + std::string(fabric::name) +
                       " executors and clients share memory, so they must be of one user; leave the option out");
    return 2;
  }

  // Blocked, and checked between two rounds: no signal handler, ours or a library's, runs within a round.
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, s);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);

  // Libraries hold a descriptor for each connection, silent ones included.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && std::exchange(files.rlim_cur, files.rlim_max) != files.rlim_max)
    (void)::setrlimit(RLIMIT_NOFILE, &files);

  auto made = manager<fabric, process_spawner>::open(command.options, process_spawner(command.spawn));
  if (!made) {
    complain(self, made.error().sentence);
    return made.why().code == weft::errc::invalid ? 2 : 1;
  }
  manager<fabric, process_spawner>& m = **made;
  std::cout << "listening at " << m.listen_address() << std::endl;
  if (!command.announce.empty()) {
    if (const std::string no = weft::examples::announce(command.announce, m.listen_address() + "\n"); !no.empty()) {
      complain(self, no);
      return 1;
    }
  }
  m.serve([&] {
    constexpr timespec now{};
    return ::sigtimedwait(&ends, nullptr, &now) > 0;
  });
  std::cout << "allocations billed: " << m.bills() << ", exactly: " << m.exact_bills() << std::endl;
  const auto& how = m.spawns().started();
  std::cout << "executors: " << how.from_pool << " of the pool, " << how.copied << " copied from the warm parent, "
            << how.executed << " executed" << std::endl;
  return m.bills() == m.exact_bills() ? 0 : 1;
} catch (const std::exception& e) {
  return weft::invocation::ended_by(e, "invocation-manager", weft::selected_name);
}
