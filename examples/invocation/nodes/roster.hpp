// SPDX-License-Identifier: Apache-2.0
//
// What a manager knows of its nodes and of the executors there, and the choice of a node. The connections
// of the workers, the node's daemon and the loss of the node each tell a death; the first counts, once.
// Hot path: no. Threads: the manager's.
#pragma once

#include "messages.hpp"

#include <weft/compose/events.hpp>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace weft::invocation::nodes {

/// An executor on a node, as its manager sees it.
struct remote_executor {
  remote_executor(std::uint64_t its_number, peer its_node, std::uint16_t workers)
      : number(its_number), node(its_node), journals(workers) {}

  std::uint64_t number;
  peer node;
  std::vector<worker_journal> journals;  ///< Zero until the node reports the end.
  std::uint64_t process = 0;             ///< On its node; 0: not yet known.
  std::optional<executor_end> end;
  bool journals_here = false;
  std::optional<winding_up> to_wind_up;  ///< The node asks for its end.
};

struct node_seen {
  peer link;
  std::string name;
  std::uint16_t workers = 0;   ///< Most at a time; 0: it has not entered.
  std::uint16_t free = 0;      ///< As it reported.
  std::uint16_t placed = 0;    ///< By this manager.
  std::uint64_t started = 0;   ///< Executors so far.
  std::uint64_t refusals = 0;  ///< Since it last started an executor.
  bool draining = false;
  bool left = false;  ///< It said so: the loss of its connection is no loss.

  std::uint16_t free_workers() const noexcept {
    const auto unplaced = static_cast<std::uint16_t>(workers > placed ? workers - placed : 0);
    return draining ? std::uint16_t{0} : std::min(free, unplaced);
  }
};

/// Sums for people, and for the check that nothing is counted twice.
struct roster_counts {
  std::uint64_t entered = 0, left = 0, lost = 0;                                    ///< Nodes.
  std::uint64_t started = 0, ended = 0, died = 0, lost_with_node = 0, refused = 0;  ///< Executors.
};

class roster {
 public:
  using executor = std::shared_ptr<remote_executor>;

  /// The node with most free workers, and of several the one that started fewest. One that could not start the last
  /// executor comes last, as it stays free and would get each one. Null: none has so many.
  node_seen* freest(std::uint16_t wanted) noexcept {
    node_seen* best = nullptr;
    for (node_seen& n : nodes_) {
      if (n.free_workers() < wanted) continue;
      const auto order = [](const node_seen& of) {
        return std::tuple(of.refusals, -std::int32_t{of.free_workers()}, of.started);
      };
      if (best == nullptr || order(n) < order(*best)) best = &n;
    }
    return best;
  }
  /// Why there is no node for so many workers.
  std::string refusal(std::uint16_t wanted) const {
    std::uint16_t most = 0;
    std::uint16_t largest = 0;
    std::size_t here = 0;
    for (const node_seen& n : nodes_) {
      if (n.workers == 0 || n.draining) continue;
      ++here;
      most = std::max(most, n.free_workers());
      largest = std::max(largest, n.workers);
    }
    if (here == 0) return "no node takes executors now (weft-node); try later";
    if (wanted > largest)
      return "asked for " + std::to_string(wanted) + " workers on one node; the largest node has " +
             std::to_string(largest);
    return "no node has " + std::to_string(wanted) + " free workers; the freest of " + std::to_string(here) + " has " +
           std::to_string(most) + "; try later";
  }

  bool enter(peer link, std::string_view name, std::uint16_t workers) {
    if (workers == 0 || name.empty() || name.size() > longest_name || find(link) != nullptr) return false;
    node_seen n;
    n.link = link;
    n.name = std::string(name);
    n.workers = n.free = workers;
    nodes_.push_back(std::move(n));
    ++counts_.entered;
    return true;
  }
  node_seen* find(peer link) noexcept {
    for (node_seen& n : nodes_)
      if (n.link == link) return &n;
    return nullptr;
  }
  std::size_t size() const noexcept { return nodes_.size(); }

  /// An executor is placed on a node.
  executor place(node_seen& on, std::uint16_t workers) {
    auto made = std::make_shared<remote_executor>(++numbers_, on.link, workers);
    on.placed = static_cast<std::uint16_t>(on.placed + workers);
    ++on.started;
    ++counts_.started;
    executors_.emplace(made->number, made);
    return made;
  }
  /// Of this node: no other may speak for it. Null: it has ended, or never was there.
  executor of(peer node, std::uint64_t number) const {
    const auto at = executors_.find(number);
    return at == executors_.end() || at->second->node != node ? nullptr : at->second;
  }
  /// The first to tell the end counts; later ones find no executor.
  void ended(remote_executor& e, executor_end end, bool never_started = false) {
    if (e.end) return;
    if (never_started) ++counts_.refused;
    else if (end.journal_lost) ++counts_.lost_with_node;
    else ++(end.in_order ? counts_.ended : counts_.died);
    e.end = std::move(end);
    if (node_seen* on = find(e.node); on != nullptr) {
      on->refusals += std::uint64_t{never_started};
      on->placed = static_cast<std::uint16_t>(on->placed - std::min<std::size_t>(on->placed, e.journals.size()));
    }
    executors_.erase(e.number);
  }
  /// The connection to a node is over. All its executors are: they die with their daemon.
  std::optional<std::string> gone(peer link, const std::string& why) {
    const node_seen* seen = find(link);
    if (seen == nullptr) return std::nullopt;
    const std::string name = seen->name;
    const bool in_order = seen->left;
    std::vector<executor> its;
    for (const auto& [number, e] : executors_)
      if (e->node == link) its.push_back(e);
    for (const executor& e : its)
      ended(*e, {false, "the node " + name + " was lost" + (why.empty() ? "" : " (" + why + ")"), true});
    std::erase_if(nodes_, [&](const node_seen& n) { return n.link == link; });
    ++(in_order ? counts_.left : counts_.lost);
    return "node " + name + (in_order ? " left" : " was lost" + (why.empty() ? "" : ": " + why)) +
           (its.empty() ? std::string() : "; executors that ended with it: " + std::to_string(its.size()));
  }
  const roster_counts& counts() const noexcept { return counts_; }
  const std::vector<node_seen>& nodes() const noexcept { return nodes_; }

 private:
  std::vector<node_seen> nodes_;
  std::map<std::uint64_t, executor> executors_;  ///< Those that have not ended.
  std::uint64_t numbers_ = 0;
  roster_counts counts_;
};

}  // namespace weft::invocation::nodes
