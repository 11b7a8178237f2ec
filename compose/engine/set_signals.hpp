// SPDX-License-Identifier: Apache-2.0
//
// What the engines of a set of fabrics tell the set outside of the program's events, so that polls pass the program's
// handler on unchanged. An engine alone has no set. Hot path: the set reads `sole`. Threads: the owner's.
#pragma once

#include <cstdint>
#include <string>

namespace weft::detail {

struct set_signals {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The number of the only fabric with peers: a poll of the set is its poll. Timers of an engine write `none` once a
  /// millisecond, and the set looks after its other fabrics.
  std::uint32_t sole = none;
  const std::string* last_reason = nullptr;  ///< Of the engine that lost a peer last.
};

}  // namespace weft::detail
