// SPDX-License-Identifier: Apache-2.0
//
// The calls for tagged messages, as users see them. A message takes the first posted receive that fits its tag and its
// sender; a receive takes the first arrived message that fits. Messages of one peer arrive in the order of their sends
// where the row keeps that order (order_send_after_send in providers.yaml). Tagged messages and plain ones are apart:
// neither is received as the other, and nothing orders one behind the other. Hot path: send_tagged, receive_tagged.
// Threads: the owner's.
#pragma once

#include "../progress/blocking_calls.hpp"
#include "matcher.hpp"

namespace weft::detail {

/// The sentence of a receive that ended without a whole message.
inline std::string why_no_message(const tagged_receive& r) {
  if (r.why().code != errc::truncated) return "the peer that receive_tagged() names is gone";
  return "a message of " + std::to_string(r.size()) + " bytes arrived for a receive of " +
         std::to_string(r.why().receiver_bytes());
}

/// Base of transport<F>, with tagged::matched_over_messages.
template <class Transport, class F>
class tagged_calls {
  using engine_type = engine<F>;
  using posts = tagged_posts<engine_type>;

 public:
  /// Sends a message with a tag of 64 bits; the peer receives it with receive_tagged(). With a context, one `completed`
  /// or `failed` of operation::send carries it; it says that the source is free, and not that a receive took the
  /// message. Errors: `again` (waits_for::receive_slot: the peer holds as many messages without a receive as the
  /// answer's window says; make progress, then try once more), truncated (longer than largest_tagged_message),
  /// unsupported (the peer's program matches no tags), peer_lost.
  [[gnu::always_inline]] status send_tagged(peer to, local_memory from, std::uint64_t tag, void* context) noexcept {
    return posts(e_()).send(to, from, tag, context, true);
  }
  /// The same without an end. As with send(), the source is free when an answer of the peer shows that it arrived.
  [[gnu::always_inline]] status send_tagged(peer to, local_memory from, std::uint64_t tag) noexcept {
    return posts(e_()).send(to, from, tag, nullptr, false);
  }
  /// Posts a receive. progress() reports its end: `completed` or `failed` of operation::receive_tagged, with `&r` as
  /// the context. `r` then holds the sender, the tag and the size. A message that waits is taken at once, and the next
  /// progress() reports it. Errors of the call: invalid (`r` has not ended), peer_lost (of the peer that `what` names).
  /// Errors of the end: truncated, peer_lost, closed; see tagged_receive::why().
  status receive_tagged(tagged_receive& r, const tag_match& what, local_memory into) noexcept {
    return e_().tagged.receive(r, what, into);
  }
  /// Ends a posted receive; its event is `failed` with errc::closed. False: it took a message or ended before; its own
  /// event came, or comes.
  bool cancel_tagged(tagged_receive& r) noexcept { return e_().tagged.cancel(r); }
  /// Waits for one message, with progress between. Other events go to `on`. Errors: deadline (the receive is withdrawn,
  /// and no message is lost), truncated, peer_lost, closed; invalid inside a handler.
  template <event_handler Handler>
  result<tagged_message> receive_tagged(const tag_match& what, local_memory into, duration timeout, Handler&& on) {
    tagged_receive r;  // withdrawn at the end of this scope
    if (e_().handling()) return {error(errc::invalid, "receive_tagged"), "receive_tagged() cannot wait in a handler"};
    if (const status s = e_().tagged.receive(r, what, into, true); !s)
      return {s, "receive_tagged() names a peer that is gone"};
    const status waited = blocking_calls<engine_type>(e_()).until([&r] { return r.ended(); }, timeout, on);
    if (!r.ended()) return {waited, "no message with this tag arrived in time"};
    if (!r.why()) return {r.why(), why_no_message(r)};
    return tagged_message{r.from(), r.tag(), r.size()};
  }
  /// The longest message that the peer takes, in bytes; 0 of a peer that is not alive.
  std::uint32_t largest_tagged_message(peer to) const noexcept {
    using record = typename engine_type::record;
    return to.alive() ? posts::largest(e_(), *static_cast<const record*>(peer_access::living(to))) : 0;
  }
  /// Messages that arrived and wait for a receive.
  std::uint64_t waiting_tagged() const noexcept { return e_().tagged.waiting(); }
  /// Messages that waited for a receive until their sender was gone: dropped, counted.
  std::uint64_t dropped_tagged() const noexcept { return e_().tagged.dropped(); }

 private:
  engine_type& e_() const noexcept { return *static_cast<const Transport&>(*this).e_; }
};

template <class Answer>
requires(Answer::matches) struct tagged_of<Answer> {
  using peer_part = tagged_counts;
  template <class Traits>
  using type = tag_matcher<Traits>;
  template <class Transport, class F>
  using calls = tagged_calls<Transport, F>;
};

}  // namespace weft::detail
