// SPDX-License-Identifier: Apache-2.0
//
// Devices of a fabric that has several: as its library offers them, which one open takes, and what is said about each.
// A choice comes as a function: only programs that ask for a near device (compose/connecting/near_device.hpp) carry its
// code. Hot path: no. Threads: values.
#pragma once

#include "error.hpp"
#include "memory.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A device as a library offers it.
struct offered_device {
  std::string name;           ///< The library's name.
  std::string bus{};          ///< "0000:3b:00.0"; empty where the library does not say.
  std::string system_name{};  ///< The system's name of it, where that is another one.
};

/// What transport::explain() says about one device of a fabric.
struct device_verdict {
  std::string_view fabric;
  std::string device;  ///< As the library names it: "mlx5_0", "eth0".
  std::string bus;     ///< Its PCI address: "0000:3b:00.0"; empty where it has none, or nobody says.
  bool taken = false;  ///< The transport uses it. Of one list, exactly one is.
  std::string reason;  ///< One sentence without a full stop.
};

/// The devices that a library offers, in its order, as it holds them: a list of replies has several for one device.
struct device_offers {
  const void* first = nullptr;  ///< Not null.
  const void* (*next)(const void* one) = nullptr;
  offered_device (*described)(const void* one) = nullptr;
};

/// The chosen offer, and a verdict for each device, in the library's order.
struct device_choice {
  const void* taken = nullptr;
  std::vector<device_verdict> verdicts;
};

/// Which device open takes where a fabric has several; near_this_thread() and near_memory() make one
/// (compose/connecting/near_device.hpp). A device on another NUMA node pays the way between the packages.
struct device_near {
  using chooser = result<device_choice> (*)(std::string_view fabric, const device_offers& all, const_bytes memory);
  chooser choose = nullptr;  ///< Null: the library's first device.
  const_bytes memory{};      ///< The buffer that is meant, if the choice goes by a buffer.
};

}  // namespace weft
