// SPDX-License-Identifier: Apache-2.0
//
// Where does a message say what it is and whose? User messages share the receives with the handshake, heartbeats and
// notices, and addressed fabrics do not say reliably who sent (FI_SOURCE is optional and costs), so each message
// carries a 32-bit tag. Answers: immediate - the tag rides in the send's immediate, payloads are untouched
// (fi_senddata(3)); header - 8 bytes in front, for rows whose sends carry no immediate (iWARP); needs a gather list of
// two. watched_words - the header holds the length too, and a word follows the bytes: receives are posted without a
// completion (fi_endpoint(3), FI_SELECTIVE_COMPLETION), and the target looks at these words in its buffers. Absent: the
// same on addressed endpoints and on pools: whose message comes next into which buffer is not known there. Hot path:
// yes.
#pragma once

#include "../core/policy.hpp"
#include "../wire/message_tag.hpp"
#include "../wire/watched_message.hpp"

#include <cstddef>

namespace weft {
struct framing_family;
template <class P>
concept framing_policy = answers_family<P, framing_family> && requires {
  { P::bytes_in_front } -> std::convertible_to<std::size_t>;
  { P::bytes_behind } -> std::convertible_to<std::size_t>;
};

namespace answers::framing {
struct immediate {
  using family = framing_family;
  static constexpr std::size_t bytes_in_front = 0;
  static constexpr std::size_t bytes_behind = 0;
};
static_assert(framing_policy<immediate>);

struct header {
  using family = framing_family;
  static constexpr std::size_t bytes_in_front = wire::header_bytes;
  static constexpr std::size_t bytes_behind = 0;
};
static_assert(framing_policy<header>);

/// Receives without entries. Least latency of messages where completion entries are dear (tcp); asked for by hand,
/// never a default. A message that has a context, or is too long to be copied at the call (transport::inject_bytes),
/// takes an operation until the library has read it, and a buffer is cleared before it is posted again. Safe where the
/// row says that each link has its receives (endpoint_type connected), fills them in order (order_send_after_send) and
/// from their first byte to their last (bytes_visible_in_order) while the owner polls (data_progress), and makes no
/// entry unasked (selective_completion). A notice may be told before a message that was posted before it, never after
/// one posted behind it. Errors of receives still come by the queue. Both sides must be built with it.
struct watched_words {
  using family = framing_family;
  static constexpr std::size_t bytes_in_front = wire::header_bytes;
  static constexpr std::size_t bytes_behind = wire::watched_tail_bytes;
};
static_assert(framing_policy<watched_words>);
}  // namespace answers::framing
}  // namespace weft
