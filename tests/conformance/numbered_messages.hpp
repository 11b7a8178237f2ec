// SPDX-License-Identifier: Apache-2.0
//
// Messages that carry their number in a stream, and bytes that follow from it.
// Hot path: no. Threads: any; values.
#pragma once

#include "two_sides.hpp"

#include <algorithm>
#include <cstring>

namespace weft::conformance {

/// Message i of a stream: its number first where there is room, then a pattern.
inline void write_message(bytes into, std::uint32_t i) {
  paint(into, i);
  if (into.size() >= sizeof i) std::memcpy(into.data(), &i, sizeof i);
}
inline std::uint32_t number_of(const_bytes message) {
  std::uint32_t i = 0;
  if (message.size() >= sizeof i) std::memcpy(&i, message.data(), sizeof i);
  return i;
}
inline bool is_message(const_bytes message, std::uint32_t i) {
  std::vector<std::byte> expected(message.size());
  write_message(expected, i);
  return std::equal(expected.begin(), expected.end(), message.begin());
}

}  // namespace weft::conformance
