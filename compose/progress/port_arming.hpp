// SPDX-License-Identifier: Apache-2.0
//
// A port's wait in two halves, where it has them: arm() before a sleep that the port does not see, disarm() after it.
// Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/sleep_descriptors.hpp"

#include <concepts>
#include <type_traits>

namespace weft::detail {

struct port_arming {
  template <class Port>
  static constexpr bool arms = requires(Port& port, sleep_descriptors& on) {
    { port.arm(on) } -> std::same_as<bool>;
    port.disarm(true);
  };
  template <class Port>
  static bool arm(Port& port, sleep_descriptors& on) noexcept requires(arms<Port>) {
    return port.arm(on);
  }
  template <class Port>
  static bool arm(Port& /*port*/, sleep_descriptors& /*on*/) noexcept {
    return false;
  }
  template <class Port>
  static void disarm(Port& port, bool came) noexcept requires(arms<Port>) {
    port.disarm(came);
  }
  template <class Port>
  static void disarm(Port& /*port*/, bool /*came*/) noexcept {}
  /// Whether arming makes a descriptor readable at the next arrival.
  template <class Engine>
  static bool can_arm(Engine& engine) noexcept {
    return arms<std::remove_reference_t<decltype(*engine.port)>> && engine.port->descriptor() >= 0;
  }
};

}  // namespace weft::detail
