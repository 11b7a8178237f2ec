// SPDX-License-Identifier: Apache-2.0
//
// Text of a peer, before it becomes part of a sentence. A terminal obeys control characters and escape sequences, and
// characters that change the direction of text hide what is written.
// Hot path: no. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

namespace detail {

/// The first character of a UTF-8 text. `bytes` is 0 where the text does not begin with a well-formed one.
struct character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};
constexpr character first_character(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (at(i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}
/// Neither a control character, nor a separator of lines, nor one that is invisible or turns the text around.
constexpr bool is_printable(std::uint32_t code) noexcept {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad) return false;
  if ((code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e)) return false;
  return !(code >= 0x2060 && code <= 0x206f) && code != 0x61c && code != 0xfeff &&
         !(code >= 0xe0000 && code <= 0xe0fff);
}

}  // namespace detail

/// The text with '?' in place of each byte and each character that must not reach a terminal. UTF-8 stays.
inline std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const detail::character first = detail::first_character(text);
    if (first.bytes != 0 && detail::is_printable(first.code)) shown += text.substr(0, first.bytes);
    else shown += '?';
    text.remove_prefix(first.bytes == 0 ? 1 : first.bytes);
  }
  return shown;
}

}  // namespace weft
