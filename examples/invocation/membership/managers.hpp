// SPDX-License-Identifier: Apache-2.0
//
// The managers that share clients: members in etcd, each with its address, and the ring over them. A manager whose
// lease ended still serves its allocations. Hot path: no. Threads: the manager's.
#pragma once

#include "ring.hpp"
#include "sharing.hpp"

#include <weft/core/error.hpp>

#include <memory>

namespace weft::invocation {

class managers final : public sharing {
 public:
  /// Joins the managers at a store, such as etcd://n1:2379/weft. `own`: host:service of this one, for clients.
  /// `of_nodes`: the same for nodes, which find it there; empty: it has none. Errors: a sentence; invalid where the
  /// store's form is wrong.
  static result<std::unique_ptr<managers>> join(const std::string& store, const std::string& own,
                                                const std::string& of_nodes);
  ~managers() override;  ///< Leaves in order.

  /// Keeps the membership. Call it every few milliseconds. True: managers came or went.
  bool tend();
  std::string elsewhere(const token& client) const override;
  std::string addresses() const override;

 private:
  struct state;
  explicit managers(std::unique_ptr<state> s);
  std::unique_ptr<state> s_;
};

}  // namespace weft::invocation
