// SPDX-License-Identifier: Apache-2.0
//
// How does the initiator learn that all its earlier writes to a peer are visible there?
// Forced by writes without a context, which make no completion. InfiniBand adds a second reason: a card may acknowledge
// before the bytes are visible.
// Answers:
// - message_behind_writes: a message cannot overtake writes on this row (fi_endpoint(3), FI_ORDER_SAW). flush() sends
//   one, and the peer's reply says that the writes are visible. Writes stay as cheap as they are; the peer must make
//   progress.
// - tracked_writes: messages can overtake. Every write, also without a context, is signalled at delivery (fi_cq(3),
//   FI_DELIVERY_COMPLETE), and flush() waits for the earlier ones.
// - refused: neither is possible, and flush() does not compile.
// Hot path: compile time only; selects the post mode of writes without a context.
#pragma once

#include "../core/policy.hpp"

#include <concepts>

namespace weft {
struct flush_family;
template <class P>
concept flush_policy = answers_family<P, flush_family> && requires {
  { P::by_message } -> std::convertible_to<bool>;
  { P::tracks } -> std::convertible_to<bool>;
};

namespace answers::flush {
struct message_behind_writes {
  using family = flush_family;
  static constexpr bool by_message = true;
  static constexpr bool tracks = false;
};
static_assert(flush_policy<message_behind_writes>);

struct tracked_writes {
  using family = flush_family;
  static constexpr bool by_message = false;
  static constexpr bool tracks = true;
};
static_assert(flush_policy<tracked_writes>);

struct refused {
  using family = flush_family;
  static constexpr bool by_message = false;
  static constexpr bool tracks = false;
};
static_assert(flush_policy<refused>);
}  // namespace answers::flush
}  // namespace weft
