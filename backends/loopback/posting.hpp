// SPDX-License-Identifier: Apache-2.0
//
// The initiator's side of each operation: immediate results (full queue, still connecting, wrong arguments), and the
// departure of packets.
// A refused post costs a little time, so a caller that retries for ever lets the others run.
// Hot path: yes. Threads: one.
#pragma once

#include "address.hpp"
#include "connections.hpp"

namespace weft::backends::loopback {

/// Whether local memory is registered as the row demands.
inline bool registered(const endpoint& at, const void* descriptor, const std::byte* data, std::size_t size) noexcept {
  if (!at.row.needs_descriptor || size == 0) return true;
  const auto found = at.memory.find(descriptor);
  if (found == at.memory.end()) return false;
  const region& held = *found->second;
  return data >= held.base && data + size <= held.base + held.size;
}

inline status busy(simulation& sim, waits_for what, const char* operation) {
  sim.time.pass(sim.cost.refused_post.count());
  return again(what, operation);
}

/// Returns ok when the link takes an operation now.
inline status admit(simulation& sim, endpoint& at, const link_name& name, const char* operation) {
  link_state* link = at.find(name);
  if (link == nullptr) return error(errc::closed, operation);
  if (link->phase == link_phase::lost) return error(errc::peer_lost, operation);
  if (!at.row.connected && link->peer.port == no_index)  // Dialled before the peer was open.
    if (const endpoint* there = endpoint_at(sim, link->dialled); there != nullptr)
      link->peer = {there->id, no_index, 0};
  if (link->phase != link_phase::open) return busy(sim, waits_for::connection, operation);
  if (at.row.lazy && !link->warm) {
    knock(sim, name, *link);
    return busy(sim, waits_for::connection, operation);
  }
  if (sim.now() >= at.full_until && sim.time.draw.hits(sim.wrong.full_queue))
    at.full_until = sim.now() + sim.wrong.full_queue_time.count();
  const std::uint32_t in_flight = at.row.connected ? link->in_flight : at.in_flight;
  if (sim.now() < at.full_until || in_flight >= at.options.operations) return busy(sim, waits_for::queue, operation);
  if (++sim.posted == sim.wrong.crash_at_packet) sim.crash(at.node);
  return {};
}

/// Returns a packet of this link, ready to be filled. Requires: admit() returned ok.
inline std::uint32_t take_packet(simulation& sim, endpoint& at, const link_name& name, packet_kind kind, post_mode mode,
                                 void* context) {
  const link_state& link = *at.find(name);
  const std::uint32_t index = sim.pool.take();
  packet& p = sim.pool[index];
  p.kind = kind;
  p.mode = mode;
  p.from = name;
  p.to = link.peer;
  p.context = context;
  return index;
}

/// Schedules the departure of the packet.
inline void set_out(simulation& sim, endpoint& at, std::uint32_t index) {
  packet& p = sim.pool[index];
  link_state& link = *at.find(p.from);
  p.unreported = true;
  ++at.in_flight;
  ++link.in_flight;
  if (p.injected) p.load();
  else overwrite_context(at, p.context);
  const std::int64_t leaves = std::max(sim.after(duration(1), sim.cost.departure_most), link.last_departure + 1);
  link.last_departure = leaves;
  sim.time.post(leaves, due_kind::packet, index);
}

/// Retries messages without a receive. `which` is the link, as it was posted.
inline void feed_again(simulation& sim, std::uint32_t port, std::uint64_t which) {
  endpoint& at = *sim.endpoints[port];
  const link_name name{port, static_cast<std::uint32_t>(which >> 32), static_cast<std::uint32_t>(which)};
  receive_queue* held = at.open ? at.receives_of(name) : nullptr;
  if (held == nullptr) return;
  held->retry_due = false;
  feed(sim, at, *held);
}

/// Posts a receive. A message that waits for one is tried again a little later.
inline status post_receive(simulation& sim, endpoint& at, const link_name& name, local_memory into, void* context) {
  const bool per_link = at.row.connected && !at.row.pooled;
  link_state* link = per_link ? at.find(name) : nullptr;
  if (per_link && link == nullptr) return error(errc::closed, "post_receive");
  receive_queue& queue = per_link ? link->receives : at.receives;
  if (link != nullptr && link->phase == link_phase::lost && queue.starved.empty())
    return error(errc::peer_lost, "post_receive");
  if (!registered(at, into.descriptor, into.data, into.size)) return error(errc::invalid, "post_receive");
  if (queue.posted.size() >= at.options.receives) return busy(sim, waits_for::queue, "post_receive");
  overwrite_context(at, context);
  queue.posted.push_back({into, context});
  if (queue.starved.empty() || std::exchange(queue.retry_due, true)) return {};
  const std::uint64_t which = (std::uint64_t{name.index} << 32) | name.generation;
  sim.time.post(sim.now() + sim.cost.receiver_not_ready.count(), due_kind::feed, at.id, which);
  return {};
}

}  // namespace weft::backends::loopback
