// SPDX-License-Identifier: Apache-2.0
//
// The run of a world, its end, and external faults of its nodes: crashes and broken paths.
// Hot path: no. Threads: one.
#pragma once

#include "world.hpp"

namespace weft::backends::loopback {

inline bool world::finished() const noexcept { return sim_.time.unfinished() == 0; }

inline std::string world::who_waits() const {
  std::string all;
  for (const task& each : sim_.time.tasks) {
    if (!each.thread || each.thread->done()) continue;
    if (!all.empty()) all += "; ";
    all += "'" + sim_.nodes[each.node].name + "' ";
    if (each.asleep_at == no_index) {
      all += "sleeps or polls";
      continue;
    }
    const endpoint& at = *sim_.endpoints[each.asleep_at];
    std::size_t receives = at.receives.posted.size();
    for (const auto& link : at.links) receives += link->receives.posted.size();
    all += "waits without a deadline on port " + std::to_string(at.id) + " for a completion (" +
           std::to_string(at.in_flight) + " operations in flight, " + std::to_string(receives) + " receives posted)";
  }
  return all;
}

inline run_outcome world::run(duration limit) {
  simulation* before = std::exchange(current_simulation(), &sim_);
  struct restore {
    simulation* held;
    ~restore() { current_simulation() = held; }
  } restored{before};
  scheduler& time = sim_.time;
  const std::int64_t until = time.now() + limit.count();
  time.set_limit(until);
  run_outcome outcome;
  while (!finished()) {
    if (time.idle() || time.next_due() > until) {
      outcome.how = time.idle() ? run_outcome::ending::deadlock : run_outcome::ending::out_of_time;
      outcome.sentence = (time.idle() ? "deadlock: every node sleeps for ever at " : "the run's time is over at ") +
                         std::to_string(time.now()) + " ns (seed " + std::to_string(sim_.seed) + "): " + who_waits();
      break;
    }
    if (const std::exception_ptr escaped = time.step(); escaped) std::rethrow_exception(escaped);
  }
  time.set_limit(never);
  outcome.at = now();
  return outcome;
}

inline void world::cut(std::string_view one, std::string_view other) {
  const std::uint32_t a = sim_.node_named(one);
  const std::uint32_t b = sim_.node_named(other);
  if (const cut_path* held = sim_.cut_between(a, b); held != nullptr && !held->one_way) return;
  sim_.note(trace_event::cut, a, b);
  sim_.cuts.push_back(std::make_unique<cut_path>());
  sim_.cuts.back()->one = a;
  sim_.cuts.back()->other = b;
}

inline void world::cut_one_way(std::string_view from, std::string_view to) {
  const std::uint32_t a = sim_.node_named(from);
  const std::uint32_t b = sim_.node_named(to);
  if (sim_.cut_on_the_way(a, b) != nullptr) return;
  sim_.note(trace_event::cut, a, b, 1);
  sim_.cuts.push_back(std::make_unique<cut_path>());
  sim_.cuts.back()->one = a;
  sim_.cuts.back()->other = b;
  sim_.cuts.back()->one_way = true;
}

inline void world::heal(std::string_view one, std::string_view other) {
  const std::uint32_t a = sim_.node_named(one);
  const std::uint32_t b = sim_.node_named(other);
  while (cut_path* held = sim_.cut_between(a, b)) {
    sim_.note(trace_event::healed, held->one, held->other);
    for (; !held->held.empty(); held->held.pop_front())
      sim_.time.post(sim_.now(), due_kind::packet, held->held.front(), 0, true);
    std::erase_if(sim_.cuts, [held](const auto& each) { return each.get() == held; });
  }
}

/// Discards the packets in the dead port's queues, its links and its memory.
inline void empty_endpoint(simulation& sim, endpoint& at) {
  at.open = false;
  at.crashed = true;
  for (; !at.incoming.empty(); at.incoming.pop_front()) {
    const std::uint32_t index = at.incoming.front();
    if (sim.pool[index].stage == packet_stage::returning) sim.pool.give_back(index);
    else lose(sim, index);
  }
  for (; !at.receives.starved.empty(); at.receives.starved.pop_front()) lose(sim, at.receives.starved.front());
  for (auto& link : at.links) {
    for (; !link->receives.starved.empty(); link->receives.starved.pop_front())
      lose(sim, link->receives.starved.front());
    link->receives.posted.release();
  }
  leave_place(sim, at);
  at.incoming.release();
  at.receives.posted.release();
  at.completions.release();
  at.link_events.release();
  at.regions.clear();
  at.memory.clear();
}

/// Breaks links to the dead port after a while where the row reports it; elsewhere they stay silent.
inline void report_death(simulation& sim, const endpoint& dead) {
  for (auto& each : sim.endpoints) {
    if (!each->open) continue;
    for (std::uint32_t i = 0; i < each->links.size(); ++i) {
      const link_state& link = *each->links[i];
      if (link.phase == link_phase::unused || link.phase == link_phase::lost || link.peer.port != dead.id) continue;
      const link_name name{each->id, i, link.generation};
      if (link.phase == link_phase::dialling)
        sim.time.post_action(sim.now() + sim.cost.dial_timeout.count(), [&sim, name] { refuse_dial(sim, name); });
      else if (each->row.reports_death)
        sim.time.post_action(sim.after(sim.cost.death_least, sim.cost.death_most),
                             [&sim, name] { break_link(sim, *sim.endpoints[name.port], name); });
    }
  }
}

inline void kill_node(simulation& sim, std::uint32_t node) {
  sim.note(trace_event::crashed, node);
  for (auto& entry : sim.served)
    if (entry->node == node) entry->open = false;
  const std::size_t count = sim.endpoints.size();
  for (std::size_t i = 0; i < count; ++i)
    if (endpoint& at = *sim.endpoints[i]; at.node == node && at.open) empty_endpoint(sim, at);
  for (std::size_t i = 0; i < count; ++i)
    if (const endpoint& at = *sim.endpoints[i]; at.node == node && at.crashed) report_death(sim, at);
  sim.nodes[node].paused_until = 0;
  bool self = false;
  for (std::uint32_t i = 0; i < sim.time.tasks.size(); ++i) {
    task& each = sim.time.tasks[i];
    if (each.node != node || !each.thread) continue;
    each.condemned = i == sim.time.running();
    self = self || each.condemned;
    if (!each.condemned) sim.time.drop(each);
  }
  if (self) sim.time.leave();
}

}  // namespace weft::backends::loopback
