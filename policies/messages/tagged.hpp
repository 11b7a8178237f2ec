// SPDX-License-Identifier: Apache-2.0
//
// Who matches tagged messages with receives?
// A tagged message has 64 bits that its receiver chooses by (fi_tagged(3), UCP tags, MPI): a receive names a tag, bits
// that it ignores, and a peer or any. Not every fabric has such matching: rdma-core, mapped memory and the in-process
// fabric have none. Messages exist everywhere, and can carry a tag.
// Answers:
// - none: nobody. send_tagged() and receive_tagged() do not compile, and a transport has no part for them.
// - matched_over_messages<window>: weft matches at the receiver. The tag travels in front of an ordinary message.
//   At most `window` messages of one peer wait without a receive; then send_tagged() answers `again`.
// Both sides say their window in the handshake, and a sender keeps to that of its peer. A peer without the answer is a
// peer like others: only send_tagged() to it says `unsupported`.
// Absent: matching by the library (FI_TAGGED). Its queue of unexpected messages has no bound that a program can ask
// for, and it matches before weft can look at the sender's proof (docs/decisions/0022-tags-are-matched-by-weft.md).
// Hot path: compile time only; the code is in compose/tagged/.
#pragma once

#include "../../core/policy.hpp"

#include <concepts>
#include <cstdint>

namespace weft {
struct tagged_family;
template <class P>
concept tagged_policy = answers_family<P, tagged_family> && requires {
  { P::matches } -> std::convertible_to<bool>;
  { P::window } -> std::convertible_to<std::uint32_t>;
};

namespace answers::tagged {
struct none {
  using family = tagged_family;
  static constexpr bool matches = false;
  static constexpr std::uint32_t window = 0;
};
static_assert(tagged_policy<none>);

/// Choose it for programs that select messages by tag. Each peer that matches tags too gets address space for
/// `window` messages of max_message_bytes; pages that no waiting message touched take no memory.
template <std::uint32_t Window = 32>
struct matched_over_messages {
  static_assert(
      Window >= 2 && Window <= 4096,
      "weft: tagged::matched_over_messages<window>: between 2 and 4096 messages of one peer wait [WEFT-C030]");
  using family = tagged_family;
  static constexpr bool matches = true;
  static constexpr std::uint32_t window = Window;
};
static_assert(tagged_policy<matched_over_messages<>>);
}  // namespace answers::tagged
}  // namespace weft
