// SPDX-License-Identifier: Apache-2.0
//
// How links begin and end: dial, arrival, establishment, refusal, loss; requests to lazy fabrics; and the end of a
// port.
// A passive link may receive before its `established` event, as on real connection managers.
// Hot path: no (one queue check per poll_links). Threads: one.
#pragma once

#include "transmission.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace weft::backends::loopback {

inline link_name new_link(endpoint& at) {
  auto index = static_cast<std::uint32_t>(at.links.size());
  if (at.free_links.empty()) {
    at.links.push_back(std::make_unique<link_state>());
  } else {
    std::pop_heap(at.free_links.begin(), at.free_links.end(), std::greater<>());
    index = at.free_links.back();
    at.free_links.pop_back();
  }
  link_state& fresh = *at.links[index];
  const link_state before = std::move(fresh);
  fresh = link_state{};
  fresh.generation = before.generation + 1;
  fresh.last_departure = before.last_departure;  // Packets of the last link keep their order.
  fresh.last_message = before.last_message;
  fresh.last_write = before.last_write;
  fresh.last_any = before.last_any;
  if (at.row.connected && !at.row.pooled) fresh.receives.posted.reserve(at.options.receives);
  return {at.id, index, fresh.generation};
}

/// Sends a connection packet after everything that was sent before on the named link.
inline void signal(simulation& sim, packet_kind kind, const link_name& from, const link_name& to,
                   std::uint64_t tag = no_tag) {
  const std::uint32_t index = sim.pool.take();
  packet& p = sim.pool[index];
  p.kind = kind;
  p.from = from;
  p.to = to;
  p.immediate = tag;
  endpoint& at = *sim.endpoints[from.port];
  if (from.index < at.links.size()) {
    link_state& link = *at.links[from.index];
    const std::int64_t free_at = std::max(link.last_departure, sim.now());
    link.last_any = std::max(link.last_any, free_at);
    if (kind != packet_kind::goodbye) return send_off(sim, at, link, index);
    p.stage = packet_stage::departing;
    link.last_departure = free_at + 1;
    return sim.time.post(free_at + 1, due_kind::packet, index);
  }
  p.stage = packet_stage::arriving;
  sim.time.post(sim.after(sim.wrong.delay_least, sim.wrong.delay_most), due_kind::packet, index);
}

/// Breaks a link: each of its operations fails, posted receives fail, and the owner gets the event.
inline void break_link(simulation& sim, endpoint& at, const link_name& name, link_change what = link_change::lost) {
  link_state* link = at.find(name);
  if (!at.open || link == nullptr || link->phase == link_phase::lost) return;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> left;
  for (std::uint32_t i = 0; link->in_flight != 0 && i < sim.pool.size(); ++i)
    if (sim.pool[i].stage != packet_stage::unused && sim.pool[i].from == name && sim.pool[i].unreported)
      left.emplace_back(sim.pool[i].number, i);
  std::sort(left.begin(), left.end());
  link->phase = link_phase::lost;
  for (const auto& [number, index] : left) {
    packet& p = sim.pool[index];
    if (p.stage == packet_stage::departing && !p.injected &&
        (p.kind == packet_kind::message || p.kind == packet_kind::write))
      p.load();
    p.dead = true;
    end(sim, p, error(errc::peer_lost, "link"));
    if (p.stage == packet_stage::stuck) sim.pool.give_back(index);
  }
  for (; !link->receives.posted.empty(); link->receives.posted.pop_front()) {
    completion_entry entry;
    entry.kind = completion_kind::received;
    entry.context = link->receives.posted.front().context;
    entry.outcome = error(errc::peer_lost, "receive");
    report(sim, at, entry, name);
  }
  change(sim, at, {what, name, {}});
}

inline void refuse_dial(simulation& sim, const link_name& dialler) {
  endpoint& at = *sim.endpoints[dialler.port];
  link_state* link = at.find(dialler);
  if (link != nullptr && link->phase == link_phase::dialling) break_link(sim, at, dialler, link_change::refused);
}

/// The process of the other side died after it had dialled or accepted: the link breaks where the row reports that.
inline void break_if_dead(simulation& sim, const endpoint& at, const link_name& name, std::uint32_t other) {
  if (!sim.endpoints[other]->crashed || !at.row.reports_death) return;
  sim.time.post_action(sim.after(sim.cost.death_least, sim.cost.death_most),
                       [&sim, name] { break_link(sim, *sim.endpoints[name.port], name); });
}

