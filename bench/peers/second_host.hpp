// SPDX-License-Identifier: Apache-2.0
//
// A second host for the second process of a bench: another network namespace of this machine, with an address of its
// own. `ip netns add` makes namespaces; network_namespaces(7). Hot path: no. Threads: a process with one.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace weft::bench {

/// Where the second process runs. Both empty: where the first one runs.
struct second_host {
  std::string space;  ///< A name in /run/netns.
  std::string node;   ///< The second process's address there.

  /// The calling process moves there. Needs root. Errors: std::runtime_error.
  void enter() const {
    if (!node.empty() && ::setenv("WEFT_NODE", node.c_str(), 1) != 0) throw std::runtime_error("setenv failed");
    if (space.empty()) return;
    const std::string file = "/run/netns/" + space;
    const int there = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (there < 0 || ::setns(there, CLONE_NEWNET) != 0)
      throw std::runtime_error("the network namespace " + file + " cannot be entered: " + std::strerror(errno));
    (void)::close(there);
  }
};

}  // namespace weft::bench
