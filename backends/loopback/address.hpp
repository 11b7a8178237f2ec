// SPDX-License-Identifier: Apache-2.0
//
// How an address names a port of a simulated world: the text host:service where the row resolves names, otherwise
// opaque bytes.
// Every host name of the local machine matches any node: a world has one machine's services.
// Hot path: no. Threads: one.
#pragma once

#include "simulation.hpp"

#include <string_view>

namespace weft::backends::loopback {

inline bool any_host(std::string_view host) noexcept {
  return host.empty() || host == "127.0.0.1" || host == "::1" || host == "localhost";
}

inline address_bytes as_bytes(std::string_view text) {
  address_bytes all(text.size());
  if (!text.empty()) std::memcpy(all.data(), text.data(), text.size());
  return all;
}
inline std::string as_text(const address_bytes& all) {
  return all.empty() ? std::string() : std::string(reinterpret_cast<const char*>(all.data()), all.size());
}

inline std::string place_of(const endpoint& at) { return at.row.resolves ? at.service : as_text(at.address); }
inline void enter_place(simulation& sim, const endpoint& at) { sim.places[place_of(at)].push_back(at.id); }
inline void leave_place(simulation& sim, const endpoint& at) {
  const auto found = sim.places.find(place_of(at));
  if (found == sim.places.end()) return;
  std::erase(found->second, at.id);
  if (found->second.empty()) sim.places.erase(found);
}

/// Returns the open port at this address, or null. Of several, the one that opened first.
inline endpoint* endpoint_at(simulation& sim, const address_bytes& address) {
  const std::string text = as_text(address);
  const std::size_t colon = text.rfind(':');
  const auto at_place = [&](const std::string& place, auto&& matches) -> endpoint* {
    const auto found = sim.places.find(place);
    if (found == sim.places.end()) return nullptr;
    for (const std::uint32_t id : found->second)
      if (endpoint& held = *sim.endpoints[id]; held.open && matches(held)) return &held;
    return nullptr;
  };
  endpoint* const opaque =
      at_place(text, [&](const endpoint& held) { return !held.row.resolves && held.address == address; });
  if (colon == std::string::npos) return opaque;
  const std::string host = text.substr(0, colon);
  endpoint* const named = at_place(text.substr(colon + 1), [&](const endpoint& held) {
    return held.row.resolves &&
           (any_host(host) || any_host(held.host) || host == held.host || host == sim.nodes[held.node].name);
  });
  if (opaque == nullptr || named == nullptr) return opaque == nullptr ? named : opaque;
  return opaque->id < named->id ? opaque : named;
}

}  // namespace weft::backends::loopback
