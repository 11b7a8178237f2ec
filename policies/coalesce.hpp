// SPDX-License-Identifier: Apache-2.0
//
// May small messages and small puts to one peer share one message?
// Forced by the price of a post: two system calls on tcp, hundreds of instructions everywhere, whatever its size. Sixty
// small messages in one cost as much as one message of a thousand bytes.
// Answers:
// - none: each post is its own call. A program may still open a group by hand (compose/posting/group.hpp).
// - up_to<messages, bytes>: unsignalled small posts to one peer share a group. The group leaves when it reaches either
//   limit, before any other post to that peer, when progress() finds nothing, or after options.coalesce_time. The
//   program must make progress, and include compose/coalescing.hpp.
// Each side decides alone: every transport understands groups. The row decides which posts may join
// (compose/posting/group_packing.hpp).
// Absent: groups for several peers, and coalescing by a separate thread.
// Hot path: compile time only.
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
/// Bytes of a group of so many messages, each of at most this size: the second argument of up_to.
constexpr std::uint32_t bytes_for(std::uint32_t messages, std::uint32_t size) noexcept {
  return static_cast<std::uint32_t>(messages * wire::group_member_bytes(wire::group_kind::message, size));
}

struct none {
  using family = coalesce_family;
  static constexpr bool gathers = false;
  static constexpr std::uint32_t messages = wire::largest_group,
                                 bytes = wire::largest_handshake;  ///< Limits of groups opened by hand.
};
static_assert(coalesce_policy<none>);

/// At most so many messages and puts in one message of at most so many bytes. A member takes 8 bytes, a put 24, plus
/// its size rounded up to 8.
template <std::uint32_t Messages = 16, std::uint32_t Bytes = 1024>
struct up_to {
  static_assert(Messages >= 2 && Messages <= wire::largest_group,
                "weft: coalesce::up_to<messages, bytes>: a group holds between 2 and 64 messages [WEFT-C030]");
  static_assert(Bytes >= 128 && Bytes <= 65536,
                "weft: coalesce::up_to<messages, bytes>: a group has between 128 and 65536 bytes [WEFT-C030]");
  using family = coalesce_family;
  static constexpr bool gathers = true;
  static constexpr std::uint32_t messages = Messages, bytes = Bytes;
};
static_assert(coalesce_policy<up_to<16, 1024>>);
}  // namespace answers::coalesce
}  // namespace weft
