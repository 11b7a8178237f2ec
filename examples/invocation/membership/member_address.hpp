// SPDX-License-Identifier: Apache-2.0
//
// What a member of etcd must be to count as a manager: its name and its value are addresses. Others may write there
// too, so anything may stand there. Hot path: no. Threads: values.
#pragma once

#include <algorithm>
#include <string_view>

namespace weft::invocation {

inline constexpr std::size_t longest_address = 255;

/// host:service in printable characters without a space: no line of a list, and no sentence, can break at it.
inline bool is_address(std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < text.size() && text.size() <= longest_address &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace weft::invocation
