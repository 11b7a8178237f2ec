// SPDX-License-Identifier: Apache-2.0
//
// Options of both sides of a node: the manager's (fleet.hpp) and the daemon's (daemon.hpp).
// Hot path: no. Threads: values.
#pragma once

#include "../protocol.hpp"

#include <weft/core/time.hpp>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace weft::invocation::nodes {

/// Signals that ask a daemon to end. It blocks them, and takes them between two rounds.
inline constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

struct fleet_options {
  bool used = false;                           ///< Executors run on nodes, and none beside the manager.
  std::string service;                         ///< Where daemons register; empty: any free port.
  std::string announce;                        ///< File that gets that address.
  duration silence = std::chrono::seconds(5);  ///< A node that says nothing for so long is lost.
  duration lease = std::chrono::hours(24);     ///< From the start of an allocation to its end.
  token secret{};                              ///< Daemons show the same.
  bool meets_by_job = false;                   ///< Rank 0 of a weft::job tells the others both addresses.
};

struct daemon_options {
  std::vector<std::string> managers;  ///< host:service, where daemons register. The first that answers is taken.
  std::string membership;             ///< etcd://host:port/prefix of the managers; empty: the daemon does not ask etcd.
  /// The managers that another source knows at this moment, in the order of this node. Empty: there is none.
  std::function<std::vector<std::string>()> more_managers{};
  std::string node;           ///< Local address, of this daemon and of its executors.
  std::string fabrics;        ///< Of a program of several fabrics; empty: all.
  std::string name;           ///< For people.
  std::uint16_t workers = 1;  ///< At a time.
  token secret{};
  duration manager_limit = std::chrono::seconds(30);  ///< Without a manager for so long, the daemon ends.
  duration silence = std::chrono::seconds(5);         ///< A manager that says nothing for so long is lost.
  duration drain_limit = std::chrono::seconds(20);    ///< Of running calls, once the daemon is asked to end.
  duration grace =
      std::chrono::seconds(2);  ///< From the end of a lease, or the loss of the manager, until executors are killed.
};

}  // namespace weft::invocation::nodes
