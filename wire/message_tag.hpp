// SPDX-License-Identifier: Apache-2.0
//
// The kind of a message and its connection in 32 bits: the width of the narrowest immediate of any row.
// Two facts force it. Addressed fabrics do not name the sender reliably, and user messages share the receives with
// weft's own.
// The sender fills in the number that the receiver gave to the connection.
// Hot path: yes, a shift and an or. Threads: values.
#pragma once

#include <cstdint>

namespace weft::wire {

enum class message_kind : std::uint8_t {
  user,
  hello,  ///< Asks for a connection. The only kind without the receiver's connection number: it carries zero.
  accept,
  reject,
  heartbeat,
  goodbye,  ///< An orderly close: nothing follows. Where it may overtake earlier messages, it carries their number.
  notify,   ///< The bytes of a write are visible; carries the immediate.
  atomic_request,
  atomic_reply,
  ring_credit,  ///< The number of notification ring entries that were read.
  fused,        ///< A whole put_notify: notice and bytes.
  fused_reply,  ///< The result of a fused put_notify.
  flush,        ///< Asks for a reply. Every earlier write is visible when the target reads it.
  flushed,      ///< The reply to a flush.
  group,        ///< Several messages and puts in one (wire/group.hpp).
  region,       ///< A region description (wire/region_bytes.hpp), or one of rails (wire/striped_region.hpp).
};
inline constexpr std::uint32_t message_kinds = 16;

/// The receiver's number of a connection: the record's index, and its generation. The generation exposes late messages
/// of an earlier connection.
struct connection_number {
  static constexpr std::uint32_t index_bits = 20;
  static constexpr std::uint32_t generation_bits = 8;
  static constexpr std::uint32_t end = 1U << (index_bits + generation_bits);  ///< Above every number.
  std::uint32_t value = 0;

  static constexpr connection_number of(std::uint32_t index, std::uint32_t generation) noexcept {
    return {(generation & ((1U << generation_bits) - 1)) << index_bits | (index & ((1U << index_bits) - 1))};
  }
  constexpr std::uint32_t index() const noexcept { return value & ((1U << index_bits) - 1); }
  friend constexpr bool operator==(connection_number, connection_number) = default;
};

/// Kind and connection in one word.
struct message_tag {
  std::uint32_t word = 0;
  static constexpr message_tag of(message_kind kind, connection_number connection) noexcept {
    return {static_cast<std::uint32_t>(kind) << 28 | connection.value};
  }
  constexpr std::uint32_t kind_bits() const noexcept { return word >> 28; }
  constexpr message_kind kind() const noexcept { return static_cast<message_kind>(word >> 28); }
  constexpr connection_number connection() const noexcept { return {word & 0x0fff'ffffU}; }
};
// The receive path compares the tag of a user's message with a connection number directly.
static_assert(message_tag::of(message_kind::user, connection_number::of(7, 9)).word ==
              connection_number::of(7, 9).value);
static_assert(message_tag::of(message_kind::notify, connection_number::of(7, 9)).connection() ==
              connection_number::of(7, 9));
static_assert(message_tag::of(message_kind::ring_credit, connection_number::of((1U << 20) - 1, 255)).kind() ==
              message_kind::ring_credit);

/// Bytes before a message under framing::header: the tag, then zeros that keep the payload aligned to 8.
inline constexpr std::size_t header_bytes = 8;

}  // namespace weft::wire
