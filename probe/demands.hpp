// SPDX-License-Identifier: Apache-2.0
//
// What the probe is told, all of it by its caller: which provider, at which address, how long. Nothing here knows a
// provider by name, so that a provider which nobody has seen is probed like any other. Hot path: no. Threads: values.
#pragma once

#include <rdma/fabric.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace weft::probe {

using milliseconds = std::chrono::milliseconds;

/// One provider to look at.
struct demands {
  std::string provider;     ///< As the library prints it.
  std::string fabric_name;  ///< Only where a provider offers several.
  std::string
      node;  ///< A local address for both processes; unused where the provider's addresses are none of a socket.
  bool connected = false;  ///< Connected or addressed endpoints.
  bool automatic = false;  ///< Ask the library to progress by itself.
  std::uint32_t api = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  milliseconds deadline{9000};
};

}  // namespace weft::probe
