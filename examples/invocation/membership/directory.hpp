// SPDX-License-Identifier: Apache-2.0
//
// The managers that are there, as somebody sees them who is none: a client, or the daemon of a node. Each manager is a
// member in etcd (managers.hpp) under its address for clients, and its value is its address for nodes.
// Hot path: no. Threads: one owner.
#pragma once

#include "sharing.hpp"

#include <weft/core/error.hpp>

#include <memory>

namespace weft::invocation {

class manager_directory {
 public:
  /// `store`: etcd://n1:2379/weft. Errors: a sentence; invalid where the store's form is wrong.
  static result<std::unique_ptr<manager_directory>> open(const std::string& store);
  manager_directory(const manager_directory&) = delete;
  manager_directory& operator=(const manager_directory&) = delete;
  ~manager_directory();

  /// Reads the news of etcd. Call it every few milliseconds. True: managers came or went.
  bool tend();
  /// Where clients connect. While etcd is away, the last known ones.
  std::vector<std::string> for_clients() const;
  /// Where nodes register: of managers that have nodes.
  std::vector<std::string> for_nodes() const;
  /// Whether etcd lists this manager. True while it is not known that etcd answers: its silence is no evidence.
  bool lists(const std::string& for_clients) const;

 private:
  struct state;
  explicit manager_directory(std::unique_ptr<state> s);
  std::unique_ptr<state> s_;
};

}  // namespace weft::invocation
