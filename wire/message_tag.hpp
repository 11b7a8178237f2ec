// SPDX-License-Identifier: Apache-2.0
//
// What a message is and on which connection it travels: 32 bits, so that it fits the narrowest immediate of any row.
// Addressed fabrics do not say reliably who sent a message, and user messages share the receives with weft's own: both
// are solved by this tag, which the sender fills with the number that the receiver gave to the connection. Hot path:
// yes, a shift and an or. Threads: values.
#pragma once

#include <cstdint>

namespace weft::wire {

enum class message_kind : std::uint8_t {
  user,
  hello,  ///< Asks for a connection; the only kind whose connection number is not the receiver's (it is zero).
  accept,
  reject,
  heartbeat,
  goodbye,  ///< An orderly close: nothing follows. Where it may overtake what was sent before, it carries the number of
            ///< those messages.
  notify,   ///< The bytes of a write are there: carries its immediate.
  atomic_request,
  atomic_reply,
  ring_credit,  ///< So many entries of the notification ring were read.
  fused,        ///< A put_notify whole: notice and bytes.
  fused_reply,  ///< How it ended.
  flush,        ///< Asks for an answer; every write before it is visible when it is read.
  flushed,      ///< That answer.
  group,        ///< Several messages and puts in one (wire/group.hpp).
  region,       ///< A region description (wire/region_bytes.hpp), or one of rails (wire/striped_region.hpp).
};
inline constexpr std::uint32_t message_kinds = 16;

/// The receiver's number of a connection: which record, and which use of that record, so that late messages of an
/// earlier connection are told from those of the present one.
struct connection_number {
  static constexpr std::uint32_t index_bits = 20;
  static constexpr std::uint32_t generation_bits = 8;
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
static_assert(message_tag::of(message_kind::user, connection_number::of(7, 9)).word ==
              connection_number::of(7, 9).value);  // arrivals.hpp
static_assert(message_tag::of(message_kind::notify, connection_number::of(7, 9)).connection() ==
              connection_number::of(7, 9));
static_assert(message_tag::of(message_kind::ring_credit, connection_number::of((1U << 20) - 1, 255)).kind() ==
              message_kind::ring_credit);

/// Bytes in front of a message where framing::header answers: the tag, then zeros that keep the payload aligned to 8.
inline constexpr std::size_t header_bytes = 8;

}  // namespace weft::wire
