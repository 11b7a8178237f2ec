// SPDX-License-Identifier: Apache-2.0
//
// What text from outside must be to count as an address. Others than managers may write to etcd, and any client may
// name its own address, so anything may stand there. Hot path: no. Threads: values.
#pragma once

#include <algorithm>
#include <string_view>

namespace weft::invocation {

inline constexpr std::size_t longest_address = 255;

/// host:service in printable characters without a space: no line of a list, no sentence and no argument of a program
/// can break at it. No host begins with '-', which begins an option.
inline bool is_address(std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < text.size() && text.size() <= longest_address &&
         text.front() != '-' && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace weft::invocation
