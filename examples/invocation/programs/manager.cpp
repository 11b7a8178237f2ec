// SPDX-License-Identifier: Apache-2.0
//
// invocation-manager.<fabric>
#include "../../announcement.hpp"
#include "../commands.hpp"
#include "../membership/managers.hpp"
#include "../nodes/meeting.hpp"
#include "../nodes/placing_spawner.hpp"
#include "programs.hpp"

#include <weft/compose/selected.hpp>

#include <sys/resource.h>
#include <csignal>
#include <iostream>
#include <utility>

namespace weft::invocation {

int run_manager(int argc, char** argv) try {
  using fabric = selected;
  auto parsed = parse_manager(selected_name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  auto& command = std::get<manager_command>(parsed);

  const std::string self = "invocation-manager." + std::string(selected_name);
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

  const auto refused = [&](const failure& no) {
    complain(self, no.sentence);
    return no.why.code == errc::invalid ? 2 : 1;
  };
  if (command.options.node.empty()) {
    auto own = nodes::own_address_in_job();
    if (!own) return refused(own.error());
    command.options.node = command.spawn.node = std::move(own).value();
  }
  using spawner_type = nodes::placing_spawner<fabric>;
  auto spawner = spawner_type::open(command.spawn, command.nodes);
  if (!spawner) return refused(spawner.error());
  const std::string nodes_register_at = spawner->listen_address();
  auto made = manager<fabric, spawner_type>::open(command.options, std::move(spawner).value());
  if (!made) return refused(made.error());
  manager<fabric, spawner_type>& m = **made;
  if (!nodes_register_at.empty()) std::cout << "nodes register at " << nodes_register_at << std::endl;
  std::unique_ptr<managers> all;
  if (!command.membership.empty()) {
    auto joined = managers::join(command.membership, m.listen_address(), nodes_register_at);
    if (!joined) {
      complain(self, joined.error().sentence);
      return 2;
    }
    all = std::move(joined).value();
    m.share_clients(*all);
  }
  std::cout << "listening at " << m.listen_address() << std::endl;
  if (!command.announce.empty()) {
    if (const std::string no = examples::announce(command.announce, m.listen_address() + "\n"); !no.empty()) {
      complain(self, no);
      return 1;
    }
  }
  if (const auto told = nodes::tell_addresses(command.nodes, nodes_register_at, m.listen_address()); !told)
    return refused(told.error());
  m.serve([&] {
    constexpr timespec now{};
    if (all && all->tend()) m.tell_clients();
    return ::sigtimedwait(&ends, nullptr, &now) > 0;
  });
  std::cout << "allocations billed: " << m.bills() << ", exactly: " << m.exact_bills();
  if (m.unproven_bills() > 0) std::cout << ", without a journal, which was lost with its node: " << m.unproven_bills();
  std::cout << std::endl << m.spawns().summary() << std::endl;
  if (m.spawns().inherited() > 0)
    std::cout << "accounts inherited from managers that are gone: " << m.spawns().inherited() << std::endl;
  if (all)
    std::cout << "clients sent to other managers: " << m.sent_on()
              << ", taken over from managers that are gone: " << m.taken_over() << std::endl;
  return m.bills() == m.exact_bills() + m.unproven_bills() ? 0 : 1;
} catch (const std::exception& e) {
  return ended_by(e, "invocation-manager", selected_name);
}

}  // namespace weft::invocation
