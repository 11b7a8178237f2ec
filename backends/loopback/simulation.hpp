// SPDX-License-Identifier: Apache-2.0
//
// Everything that one simulated world consists of, in one place: time, nodes, ports, packets, faults; and the few
// things that all of its parts do to it (tell a sleeper, queue a completion, end an operation). Hot path: yes. Threads:
// one; a simulation never leaves the thread that made it.
#pragma once

#include "endpoint.hpp"
#include "faults.hpp"

#include <unordered_set>

namespace weft::backends::loopback {

struct node_state {
  std::string name;
  std::int64_t paused_until = 0;
  std::unordered_set<std::uint64_t> keys{};  ///< Of regions, all that its processes have handed out.
};

/// A road between two nodes that carries nothing at the moment. What is on it waits.
struct road_cut {
  std::uint32_t one = 0;
  std::uint32_t other = 0;
  ring<std::uint32_t> held;
};

/// Somebody serves an opaque address under a name.
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
    nodes.push_back({"main"});
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
  std::vector<node_state> nodes;  ///< 0 is "main": whoever is not in a fiber.
  std::vector<std::shared_ptr<endpoint>> endpoints;
  std::vector<std::unique_ptr<road_cut>> cuts;
  std::vector<std::shared_ptr<oob_exchange_entry>> served;
  std::uint32_t guest_node = 0;  ///< The node of the thread that runs outside fibers.
  std::uint64_t posted = 0;
  std::function<void(std::uint32_t)> crash;  ///< The world's: a node dies now.

  std::int64_t now() const noexcept { return time.now(); }
  std::uint32_t here() const noexcept {
    return time.running() == nobody ? guest_node : time.tasks[time.running()].node;
  }
  std::int64_t after(duration least, duration most) { return now() + time.draw.between(least, most).count(); }
  void note(happening what, std::uint32_t who, std::uint64_t first = 0, std::uint64_t second = 0) {
    time.log.note(now(), what, who, first, second);
  }
  std::uint32_t node_named(std::string_view name) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].name == name) return i;
    nodes.push_back({std::string(name)});
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  road_cut* cut_between(std::uint32_t a, std::uint32_t b) noexcept {
    for (auto& held : cuts)
      if ((held->one == a && held->other == b) || (held->one == b && held->other == a)) return held.get();
    return nullptr;
  }
};

/// Effects: wakes whoever sleeps on this port.
inline void tell_sleeper(simulation& sim, endpoint& at) {
  if (at.sleeper == nobody) return;
  const std::uint32_t sleeper = std::exchange(at.sleeper, nobody);
  const std::int64_t wakes =
      at.row.naps ? sim.after(duration(0), sim.cost.nap) : sim.after(sim.cost.wake_least, sim.cost.wake_most);
  sim.time.post(wakes, due_kind::wake, sleeper, sim.time.tasks[sleeper].ticket);
}

/// Effects: what a library does to the context that it was lent.
inline void scribble(const endpoint& at, void* context) noexcept {
  if (context != nullptr && at.row.context_bytes != 0) std::memset(context, 0xa5, at.row.context_bytes);
}

inline void tell(simulation& sim, endpoint& at, const completion_entry& told, const link_name& link) {
  sim.note(happening::told, at.id, static_cast<std::uint64_t>(told.kind),
           static_cast<std::uint64_t>(told.outcome.code));
  at.completions.push_back({told, link});
  tell_sleeper(sim, at);
}

inline void change(simulation& sim, endpoint& at, const link_event& event) {
  sim.note(happening::changed, at.id, static_cast<std::uint64_t>(event.what), event.at.index);
  at.link_events.push_back(event);
  tell_sleeper(sim, at);
}

/// Effects: the initiator's operation is over: its slot is free, and it is told, once, where it wanted to be.
inline void end(simulation& sim, packet& p, status outcome) {
  if (!std::exchange(p.unreported, false)) return;
  endpoint& initiator = *sim.endpoints[p.from.port];
  if (initiator.in_flight > 0) --initiator.in_flight;
  if (link_state* link = initiator.find(p.from); link != nullptr && link->in_flight > 0) --link->in_flight;
  sim.note(happening::ended, initiator.id, p.number, static_cast<std::uint64_t>(outcome.code));
  const bool success = outcome.code == errc::ok;
  if (success && (p.injected || p.mode == post_mode::unsignalled)) {
    tell_sleeper(sim, initiator);  // a slot is free: whoever was answered `again` may try once more
    ++initiator.news;
    return;
  }
  if (success && sim.wrong.bug == planted_bug::lost_completion && sim.time.draw.below(7) == 0) return;
  if (!p.injected) scribble(initiator, p.context);
  completion_entry told;
  told.kind = completion_kind::ended;
  told.context = p.injected ? nullptr : p.context;
  told.outcome = outcome;
  tell(sim, initiator, told, p.from);
}

}  // namespace weft::backends::loopback