inline void arrive_at_link(simulation& sim, std::uint32_t index) {
  const packet p = sim.pool[index];
  sim.pool.give_back(index);
  endpoint& target = *sim.endpoints[p.to.port];
  link_state* link = target.find(p.to);
  switch (p.kind) {
    case packet_kind::dial:
      if (!target.options.listens) return signal(sim, packet_kind::refuse, {p.to.port, no_index, 0}, p.from);
      return change(sim, target, {link_change::arrived, {}, p.from});
    case packet_kind::accept:
      if (link == nullptr || link->phase != link_phase::dialling)
        return signal(sim, packet_kind::goodbye, {p.to.port, no_index, 0}, p.from);
      link->phase = link_phase::accepted;
      link->peer = p.from;
      link->peer_tag = static_cast<std::uint32_t>(p.immediate);
      signal(sim, packet_kind::confirm, {p.to.port, no_index, 0}, p.from);
      break_if_dead(sim, target, p.to, p.from.port);
      return change(sim, target, {link_change::established, p.to, {}});
    case packet_kind::confirm:
      if (link != nullptr && link->phase == link_phase::accepted)
        change(sim, target, {link_change::established, p.to, {}});
      return;
    case packet_kind::refuse:
      return refuse_dial(sim, p.to);
    case packet_kind::goodbye:
      return break_link(sim, target, p.to);
    case packet_kind::knock:
      return signal(sim, packet_kind::knock_answer, {p.to.port, no_index, 0}, p.from);
    default:
      if (link != nullptr) link->warm = true;
      ++target.events;
      return wake_sleeper(sim, target);
  }
}

/// Discards queued completions and events of a link that ends. A connection request belongs to another link and stays.
inline void discard_reports(endpoint& at, const link_name& name) {
  for (std::size_t n = at.row.connected ? at.completions.size() : 0; n != 0; --n) {
    const pending_completion held = at.completions.front();
    at.completions.pop_front();
    // The pool's owner must get the receive back.
    const bool keeps_receive = at.row.pooled && held.entry.kind != completion_kind::ended;
    if (held.at != name || keeps_receive) at.completions.push_back(held);
  }
  for (std::size_t n = at.link_events.size(); n != 0; --n) {
    const link_event held = at.link_events.front();
    at.link_events.pop_front();
    if (held.at != name || held.what == link_change::arrived) at.link_events.push_back(held);
  }
}

/// Operations posted on a link that ends still leave. They complete later where the row may report that, otherwise
/// never.
inline void disown(simulation& sim, endpoint& at, const link_name& name) {
  if (const link_state* link = at.find(name); link == nullptr || link->in_flight == 0) return;
  for (std::uint32_t i = 0; i < sim.pool.size(); ++i) {
    packet& p = sim.pool[i];
    if (p.stage == packet_stage::unused || p.from != name || !p.unreported) continue;
    const bool carries = p.kind == packet_kind::message || p.kind == packet_kind::write;
    if (p.stage == packet_stage::departing && carries && !p.injected) p.load();
    p.dead = true;
    const bool late = !at.row.connected && p.stage != packet_stage::stuck && !p.injected;
    if (late) continue;
    p.unreported = false;
    if (at.in_flight > 0) --at.in_flight;
    if (p.stage == packet_stage::stuck) sim.pool.give_back(i);
  }
}

/// Ends a link. Posted operations still leave, and their sources have been read when this returns. On connected fabrics
/// nothing is reported afterwards.
inline void release_link(simulation& sim, endpoint& at, const link_name& name) {
  link_state* link = at.find(name);
  if (link == nullptr) return;
  disown(sim, at, name);
  if (at.row.connected) {
    if (link->peer.port != no_index && link->peer.index != no_index && link->phase != link_phase::lost)
      signal(sim, packet_kind::goodbye, name, link->peer);
    for (; !link->receives.starved.empty(); link->receives.starved.pop_front())
      lose(sim, link->receives.starved.front());
    for (std::size_t n = at.row.pooled ? at.receives.starved.size() : 0; n != 0; --n) {
      const std::uint32_t waits = at.receives.starved.front();
      at.receives.starved.pop_front();
      if (sim.pool[waits].to == name) lose(sim, waits);
      else at.receives.starved.push_back(waits);
    }
  }
  discard_reports(at, name);
  link->phase = link_phase::unused;
  link->receives = receive_queue{};
  at.free_links.push_back(name.index);
  std::push_heap(at.free_links.begin(), at.free_links.end(), std::greater<>());
}

/// Returns a link on which receives can be posted before its dialler gets a reply.
inline link_name offer_link(endpoint& at, const link_name& dialler) {
  const link_name fresh = new_link(at);
  link_state& link = *at.links[fresh.index];
  link.phase = link_phase::offered;
  link.peer = dialler;
  return fresh;
}

/// Accepts the dialler, or refuses it where the handler returned no tag.
inline void answer_dial(simulation& sim, endpoint& at, const link_name& fresh, std::uint32_t tag) {
  link_state* link = at.find(fresh);
  if (link == nullptr) return;  // The handler hung up.
  if (tag == no_tag) {
    const link_name dialler = std::exchange(link->peer, link_name{});
    release_link(sim, at, fresh);
    return signal(sim, packet_kind::refuse, {at.id, no_index, 0}, dialler);
  }
  link->tag = tag;
  link->phase = link_phase::accepted;
  signal(sim, packet_kind::accept, fresh, link->peer, at.row.pooled ? tag : no_tag);
  break_if_dead(sim, at, fresh, link->peer.port);
}

/// A lazy fabric asks its peer for a connection; the peer answers when it polls.
inline void knock(simulation& sim, const link_name& name, link_state& link) {
  if (link.knocked_at != 0 && sim.now() - link.knocked_at < 5'000'000) return;
  link.knocked_at = sim.now();
  if (link.peer.port != no_index) signal(sim, packet_kind::knock, name, link.peer);
}

}  // namespace weft::backends::loopback
