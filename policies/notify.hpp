// SPDX-License-Identifier: Apache-2.0
//
// How does the target learn that a write landed? Exactly once, and never before the bytes. Forced by what the row's
// writes can carry (fi_cq(3), FI_REMOTE_CQ_DATA; cq_data_size), by its order guarantees (fi_endpoint(3), FI_ORDER_SAW,
// FI_ORDER_WAW) and by whether a completion can mean "delivered" (fi_cq(3), FI_DELIVERY_COMPLETE). Answers, cheapest
// first:
//   immediate                     the notice rides on the write; nothing is consumed.
//   immediate_consumes_receive    the same, and each eats a posted receive: a reserve is kept posted (verbs,
//   FI_RX_CQ_DATA). remote_counter                write, then an ordered 8-byte write into the target's ring; a counter
//   says when to look (Slingshot). message_after_ordered_write   write, and a message right behind it where a message
//   cannot overtake a write. message_after_delivery        write, wait for delivery, then the message: legal without
//   any order, one round trip more. Deliveries that
//                                 are told together share one message per peer.
//   watched_word                  one write into a ring of the target's, header and small payload and, last of all, a
//   sequence word at which the target
//                                 looks: no entry of a queue at either side. Legal where the row says that a write's
//                                 last bytes are seen last.
// The two before it send a payload of at most fused_bytes in the message itself, and the target copies it
// (compose/posting/fused.hpp): one post, no order asked. A message right behind a write on a row without that order is
// absent on purpose: it overtakes. Hot path: yes. `initiator` is the initiator's side of a transport
// (compose/posting/initiator.hpp).
#pragma once

#include "../core/error.hpp"
#include "../core/policy.hpp"

namespace weft {
struct notify_family;

/// What the target must keep ready for the notices to arrive.
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

/// Fewest system calls and the least latency where completion entries are dear (tcp), for up to 150 KiB of memory per
/// peer (of which small payloads touch a page per cell) and a look at each peer's ring in every step of progress. A
/// signalled put_notify ends when the target has told its notice.
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
