// SPDX-License-Identifier: Apache-2.0
//
// Which connection a message belongs to, and who may speak on it: the tag of each message.
// Three facts force it. Addressed fabrics do not name the sender reliably, user messages share the receives with weft's
// own, and any process that knows the address may send.
// The low 32 bits are the kind and the number that the receiver gave to the connection: they fit into the narrowest
// immediate of any row. The high 32 bits are the receiver's proof, a random number that only the peer knows. They
// travel where the row has room: in an immediate of 8 bytes, or in the header.
// Hot path: yes, a load and an or. Threads: values.
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

/// The receiver's number of a connection. The receiver alone reads its parts: the record's index, and above it a
/// generation that exposes late messages of an earlier connection.
struct connection_number {
  static constexpr std::uint32_t number_bits = 28;
  static constexpr std::uint32_t most_index_bits = 20;
  static constexpr std::uint32_t counted_bits = 8;         ///< Of the generation; the bits above them are random.
  static constexpr std::uint32_t end = 1U << number_bits;  ///< Above every number.
  std::uint32_t value = 0;

  /// Requires: the index fits into its bits.
  static constexpr connection_number of(std::uint32_t index, std::uint32_t generation,
                                        std::uint32_t index_bits = most_index_bits) noexcept {
    return {(generation << index_bits | index) & (end - 1)};
  }
  friend constexpr bool operator==(connection_number, connection_number) = default;
};

/// A connection number with the proof of the peer that may use it. Both come from the receiver, in hello or accept.
struct connection_word {
  std::uint64_t value = 0;

  static constexpr connection_word of(connection_number number, std::uint32_t proof) noexcept {
    return {std::uint64_t{proof} << 32 | number.value};
  }
  constexpr connection_number number() const noexcept { return {static_cast<std::uint32_t>(value)}; }
  constexpr std::uint32_t proof() const noexcept { return static_cast<std::uint32_t>(value >> 32); }
  friend constexpr bool operator==(connection_word, connection_word) = default;
};

/// Kind, connection and proof in one word.
struct message_tag {
  std::uint64_t word = 0;
  static constexpr message_tag of(message_kind kind, connection_word connection) noexcept {
    return {std::uint64_t{static_cast<std::uint32_t>(kind) << connection_number::number_bits} | connection.value};
  }
  constexpr std::uint32_t kind_bits() const noexcept {
    return static_cast<std::uint32_t>(word) >> connection_number::number_bits;
  }
  constexpr message_kind kind() const noexcept { return static_cast<message_kind>(kind_bits()); }
  constexpr connection_word connection() const noexcept {
    return {word & ~(std::uint64_t{0xf} << connection_number::number_bits)};
  }
};
// The receive path compares the tag of a user's message with the connection directly.
static_assert(message_tag::of(message_kind::user, connection_word::of({7}, 9)).word ==
              connection_word::of({7}, 9).value);
static_assert(message_tag::of(message_kind::region, connection_word::of({7}, 9)).connection() ==
              connection_word::of({7}, 9));
static_assert(message_tag::of(message_kind::region, connection_word::of({connection_number::end - 1}, ~0U)).kind() ==
              message_kind::region);

/// Bytes before a message under framing::header: the tag. They keep the payload aligned to 8.
inline constexpr std::size_t header_bytes = 8;

}  // namespace weft::wire
