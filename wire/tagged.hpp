// SPDX-License-Identifier: Apache-2.0
//
// A tagged message: head 8, tag 8, then the payload up to the message's end. And the credit that its receiver returns:
// one head. The four bits of a message's kind are all in use, so both are messages of the kind `group`. Their head
// names a kind that no member of a group has (wire/group.hpp). A side that matches tags says so in its hello; no other
// one gets such messages. All numbers are little-endian. Hot path: all but the hello. Threads: values.
#pragma once

#include "group.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::wire {

inline constexpr std::size_t tagged_head_bytes = 16;
inline constexpr std::size_t tagged_credit_bytes = 8;

namespace detail {
inline constexpr std::uint64_t tagged_head = std::uint64_t{group_kinds} << 16;
inline constexpr std::uint64_t credit_head = std::uint64_t{group_kinds + 1} << 16;
}  // namespace detail

/// The last word of introduction::shared where the sender of the hello matches tags: "tagged=32", its window. Nobody
/// compares it, so peers with and without it meet.
inline constexpr std::string_view tagged_word = "tagged=";
inline constexpr std::uint32_t largest_tagged_window = 4096;

/// The words that both sides must share: all but a last one of tagged messages.
constexpr std::string_view without_tagged_word(std::string_view shared) noexcept {
  const std::size_t last = shared.rfind(' ') == std::string_view::npos ? 0 : shared.rfind(' ') + 1;
  if (!shared.substr(last).starts_with(tagged_word)) return shared;
  return shared.substr(0, last == 0 ? 0 : last - 1);
}
/// The window that a hello says; 0: the side matches no tags, or the word is none that weft writes.
constexpr std::uint32_t tagged_window_in(std::string_view shared) noexcept {
  const std::size_t rest = without_tagged_word(shared).size();
  if (rest == shared.size()) return 0;
  const std::string_view digits = shared.substr(rest == 0 ? tagged_word.size() : rest + 1 + tagged_word.size());
  std::uint32_t window = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9' || window > largest_tagged_window) return 0;
    window = window * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return window <= largest_tagged_window ? window : 0;
}

/// Whether the message is one of the two, by its first bytes.
[[gnu::always_inline]] inline bool is_tagged(const_bytes body) noexcept {
  if (body.size() < group_head_bytes) return false;
  const std::uint64_t head = detail::load(body.data());
  return head == detail::tagged_head || static_cast<std::uint32_t>(head) == detail::credit_head;
}

/// Writes the bytes before a payload. Requires: tagged_head_bytes of room.
[[gnu::always_inline]] inline void encode_tagged(std::byte* at, std::uint64_t tag) noexcept {
  detail::store(at, detail::tagged_head);
  detail::store(at + group_head_bytes, tag);
}
struct tagged_message {
  std::uint64_t tag = 0;
  const_bytes payload{};
};
[[gnu::always_inline]] inline std::optional<tagged_message> parse_tagged(const_bytes body) noexcept {
  if (body.size() < tagged_head_bytes || detail::load(body.data()) != detail::tagged_head) return std::nullopt;
  return tagged_message{detail::load(body.data() + group_head_bytes), body.subspan(tagged_head_bytes)};
}

/// The number of messages that found their receive since the last credit.
inline void encode_tagged_credit(std::byte* at, std::uint32_t taken) noexcept {
  detail::store(at, detail::credit_head | std::uint64_t{taken} << 32);
}
inline std::optional<std::uint32_t> parse_tagged_credit(const_bytes body) noexcept {
  if (body.size() != tagged_credit_bytes) return std::nullopt;
  const std::uint64_t head = detail::load(body.data());
  if (static_cast<std::uint32_t>(head) != detail::credit_head) return std::nullopt;
  return static_cast<std::uint32_t>(head >> 32);
}

}  // namespace weft::wire
