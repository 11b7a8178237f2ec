// SPDX-License-Identifier: Apache-2.0
//
// The parameters of the probe, all from its caller: which provider, at which address, how long. No provider's name is
// in this code, so an unknown provider is probed like any other. Hot path: no. Threads: values.
#pragma once

#include <rdma/fabric.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace weft::probe {

using milliseconds = std::chrono::milliseconds;

/// One provider to probe.
struct demands {
  std::string provider;     ///< As the library prints it.
  std::string fabric_name;  ///< Only where a provider offers several.
  std::string node;  ///< A local address for both processes; unused where the provider's addresses are not of sockets.
  bool connected = false;      ///< Connected or addressed endpoints.
  bool automatic = false;      ///< Request automatic progress of the library.
  bool atomics = false;        ///< Request atomics too, in every behaviour.
  bool pointers = false;       ///< Request remote addresses that are pointers. A reply without them is no answer.
  bool provider_keys = false;  ///< Request keys that the provider makes. A reply without them is no answer.
  std::uint32_t api = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  milliseconds deadline{9000};
};

}  // namespace weft::probe
