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

/// Returns the open port at this address, or null.
inline endpoint* endpoint_at(simulation& sim, const address_bytes& address) {
  const std::string text = as_text(address);
  const std::size_t colon = text.rfind(':');
  for (auto& held : sim.endpoints) {
    if (!held->open) continue;
    if (!held->row.resolves && held->address == address) return held.get();
    if (!held->row.resolves || colon == std::string::npos || text.substr(colon + 1) != held->service) continue;
    const std::string host = text.substr(0, colon);
    if (any_host(host) || any_host(held->host) || host == held->host || host == sim.nodes[held->node].name)
      return held.get();
  }
  return nullptr;
}

}  // namespace weft::backends::loopback
