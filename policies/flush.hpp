// SPDX-License-Identifier: Apache-2.0
//
// How does the initiator learn that all its earlier writes to a peer are visible there? A write without a context has
// no end to wait for, and on a card that answers before the bytes are visible no end says it (InfiniBand: an
// acknowledgement may come first). Answers: message_behind_writes - a message cannot overtake writes on this row
// (fi_endpoint(3), FI_ORDER_SAW): one is sent, and the peer's answer says that they are visible; writes stay as cheap
// as they are, and the peer must make progress. tracked_writes - nothing keeps a message behind: each write is
// signalled when it was delivered (fi_cq(3), FI_DELIVERY_COMPLETE), those without a context too, and the flush waits
// for those before it. refused - neither is possible: flush() does not compile. Hot path: compile time only: picks how
// writes without a context are posted.
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
