// SPDX-License-Identifier: Apache-2.0
//
// A user's handler behind one function pointer. Rare work (connections, timers, losses, waiting calls) reports events
// through it, so its code is compiled once for each fabric, not once for each handler of a program. Costs an indirect
// call for each event. Hot path: no, polls call the user's handler itself. Threads: the owner's.
#pragma once

#include "../events.hpp"

#include <cstdint>
#include <memory>
#include <type_traits>

namespace weft::detail {

class erased_handler {
 public:
  /// Refers to `on`, which must outlive the result. Of an erased handler it is a copy.
  template <class Handler>
  static erased_handler of(Handler& on) noexcept {
    if constexpr (std::is_same_v<std::remove_const_t<Handler>, erased_handler>) {
      return on;
    } else {
      const void* const handler = std::addressof(on);
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): call() makes the handler const again
      return {const_cast<void*>(handler), &call<Handler>};
    }
  }

  void operator()(const completed& e) const { (void)call_(on_, kind::completed, &e); }
  void operator()(const failed& e) const { (void)call_(on_, kind::failed, &e); }
  /// False: the handler leaves the message for later.
  bool operator()(const received& e) const { return call_(on_, kind::received, &e); }
  void operator()(const notified& e) const { (void)call_(on_, kind::notified, &e); }
  void operator()(const requested& e) const { (void)call_(on_, kind::requested, &e); }
  void operator()(const connected& e) const { (void)call_(on_, kind::connected, &e); }
  void operator()(const lost& e) const { (void)call_(on_, kind::lost, &e); }

 private:
  enum class kind : std::uint8_t { completed, failed, received, notified, requested, connected, lost };
  using function = bool (*)(void* on, kind, const void* event);

  erased_handler(void* on, function calls) noexcept : on_(on), call_(calls) {}

  template <class Handler>
  [[gnu::cold]] static bool call(void* on, kind what, const void* event) {
    Handler& handler = *static_cast<Handler*>(on);
    switch (what) {
      case kind::completed:
        return handler(*static_cast<const weft::completed*>(event)), true;
      case kind::failed:
        return handler(*static_cast<const weft::failed*>(event)), true;
      case kind::received:
        return offer(handler, *static_cast<const weft::received*>(event));
      case kind::notified:
        return handler(*static_cast<const weft::notified*>(event)), true;
      case kind::requested:
        return handler(*static_cast<const weft::requested*>(event)), true;
      case kind::connected:
        return handler(*static_cast<const weft::connected*>(event)), true;
      default:
        return handler(*static_cast<const weft::lost*>(event)), true;
    }
  }

  void* on_;
  function call_;
};

}  // namespace weft::detail
