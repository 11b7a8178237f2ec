// SPDX-License-Identifier: Apache-2.0
//
// Set-up calls of a port: open in a world, address, memory registration, dial, close. Errors carry sentences.
// Hot path: no. Threads: one.
#pragma once

#include "world.hpp"

#include <algorithm>

namespace weft::backends::loopback {

/// A service for a port that asked for none. The first ports of a world take the system's range for such ports, in
/// turn; later ones any number that is free on their host. "0": none is.
inline std::string free_service(simulation& sim, const std::string& host, std::uint32_t id) {
  constexpr std::uint32_t first = 1024, usual = 49152, end = 65536;
  if (id < end - usual) return std::to_string(usual + id);
  const std::string prefix = host + ":";
  for (std::uint32_t i = 0; i < end - first; ++i) {
    std::string service = std::to_string(first + (id + i) % (end - first));
    if (endpoint_at(sim, as_bytes(prefix + service)) == nullptr) return service;
  }
  return "0";
}

inline result<std::shared_ptr<endpoint>> open_endpoint(simulation& sim, const port_options& options,
                                                       const behaviour& row, std::string_view fabric) {
  if (options.operations == 0 || options.receives == 0)
    return {error(errc::invalid, "open"),
            std::string(fabric) + " (loopback): a port needs at least one operation and one receive; asked for " +
                std::to_string(options.operations) + " and " + std::to_string(options.receives)};
  auto fresh = std::make_shared<endpoint>();
  fresh->id = static_cast<std::uint32_t>(sim.endpoints.size());
  fresh->node = sim.here();
  fresh->options = options;
  fresh->row = row;
  fresh->host = options.node;
  const std::string host = options.node.empty() ? sim.nodes[fresh->node].name : options.node;
  fresh->service = options.service.empty() ? free_service(sim, host, fresh->id) : options.service;
  if (row.resolves) {
    fresh->address = as_bytes(host + ":" + fresh->service);
    if (endpoint* taken = endpoint_at(sim, fresh->address); taken != nullptr)
      return {error(errc::rejected, "open"), std::string(fabric) + " (loopback): service " + fresh->service +
                                                 " is taken by a port of node '" + sim.nodes[taken->node].name +
                                                 "'; choose another, or leave it empty"};
  } else {
    fresh->address.resize(21);  // a length that no caller would guess
    for (std::byte& each : fresh->address) each = static_cast<std::byte>(sim.time.draw.below(256));
  }
  fresh->completions.reserve(options.operations + options.receives);
  fresh->incoming.reserve(options.operations);
  fresh->link_events.reserve(options.links);
  if (!row.connected || row.pooled) fresh->receives.posted.reserve(options.receives);
  sim.pool.reserve_for_port(std::min<std::size_t>(options.operations, 512));
  sim.endpoints.push_back(fresh);
  enter_place(sim, *fresh);
  return fresh;
}

inline result<link_name> dial_endpoint(simulation& sim, endpoint& at, const address_bytes& to, std::uint32_t tag,
                                       std::string_view fabric) {
  if (to.empty())
    return {error(errc::invalid, "dial"),
            std::string(fabric) + " (loopback): dialled an empty address; use one from address() or resolve()"};
  const link_name name = new_link(at);
  link_state& link = *at.links[name.index];
  link.tag = tag;
  link.dialled = to;
  endpoint* there = endpoint_at(sim, to);
  if (there != nullptr) link.peer = {there->id, no_index, 0};
  if (!at.row.connected) {
    link.phase = link_phase::open;
    change(sim, at, {link_change::established, name, {}});
    return name;
  }
  link.phase = link_phase::dialling;
  signal(sim, packet_kind::dial, name, link.peer);
  return name;
}

inline void close_endpoint(simulation& sim, endpoint& at) {
  for (std::uint32_t i = 0; i < at.links.size(); ++i)
    if (at.links[i]->phase != link_phase::unused) release_link(sim, at, {at.id, i, at.links[i]->generation});
  for (; !at.link_events.empty(); at.link_events.pop_front())
    if (at.link_events.front().what == link_change::arrived)
      signal(sim, packet_kind::refuse, {at.id, no_index, 0}, at.link_events.front().dialler);
  empty_endpoint(sim, at);
  at.crashed = false;
}

inline result<registration> register_region(simulation& sim, endpoint& at, bytes memory, rights granted,
                                            std::uint64_t wanted, std::string_view fabric) {
  if (sim.time.draw.hits(sim.wrong.no_memory))
    return {error(errc::no_memory, "register_memory"),
            std::string(fabric) + " (loopback): the library has no memory for another region"};
  std::uint64_t key = wanted;
  if (at.row.provider_key) {
    const bool again = sim.wrong.bug == planted_bug::reused_key;
    const std::uint64_t count = again ? at.regions.size() + 1 : ++at.keys_made;
    key = narrowed(at.row.key_bytes > 2 ? (count << 8) | (again ? 0 : sim.time.draw.below(256)) : count,
                   at.row.key_bytes);
  } else if (narrowed(wanted, at.row.key_bytes) != wanted) {
    return {error(errc::invalid, "register_memory"),
            std::string(fabric) + " (loopback): key " + std::to_string(wanted) + " does not fit into " +
                std::to_string(at.row.key_bytes) + " bytes; draw a narrower one"};
  }
  if (at.regions.contains(key))
    return {error(errc::rejected, "register_memory"), std::string(fabric) + " (loopback): key " + std::to_string(key) +
                                                          " names another region of this port already; draw another"};
  auto fresh = std::make_unique<region>(region{memory.data(), memory.size(), granted, true, key});
  const registration made{fresh.get(), at.row.needs_descriptor ? fresh.get() : nullptr, key, memory.data(),
                          memory.size()};
  at.regions.emplace(key, fresh.get());
  at.memory.emplace(fresh.get(), std::move(fresh));
  return made;
}

inline registration register_here(endpoint& at, bytes memory) {
  auto fresh = std::make_unique<region>(region{memory.data(), memory.size(), rights::none, false});
  const registration made{fresh.get(), at.row.needs_descriptor ? fresh.get() : nullptr, 0, memory.data(),
                          memory.size()};
  at.memory.emplace(fresh.get(), std::move(fresh));
  return made;
}

inline void deregister_region(const simulation& sim, endpoint& at, registration& held) {
  if (sim.wrong.bug == planted_bug::stale_region && at.open) {
    held = registration{};
    return;
  }
  if (const auto found = at.memory.find(held.native); found != at.memory.end()) {
    if (found->second->remote) at.regions.erase(found->second->key);
    at.memory.erase(found);
  }
  held = registration{};
}

}  // namespace weft::backends::loopback
