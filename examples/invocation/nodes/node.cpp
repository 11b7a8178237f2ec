// SPDX-License-Identifier: Apache-2.0
//
// weft-node.<fabric>
#include "../commands.hpp"
#include "../membership/directory.hpp"
#include "../membership/ring.hpp"
#include "daemon.hpp"

#include <weft/compose/selected.hpp>

#include <csignal>
#include <iostream>

int main(int argc, char** argv) try {
  using namespace weft::invocation;
  using fabric = weft::selected;
  const std::string self = "weft-node." + std::string(weft::selected_name);

  // Blocked, and taken between two rounds. An engine that cancels a step signals executors too: these ignore it, and
  // finish their calls when their manager says so.
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int s : nodes::ending_signals) ::sigaddset(&ends, s);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);

  auto parsed = nodes::parse_daemon(weft::selected_name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  auto& command = std::get<nodes::daemon_command>(parsed);
  command.spawn.ignores_signals = true;
  if (fabric::facts.same_host && !command.spawn.confined.user.empty()) {
    complain(self, "--executor-user " + command.spawn.confined.user + ": over " + std::string(fabric::name) +
                       " executors and clients share memory, so they must be of one user; leave the option out");
    return 2;
  }
  std::unique_ptr<manager_directory> directory;
  if (!command.options.membership.empty()) {
    auto opened = manager_directory::open(command.options.membership);
    if (!opened) {
      complain(self, "--manager " + command.options.membership + ": " + opened.error().sentence);
      return 2;
    }
    directory = std::move(opened).value();
    // The ring spreads the nodes over the managers, and those of a dead one over the others.
    command.options.more_managers = [&directory, name = command.options.name] {
      auto all = directory->for_nodes();
      const std::size_t number = all.size();
      return manager_ring(std::move(all)).in_order(name, number);
    };
  }
  auto made = nodes::node_daemon<fabric>::open(command.options, command.spawn);
  if (!made) {
    complain(self, made.error().sentence);
    return made.why().code == weft::errc::invalid ? 2 : 1;
  }
  const auto over = (*made)->serve([&] {
    constexpr timespec now{};
    if (directory) (void)directory->tend();
    return ::sigtimedwait(&ends, nullptr, &now) > 0;
  });
  std::cout << command.options.name << ": " << (*made)->summary() << std::endl;
  if (over) return 0;
  complain(self, over.error().sentence);
  return over.why().code == weft::errc::rejected ? 2 : 1;  // another secret, or the address of clients
} catch (const std::exception& e) {
  return weft::invocation::ended_by(e, "weft-node", weft::selected_name);
}
