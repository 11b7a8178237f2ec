// SPDX-License-Identifier: Apache-2.0
//
// How packets travel: when the library reads the source, when a packet arrives, which orders hold, and what happens to
// packets for a dead port.
// The orders that hold are those that the row promises and the shape requested. With the reorder fault on, no other
// order holds.
// Hot path: yes. Threads: one.
#pragma once

#include "delivery.hpp"

#include <algorithm>
#include <string_view>

namespace weft::backends::loopback {

void arrive_at_link(simulation& sim, std::uint32_t index);  // connections.hpp: connection packets
void refuse_dial(simulation& sim, const link_name& dialler);

/// Draws a time of arrival that keeps the row's promised orders.
inline std::int64_t arrival_time(simulation& sim, const endpoint& from, link_state& link, const packet& p) {
  std::int64_t travel = sim.time.draw.between(sim.wrong.delay_least, sim.wrong.delay_most).count();
  while (sim.time.draw.hits(sim.wrong.loss)) {
    travel += sim.wrong.retransmission.count();
    sim.note(trace_event::lost, from.id, p.number);
  }
  const bool message = p.kind == packet_kind::message;
  std::int64_t floor = 0;
  if (message && from.row.send_after_write) floor = std::max(floor, link.last_write);
  if (message && from.row.send_after_send) floor = std::max(floor, link.last_message);
  if (!message && from.row.write_after_write) floor = std::max(floor, link.last_write);
  if (!is_data(p.kind) || !sim.time.draw.hits(sim.wrong.reorder)) floor = link.last_any;
  const std::int64_t at = std::max(sim.now() + travel, floor + 1);
  std::int64_t& own = message ? link.last_message : link.last_write;
  own = std::max(own, at);
  link.last_any = std::max(link.last_any, at);
  return at;
}

/// For both ports, and for the world.
inline void count_packet(simulation& sim, const packet& p) {
  ++sim.packets;
  sim.packet_bytes += p.total();
  for (const std::uint32_t port : {p.from.port, p.to.port})
    if (port < sim.endpoints.size()) {
      ++sim.endpoints[port]->packets;
      sim.endpoints[port]->packet_bytes += p.total();
    }
}

inline void send_off(simulation& sim, const endpoint& from, link_state& link, std::uint32_t index) {
  packet& p = sim.pool[index];
  p.stage = packet_stage::arriving;
  const std::int64_t before = std::max(link.last_any, sim.now());
  const std::int64_t at = arrival_time(sim, from, link, p);
  sim.note(trace_event::departed, from.id, p.number, p.total());
  count_packet(sim, p);
  if (p.kind == packet_kind::write && !from.row.bytes_in_order && p.size >= 2 && at > before + 2 &&
      sim.time.draw.hits(sim.wrong.tear)) {
    p.torn = true;
    sim.time.post(sim.time.draw.between(duration(before + 1), duration(at - 1)).count(), due_kind::packet, index);
  }
  sim.time.post(at, due_kind::packet, index);
}

/// Returns a copy of the packet that nobody waits for.
inline std::uint32_t duplicate(simulation& sim, const endpoint& from, std::uint32_t index) {
  const std::uint32_t copy = sim.pool.take();
  packet& twin = sim.pool[copy];
  const packet& p = sim.pool[index];
  std::vector<std::byte> room = std::move(twin.payload);
  const std::uint64_t number = twin.number;
  twin = p;
  room.assign(p.payload.begin(), p.payload.end());
  twin.payload = std::move(room);
  twin.number = number;
  twin.unreported = false;
  twin.dead = true;
  if (p.kind != packet_kind::message) twin.size = 0;
  sim.note(trace_event::duplicated, from.id, p.number);
  return copy;
}

/// Whether a message is a handshake of weft (wire/hello.hpp): it begins with a magic number, after a header or without.
inline bool opens_connection(const packet& p) {
  constexpr std::string_view magic = "weft";
  const std::string_view text(reinterpret_cast<const char*>(p.payload.data()), p.payload.size());
  return text.starts_with(magic) || text.substr(std::min<std::size_t>(text.size(), 8)).starts_with(magic);
}
/// The first message of a link usually opens a connection. Its duplicate may arrive much later, in any order. A message
/// of a user may be the first one, where the accept before it found no room; no reliable fabric delivers that twice.
inline void duplicate_handshake(simulation& sim, const endpoint& from, const link_state& link, std::uint32_t index) {
  if (from.row.connected || link.last_message != 0 || !opens_connection(sim.pool[index])) return;
  if (!sim.time.draw.hits(sim.wrong.handshake_duplication)) return;
  const std::uint32_t copy = duplicate(sim, from, index);
  sim.pool[copy].stage = packet_stage::arriving;
  sim.time.post(sim.after(sim.wrong.delay_least, sim.wrong.handshake_delay), due_kind::packet, copy);
}

/// Applies raw faults. Returns whether the packet is gone.
inline bool spoil(simulation& sim, const endpoint& from, link_state& link, std::uint32_t index) {
  const bool message = sim.pool[index].kind == packet_kind::message;
  if (!message && !sim.pool[index].immediate_given) return false;
  if (message) duplicate_handshake(sim, from, link, index);
  const bool doubled = message && strikes(sim, planted_bug::double_message, 13);
  if (doubled || sim.time.draw.hits(sim.wrong.raw_duplication)) send_off(sim, from, link, duplicate(sim, from, index));
  if (message && sim.pool[index].total() > 40 && strikes(sim, planted_bug::corrupt_message, 13))
    sim.pool[index].payload.back() ^= std::byte{1};
  if (!message && strikes(sim, planted_bug::lost_notification, 7)) sim.pool[index].immediate_lost = true;
  const bool vanishes = message && strikes(sim, planted_bug::lost_message, 13);
  if (!vanishes && !sim.time.draw.hits(sim.wrong.raw_loss)) return false;
  packet& p = sim.pool[index];
  sim.note(trace_event::lost, from.id, p.number);
  if (!message) {
    p.immediate_lost = true;
    return false;
  }
  end(sim, p, p.mode == post_mode::delivered && !vanishes ? error(errc::broken, "send") : status{});
  sim.pool.give_back(index);
  return true;
}

/// Reads the source. Where the row reports no more than that, the operation ends here.
inline void depart(simulation& sim, std::uint32_t index) {
  packet& p = sim.pool[index];
  endpoint& from = *sim.endpoints[p.from.port];
  link_state* link = from.find(p.from);
  if (from.crashed || p.from.index >= from.links.size()) return sim.pool.give_back(index);
  // The link was hung up: its posted operations still leave.
  if (link == nullptr) link = from.links[p.from.index].get();
  const bool carries = p.kind == packet_kind::message || p.kind == packet_kind::write;
  if (carries && !p.injected && !p.dead) p.load();
  if (carries && spoil(sim, from, *link, index)) return;
  const bool early = p.mode != post_mode::delivered &&
                     (p.kind == packet_kind::message ? sim.time.draw.below(2) == 0
                                                     : p.kind == packet_kind::write && !from.row.reports_refusal);
  if (early) end(sim, p, {});
  send_off(sim, from, *link, index);
}

/// No port takes the packet. The initiator gets an error where the row reports it; otherwise the operation never ends.
inline void lose(simulation& sim, std::uint32_t index) {
  packet& p = sim.pool[index];
  const endpoint& from = *sim.endpoints[p.from.port];
  if (p.kind == packet_kind::dial && sim.wrong.bug != planted_bug::lost_refusal) {
    const bool silent = p.to.port != no_index && sim.endpoints[p.to.port]->crashed;
    const duration answered =
        silent ? sim.cost.dial_timeout : sim.time.draw.between(sim.wrong.delay_least, sim.wrong.delay_most);
    sim.time.post_action(sim.now() + answered.count(), [&sim, dialler = p.from] { refuse_dial(sim, dialler); });
  }
  if (!p.unreported || !is_data(p.kind)) return sim.pool.give_back(index);
  p.stage = packet_stage::stuck;
  if (from.row.connected || !from.row.reports_death) return;
  p.outcome = error(errc::unreachable, "post");
  p.stage = packet_stage::returning;
  sim.time.post(sim.after(sim.cost.death_least, sim.cost.death_most), due_kind::packet, index);
}

/// Executes a packet that reached the target's queues.
inline void deliver(simulation& sim, std::uint32_t index) {
  packet& p = sim.pool[index];
  endpoint& target = *sim.endpoints[p.to.port];
  if (!target.open) return lose(sim, index);
  if (!is_data(p.kind)) return arrive_at_link(sim, index);
  if (target.row.connected && target.find(p.to) == nullptr) return lose(sim, index);
  switch (p.kind) {
    case packet_kind::message:
      return match_or_starve(sim, target, *target.receives_of(p.to), index);
    case packet_kind::write:
      return deliver_write(sim, target, index);
    case packet_kind::read:
      return deliver_read(sim, target, index);
    default:
      return deliver_atomic(sim, target, index);
  }
}

/// The reply reached the initiator: copies the requested bytes and ends the operation.
inline void settle(simulation& sim, std::uint32_t index) {
  packet& p = sim.pool[index];
  if (p.unreported && p.outcome && !p.dead) {
    if (p.kind == packet_kind::read)
      p.each_piece([from = p.payload.data()](std::byte* piece, std::size_t bytes) mutable {
        std::memcpy(piece, from, bytes);
        from += bytes;
      });
    if (p.kind == packet_kind::atomic) std::memcpy(p.change.old, &p.change.operand, size_of(p.change.type));
  }
  end(sim, p, p.outcome);
  sim.pool.give_back(index);
}

/// Returns whether a cut or a pause delays the packet.
inline bool held_up(simulation& sim, std::uint32_t index, const endpoint& goes_to, std::uint32_t comes_from_node) {
  if (cut_path* cut = sim.cut_on_the_way(comes_from_node, goes_to.node); cut != nullptr) {
    cut->held.push_back(index);
    return true;
  }
  const std::int64_t pause = sim.nodes[goes_to.node].paused_until;
  const bool needs_process = !goes_to.row.hardware || !is_data(sim.pool[index].kind);
  if (pause <= sim.now() || !needs_process) return false;
  sim.time.post(pause, due_kind::packet, index, 0, true);
  return true;
}

inline void arrive(simulation& sim, std::uint32_t index) {
  packet& p = sim.pool[index];
  if (p.to.port == no_index) return lose(sim, index);
  endpoint& target = *sim.endpoints[p.to.port];
  if (held_up(sim, index, target, sim.endpoints[p.from.port]->node)) return;
  if (std::exchange(p.torn, false)) {
    if (target.open) deliver_last_half(sim, target, p);
    return;
  }
  sim.note(trace_event::arrived, target.id, p.number);
  const bool waits = target.row.polls && (is_data(p.kind) || p.kind == packet_kind::goodbye);
  if (!target.open || (!waits && p.kind != packet_kind::knock)) return deliver(sim, index);
  p.stage = packet_stage::waiting;
  target.incoming.push_back(index);
  wake_sleeper(sim, target);
}

inline void come_back(simulation& sim, std::uint32_t index) {
  packet& p = sim.pool[index];
  endpoint& initiator = *sim.endpoints[p.from.port];
  if (!initiator.open || !p.unreported) return sim.pool.give_back(index);
  if (held_up(sim, index, initiator, sim.endpoints[p.to.port == no_index ? p.from.port : p.to.port]->node)) return;
  if (!initiator.row.polls) return settle(sim, index);
  initiator.incoming.push_back(index);
  wake_sleeper(sim, initiator);
}

/// Executes what is due for a packet.
inline void move_on(simulation& sim, std::uint32_t index) {
  switch (sim.pool[index].stage) {
    case packet_stage::departing:
      return depart(sim, index);
    case packet_stage::arriving:
      return arrive(sim, index);
    case packet_stage::returning:
      return come_back(sim, index);
    default:
      return;
  }
}

/// The owner polls: handles the packets that waited for a poll.
inline void progress(simulation& sim, endpoint& at) {
  for (std::size_t budget = at.incoming.size(); budget != 0 && !at.incoming.empty(); --budget) {
    const std::uint32_t index = at.incoming.front();
    at.incoming.pop_front();
    if (sim.pool[index].stage == packet_stage::returning) settle(sim, index);
    else deliver(sim, index);
  }
}

}  // namespace weft::backends::loopback
