// SPDX-License-Identifier: Apache-2.0
//
// May small messages and small puts to one peer share one message? A post costs two system calls on tcp and hundreds of
// instructions everywhere, whatever it carries: sixty small messages in one cost as much as one of a thousand bytes.
// Answers: none - each post is a call of its own and waits for no other; a group may still be opened by hand
// (compose/posting/group.hpp). up_to<messages, bytes> - unsignalled small posts to one peer are gathered as well, and
// leave together: when the count or the bytes are reached, before anything else to that peer, when progress() finds
// nothing to do, or after options.coalesce_time where it always finds something. Whoever posts must make progress. Each
// side decides for itself: what arrives is understood by every transport. Which posts may join a group is asked of the
// row (compose/posting/coalescing.hpp). Absent: gathering for more than one peer, and by a thread of its own. Hot path:
// compile time only.
#pragma once

#include "../core/policy.hpp"
#include "../wire/group.hpp"

#include <concepts>
#include <cstdint>

namespace weft {
struct coalesce_family;
template <class P>
concept coalesce_policy = answers_family<P, coalesce_family> && requires {
  { P::gathers } -> std::convertible_to<bool>;
  { P::messages } -> std::convertible_to<std::uint32_t>;
  { P::bytes } -> std::convertible_to<std::uint32_t>;
};

namespace answers::coalesce {
/// Bytes that so many messages of at most this size take in a group, to be given to up_to.
constexpr std::uint32_t bytes_for(std::uint32_t messages, std::uint32_t size) noexcept {
  return static_cast<std::uint32_t>(messages * wire::group_member_bytes(wire::group_kind::message, size));
}

struct none {
  using family = coalesce_family;
  static constexpr bool gathers = false;
  static constexpr std::uint32_t messages = wire::largest_group,
                                 bytes = wire::largest_handshake;  ///< Of groups opened by hand.
};
static_assert(coalesce_policy<none>);

/// At most so many messages and puts in one message of at most so many bytes: 8 bytes of head for each, 24 for a put,
/// sizes rounded up to 8.
template <std::uint32_t Messages = 16, std::uint32_t Bytes = 1024>
struct up_to {
  static_assert(Messages >= 2 && Messages <= wire::largest_group,
                "weft: coalesce::up_to<messages, bytes>: a group holds between 2 and 64 messages");
  static_assert(Bytes >= 128 && Bytes <= 65536,
                "weft: coalesce::up_to<messages, bytes>: a group has between 128 and 65536 bytes");
  using family = coalesce_family;
  static constexpr bool gathers = true;
  static constexpr std::uint32_t messages = Messages, bytes = Bytes;
};
static_assert(coalesce_policy<up_to<16, 1024>>);
}  // namespace answers::coalesce
}  // namespace weft
