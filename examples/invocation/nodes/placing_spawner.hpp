// SPDX-License-Identifier: Apache-2.0
//
// Where a manager's executors run: beside it, as ever, or on nodes (fleet.hpp). Both are one type, so that a manager is
// compiled once. Hot path: no. Threads: the manager's.
#pragma once

#include "fleet.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace weft::invocation::nodes {

/// An executor on a node. A dropped one is killed.
template <complete_fabric F>
class remote_child {
 public:
  remote_child(fleet<F>& owner, roster::executor what) noexcept : owner_(&owner), what_(std::move(what)) {}
  remote_child(remote_child&& other) noexcept
      : owner_(other.owner_), what_(std::move(other.what_)), reported_(other.reported_) {}
  remote_child& operator=(remote_child&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(what_, other.what_);
    std::swap(reported_, other.reported_);
    return *this;
  }
  ~remote_child() {
    if (what_) kill();
  }

  std::optional<executor_end> ended() {
    if (!what_->end || std::exchange(reported_, true)) return std::nullopt;
    return what_->end;
  }
  void kill() { owner_->kill(*what_); }
  std::span<worker_journal> journals() noexcept { return what_->journals; }
  std::uint64_t number() const noexcept { return what_->number; }
  bool journals_are_here() const noexcept { return what_->journals_here; }
  std::optional<winding_up> asks_to_wind_up() { return std::exchange(what_->to_wind_up, std::nullopt); }

 private:
  fleet<F>* owner_;
  roster::executor what_;
  bool reported_ = false;
};

template <complete_fabric F>
class placing_spawner {
 public:
  class child {
   public:
    explicit child(process_spawner::child here) : at_(std::move(here)) {}
    explicit child(remote_child<F> there) : at_(std::move(there)) {}

    std::optional<executor_end> ended() {
      return std::visit([](auto& each) { return each.ended(); }, at_);
    }
    void kill() {
      std::visit([](auto& each) { each.kill(); }, at_);
    }
    std::span<worker_journal> journals() noexcept {
      return std::visit([](auto& each) { return each.journals(); }, at_);
    }
    std::uint64_t number() const noexcept {
      return std::visit([](const auto& each) { return each.number(); }, at_);
    }
    bool journals_are_here() const noexcept {
      const auto* there = std::get_if<remote_child<F>>(&at_);
      return there == nullptr || there->journals_are_here();
    }
    std::optional<winding_up> asks_to_wind_up() {
      auto* there = std::get_if<remote_child<F>>(&at_);
      return there == nullptr ? std::nullopt : there->asks_to_wind_up();
    }

   private:
    std::variant<process_spawner::child, remote_child<F>> at_;
  };

  /// Errors: the address where nodes register.
  static result<placing_spawner> open(const process_spawner::settings& here, const fleet_options& nodes) {
    if (!nodes.used) return placing_spawner(std::make_unique<process_spawner>(here), nullptr);
    auto made = fleet<F>::open(nodes, here.node, here.fabrics);
    if (!made) return std::move(made).error();
    return placing_spawner(nullptr, std::move(made).value());
  }

  result<child> start(const executor_order& order) {
    if (here_) {
      auto made = here_->start(order);
      if (!made) return std::move(made).error();
      return child(std::move(made).value());
    }
    auto placed = nodes_->start(order);
    if (!placed) return std::move(placed).error();
    return child(remote_child<F>(*nodes_, std::move(placed).value()));
  }
  /// The bill of an allocation whose manager is gone. Only nodes outlive a manager.
  std::optional<bill_fields> inherit(const token& client_secret) {
    return nodes_ ? nodes_->inherit(client_secret) : std::nullopt;
  }
  std::uint64_t inherited() const noexcept { return nodes_ ? nodes_->inherited() : 0; }
  void tend() { here_ ? here_->tend() : nodes_->tend(); }

  /// Where nodes register; empty: executors run beside the manager.
  std::string listen_address() const { return nodes_ ? nodes_->listen_address() : std::string(); }
  /// How executors were started and ended, for people.
  std::string summary() const {
    const auto text = [](std::uint64_t n) { return std::to_string(n); };
    if (here_) {
      const auto& how = here_->started();
      return "executors: " + text(how.from_pool) + " of the pool, " + text(how.copied) +
             " copied from the warm parent, " + text(how.executed) + " executed";
    }
    const roster_counts& n = nodes_->counts();
    return "nodes: " + text(n.entered) + " entered, " + text(n.left) + " left, " + text(n.lost) +
           " lost; executors: " + text(n.started) + " placed, " + text(n.ended) + " ended in order, " + text(n.died) +
           " died, " + text(n.lost_with_node) + " lost with their node, " + text(n.refused) + " not started";
  }

 private:
  placing_spawner(std::unique_ptr<process_spawner> here, std::unique_ptr<fleet<F>> nodes)
      : here_(std::move(here)), nodes_(std::move(nodes)) {}

  std::unique_ptr<process_spawner> here_;  ///< One of the two is there.
  std::unique_ptr<fleet<F>> nodes_;
};

}  // namespace weft::invocation::nodes
