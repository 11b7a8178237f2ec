// SPDX-License-Identifier: Apache-2.0
//
// A message whose receive makes no entry (policies/framing.hpp, watched_words): tag, length word, bytes, tail. The
// target looks at the length word of the buffer that is filled next, and then at the tail, whose place the length
// tells. Why old bytes are never taken for a message: buffers are cleared before they are posted, all that a message
// had touched, so that what is not 0 was written since. Bytes appear from the first to the last
// (bytes_visible_in_order), and neither word ends with a byte of 0: whoever sees a word's last byte sees the word, and
// whatever lies before it. A count in the tail would not do instead: old payload can hold any count. Hot path: a load
// and a comparison. Threads: values.
#pragma once

#include "message_tag.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::wire {

static_assert(std::endian::native == std::endian::little,
              "weft: framing::watched_words is written for processors that store the low byte first");

/// The header's second word: these four bits, then the number of bytes between header and tail.
inline constexpr std::uint32_t watched_mark = 0xa000'0000;
inline constexpr std::size_t largest_watched_message = 0x0fff'ffff;
constexpr std::uint32_t length_word(std::size_t size) noexcept {
  return watched_mark | static_cast<std::uint32_t>(size);
}

inline constexpr std::uint64_t watched_tail = 0x9d9c'9b9a'9998'9796;
inline constexpr std::size_t watched_tail_bytes = sizeof watched_tail;

/// What lies in a buffer that was cleared before it was posted.
enum class watched_verdict : std::uint8_t {
  nothing,   ///< Nothing, or not all of it yet.
  whole,     ///< A message.
  too_long,  ///< It says that it is longer than the room: the library tells of it.
  foreign,   ///< No build with watched words sends this.
};
struct watched_look {
  watched_verdict verdict = watched_verdict::nothing;
  std::size_t size = 0;  ///< Of a whole message: without header and tail.
};

/// Whether anything is there to look at more closely.
[[gnu::always_inline]] inline bool stirs(const std::byte* buffer) noexcept {
  return buffer[header_bytes - 1] != std::byte{0};
}

/// Requires: `room` bytes of buffer, at least header and tail. A peer that lies about its length harms its own link
/// only.
[[gnu::always_inline]] inline watched_look look_at(const std::byte* buffer, std::size_t room) noexcept {
  if (!stirs(buffer)) return {};
  std::uint32_t word = 0;
  std::memcpy(&word, buffer + sizeof(message_tag), sizeof word);
  if ((word & ~static_cast<std::uint32_t>(largest_watched_message)) != watched_mark) [[unlikely]]
    return {watched_verdict::foreign, 0};
  const std::size_t size = word & largest_watched_message;
  if (size > room - header_bytes - watched_tail_bytes) [[unlikely]]
    return {watched_verdict::too_long, size};
  std::uint64_t tail = 0;
  std::memcpy(&tail, buffer + header_bytes + size, sizeof tail);
  if (tail == watched_tail) [[likely]]
    return {watched_verdict::whole, size};
  return {tail >> 56 == 0 ? watched_verdict::nothing : watched_verdict::foreign, 0};
}

/// Makes a buffer all 0 again that was so before a message lay in it, or a part of one. Requires: as look_at.
inline void clear(std::byte* buffer, std::size_t room) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, buffer + sizeof(message_tag), sizeof word);
  const std::size_t size = word & largest_watched_message;
  const bool known = (word & ~static_cast<std::uint32_t>(largest_watched_message)) == watched_mark &&
                     size <= room - header_bytes - watched_tail_bytes;
  std::memset(buffer, 0, known ? header_bytes + size + watched_tail_bytes : room);
}

}  // namespace weft::wire
