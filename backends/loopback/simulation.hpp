// SPDX-License-Identifier: Apache-2.0
//
// The state of one simulated world: time, nodes, ports, packets, faults. Also the operations that all of its parts
// share: wake a sleeper, queue a completion, end an operation.
// Hot path: yes. Threads: one; a simulation never leaves the thread that made it.
#pragma once

#include "endpoint.hpp"
#include "faults.hpp"

#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace weft::backends::loopback {

struct node_state {
  std::string name;
  std::int64_t paused_until = 0;
  std::int64_t clock_ahead = 0;              ///< Its processes read a clock that is so far ahead.
  std::unordered_set<std::uint64_t> keys{};  ///< All region keys that its processes have handed out.
};

/// A broken path between two nodes. Packets on it wait.
struct cut_path {
  std::uint32_t one = 0;
  std::uint32_t other = 0;
  bool one_way = false;  ///< Only packets from `one` to `other` wait.
  ring<std::uint32_t> held;
};

/// An opaque address that is served under a name.
struct oob_exchange_entry {
  std::string host;
  std::string service;
  address_bytes address;
  std::uint32_t node = 0;
  bool open = true;
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
};

struct simulation {
  simulation(std::uint64_t seed_of_run, const faults& trouble) : seed(seed_of_run), time(seed_of_run), wrong(trouble) {
    (void)node_named("main");
    time.paused_until = [this](std::uint32_t node) { return nodes[node].paused_until; };
  }
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;
  ~simulation() {
    for (auto& held : endpoints) held->open = false;
    for (auto& entry : served) entry->open = false;
  }

  std::uint64_t seed;
  scheduler time;
  faults wrong;
  prices cost;
  packet_pool pool;
  std::vector<node_state> nodes;  ///< 0 is "main": code outside of fibers.
  std::vector<std::shared_ptr<endpoint>> endpoints;
  /// Open ports by their service, or by their address where the row resolves none. A world has 100,000 of them.
  std::unordered_map<std::string, std::vector<std::uint32_t>> places;
  std::vector<std::unique_ptr<cut_path>> cuts;
  std::vector<std::shared_ptr<oob_exchange_entry>> served;
  std::uint32_t guest_node = 0;  ///< The node of the thread that runs outside of fibers.
  std::uint64_t posted = 0;
  std::uint64_t packets = 0;  ///< On their way to a peer, without answers of the library.
  std::uint64_t packet_bytes = 0;
  std::uint64_t sleeps = 0;                  ///< Counted for planted_bug::lost_wake_up.
  std::function<void(std::uint32_t)> crash;  ///< Set by the world: kills a node.

  std::int64_t now() const noexcept { return time.now(); }
  std::uint32_t here() const noexcept {
    return time.running() == no_index ? guest_node : time.tasks[time.running()].node;
  }
  std::int64_t after(duration least, duration most) { return now() + time.draw.between(least, most).count(); }
  void note(trace_event what, std::uint32_t who, std::uint64_t first = 0, std::uint64_t second = 0) {
    time.log.note(now(), what, who, first, second);
  }
  std::uint32_t node_named(std::string_view name) {
    const auto [found, fresh] = numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(nodes.size()));
    if (fresh) nodes.push_back({std::string(name)});
    return found->second;
  }
  /// The cut that holds packets from node `from` to node `to`, or null.
  cut_path* cut_on_the_way(std::uint32_t from, std::uint32_t to) noexcept {
    for (auto& held : cuts)
      if ((held->one == from && held->other == to) || (!held->one_way && held->one == to && held->other == from))
        return held.get();
    return nullptr;
  }
  cut_path* cut_between(std::uint32_t a, std::uint32_t b) noexcept {
    cut_path* const found = cut_on_the_way(a, b);
    return found != nullptr ? found : cut_on_the_way(b, a);
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< Of nodes, by name.
};

/// Whether this planted bug strikes now: one time in `one_in`.
inline bool strikes(simulation& sim, planted_bug bug, std::uint64_t one_in) {
  return sim.wrong.bug == bug && sim.time.draw.below(one_in) == 0;
}

/// Wakes the task that sleeps on this port.
inline void wake_sleeper(simulation& sim, endpoint& at) {
  if (at.sleeper == no_index) return;
  const std::uint32_t sleeper = std::exchange(at.sleeper, no_index);
  const std::int64_t wakes =
      at.row.naps ? sim.after(duration(0), sim.cost.nap) : sim.after(sim.cost.wake_least, sim.cost.wake_most);
  sim.time.post(wakes, due_kind::wake, sleeper, sim.time.tasks[sleeper].ticket);
}

/// Overwrites a context as a library does while it owns it.
inline void overwrite_context(const endpoint& at, void* context) noexcept {
  if (context != nullptr && at.row.context_bytes != 0) std::memset(context, 0xa5, at.row.context_bytes);
}

inline void report(simulation& sim, endpoint& at, const completion_entry& entry, const link_name& link) {
  sim.note(trace_event::reported, at.id, static_cast<std::uint64_t>(entry.kind),
           static_cast<std::uint64_t>(entry.outcome.code));
  at.completions.push_back({entry, link});
  wake_sleeper(sim, at);
}

inline void change(simulation& sim, endpoint& at, const link_event& event) {
  sim.note(trace_event::changed, at.id, static_cast<std::uint64_t>(event.what), event.at.index);
  at.link_events.push_back(event);
  wake_sleeper(sim, at);
}

/// Ends the initiator's operation: frees its slot, and reports the end once if the initiator requested that.
inline void end(simulation& sim, packet& p, status outcome) {
  if (!std::exchange(p.unreported, false)) return;
  endpoint& initiator = *sim.endpoints[p.from.port];
  if (initiator.in_flight > 0) --initiator.in_flight;
  if (link_state* link = initiator.find(p.from); link != nullptr && link->in_flight > 0) --link->in_flight;
  sim.note(trace_event::ended, initiator.id, p.number, static_cast<std::uint64_t>(outcome.code));
  const bool success = outcome.code == errc::ok;
  if (success && (p.injected || p.mode == post_mode::unsignalled)) {
    wake_sleeper(sim, initiator);  // A slot is free: a caller that got `again` may retry.
    ++initiator.events;
    return;
  }
  if (success && sim.wrong.bug == planted_bug::lost_completion && sim.time.draw.below(7) == 0) return;
  if (!p.injected) overwrite_context(initiator, p.context);
  completion_entry entry;
  entry.kind = completion_kind::ended;
  entry.context = p.injected ? nullptr : p.context;
  entry.outcome = outcome;
  report(sim, initiator, entry, p.from);
}

}  // namespace weft::backends::loopback
