// SPDX-License-Identifier: Apache-2.0
//
// Where does a message carry its kind and its connection? User messages share the receives with the handshake,
// heartbeats and notices. Addressed fabrics do not name the sender reliably: FI_SOURCE is optional and costs time. So
// each message carries a tag: 32 bits, and 32 bits more that prove the sender. Answers:
// - immediate: the tag travels in the send's immediate, and payloads are untouched (fi_senddata(3)). An immediate of 4
//   bytes has no room for the proof.
// - header: 8 bytes before the payload, for rows whose sends carry no immediate (iWARP). It needs a gather list of two.
// Hot path: yes.
#pragma once

#include "../core/policy.hpp"
#include "../wire/message_tag.hpp"

#include <cstddef>

namespace weft {
struct framing_family;
template <class P>
concept framing_policy = answers_family<P, framing_family> && requires {
  { P::bytes_in_front } -> std::convertible_to<std::size_t>;
};

namespace answers::framing {
struct immediate {
  using family = framing_family;
  static constexpr std::size_t bytes_in_front = 0;
};
static_assert(framing_policy<immediate>);

struct header {
  using family = framing_family;
  static constexpr std::size_t bytes_in_front = wire::header_bytes;
};
static_assert(framing_policy<header>);
}  // namespace answers::framing
}  // namespace weft
