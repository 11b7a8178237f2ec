// SPDX-License-Identifier: Apache-2.0
//
// How does the target learn that a write arrived? Exactly once, and never before the bytes.
// Forced by three facts of the row: what writes can carry (fi_cq(3), FI_REMOTE_CQ_DATA; cq_data_size), their order
// (fi_endpoint(3), FI_ORDER_SAW, FI_ORDER_WAW), and whether a completion can mean "delivered" (fi_cq(3),
// FI_DELIVERY_COMPLETE).
// Answers, cheapest first:
// - immediate: the notice rides on the write and consumes nothing.
// - immediate_consumes_receive: the same, but each notice consumes a posted receive, so a reserve stays posted (verbs,
//   FI_RX_CQ_DATA).
// - remote_counter: a write, then an ordered 8-byte write into the target's ring. A counter says when to poll the ring
//   (Slingshot).
// - message_after_ordered_write: a write and a message directly after it, where a message cannot overtake a write.
// - message_after_delivery: a write, its delivery, then the message. It needs no order and costs one more round trip.
//   Deliveries that complete together share one message per peer.
// - watched_word: one write into a ring of the target: header, small payload and, last, a sequence word that the target
//   polls. Neither side gets a queue entry. Legal where the last bytes of a write become visible last.
// Both message answers send a payload of at most fused_bytes inside the message, and the target copies it
// (compose/posting/fused.hpp): one post, no order needed.
// Absent on purpose: a message directly after a write on a row without that order. It overtakes.
// Hot path: yes. `initiator` is the initiator's side of a transport (compose/posting/initiator.hpp).
#pragma once

#include "../core/error.hpp"
#include "../core/policy.hpp"

namespace weft {
struct notify_family;

/// What the target must keep ready for notices.
enum class notify_needs : unsigned char { nothing, receive_reserve, ring, cells };

template <class P>
concept notify_policy = answers_family<P, notify_family> && requires {
  { P::rides_on_write } -> std::convertible_to<bool>;
  { P::notice_is_message } -> std::convertible_to<bool>;
  { P::target_keeps } -> std::convertible_to<notify_needs>;
};

namespace answers::notify {
struct immediate {
  using family = notify_family;
  static constexpr bool rides_on_write = true;
  static constexpr bool notice_is_message = false;
  static constexpr notify_needs target_keeps = notify_needs::nothing;
  template <class Initiator, class Write>
  [[gnu::always_inline]] static status post(Initiator& initiator, const Write& w) noexcept {
    return initiator.write_with_immediate(w);
  }
};
static_assert(notify_policy<immediate>);

struct immediate_consumes_receive {
  using family = notify_family;
  static constexpr bool rides_on_write = true;
  static constexpr bool notice_is_message = false;
  static constexpr notify_needs target_keeps = notify_needs::receive_reserve;
  template <class Initiator, class Write>
  [[gnu::always_inline]] static status post(Initiator& initiator, const Write& w) noexcept {
    return initiator.write_with_immediate(w);
  }
};
static_assert(notify_policy<immediate_consumes_receive>);

struct remote_counter {
  using family = notify_family;
  static constexpr bool rides_on_write = false;
  static constexpr bool notice_is_message = false;
  static constexpr notify_needs target_keeps = notify_needs::ring;
  template <class Initiator, class Write>
  static status post(Initiator& initiator, const Write& w) noexcept {
    return initiator.write_then_ring(w);
  }
};
static_assert(notify_policy<remote_counter>);

struct message_after_ordered_write {
  using family = notify_family;
  static constexpr bool rides_on_write = false;
  static constexpr bool notice_is_message = true;
  static constexpr notify_needs target_keeps = notify_needs::nothing;
  template <class Initiator, class Write>
  [[gnu::always_inline]] static status post(Initiator& initiator, const Write& w) noexcept {
    if constexpr (Initiator::fuses)
      if (initiator.fits_notice(w)) [[likely]]
        return initiator.write_in_notice(w);
    return initiator.write_then_message(w);
  }
};
static_assert(notify_policy<message_after_ordered_write>);

struct message_after_delivery {
  using family = notify_family;
  static constexpr bool rides_on_write = false;
  static constexpr bool notice_is_message = true;
  static constexpr notify_needs target_keeps = notify_needs::nothing;
  template <class Initiator, class Write>
  [[gnu::always_inline]] static status post(Initiator& initiator, const Write& w) noexcept {
    if constexpr (Initiator::fuses)
      if (initiator.fits_notice(w)) [[likely]]
        return initiator.write_in_notice(w);
    return initiator.write_delivered_then_message(w);
  }
};
static_assert(notify_policy<message_after_delivery>);

/// Choose it where completion entries are expensive (tcp): fewest system calls and lowest latency.
/// It costs up to 150 KiB per peer; small payloads touch one page per cell. Every progress call polls each peer's ring.
/// A signalled put_notify completes when the target's handler got the notice.
struct watched_word {
  using family = notify_family;
  static constexpr bool rides_on_write = false;
  static constexpr bool notice_is_message = false;
  static constexpr notify_needs target_keeps = notify_needs::cells;
  template <class Initiator, class Write>
  [[gnu::always_inline]] static status post(Initiator& initiator, const Write& w) noexcept {
    return initiator.write_watched(w);
  }
};
static_assert(notify_policy<watched_word>);
}  // namespace answers::notify
}  // namespace weft
