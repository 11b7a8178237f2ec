// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages in a set of fabrics. Include this to send and receive them with a set whose fabrics all have the
// answer tagged::matched_over_messages, as in `weft::with_each<weft::selected,
// weft::answers::tagged::matched_over_messages<>>`. One place above the fabrics keeps all receives and all messages
// that wait, so a receive of any peer matches over all fabrics, in the order of posts and arrivals. Peers of other
// answers meet such a set too; send_tagged() to them says `unsupported`. Hot path: send_tagged, receive_tagged.
// Threads: the owner's.
#pragma once

#include "../tagged/tagged.hpp"
#include "fabric_set.hpp"
#include "with_each.hpp"

#include <concepts>

namespace weft::detail {

/// Base of transport<fabric_set<F...>>, whose fabrics all match tags. compose/tagged/calls.hpp says what each call
/// does.
template <class Transport, class... F>
class set_tagged_calls {
  using members = set_members<F...>;

 public:
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status send_tagged(const To& to, local_memory from, std::uint64_t tag,
                                            void* context) noexcept {
    return post(
        to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.send_tagged(to, here, tag, context);
        });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status send_tagged(const To& to, local_memory from, std::uint64_t tag) noexcept {
    return post(
        to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.send_tagged(to, here, tag);
        });
  }
  /// Posts a receive. Without a peer in `what`, messages of every fabric match.
  status receive_tagged(tagged_receive& r, const tag_match& what, local_memory into) noexcept {
    return self().to_member(what.from, [&](auto& net, auto) { return net.receive_tagged(r, what, into); });
  }
  bool cancel_tagged(tagged_receive& r) noexcept {
    return self().to_member(peer(), [&](auto& net, auto index) {
      self().now_active(index());  // the poll of this fabric reports the end
      return net.cancel_tagged(r);
    });
  }
  /// Waits for one message, with progress on every fabric between.
  template <event_handler Handler>
  result<tagged_message> receive_tagged(const tag_match& what, local_memory into, duration timeout, Handler&& on) {
    tagged_receive r;  // withdrawn at the end of this scope
    if (self().is_handling())
      return {error(errc::invalid, "receive_tagged"), "receive_tagged() cannot wait in a handler"};
    const status posted = self().to_member(what.from, [&](auto& net, auto) {
      return transport_parts::engine_of(net).tagged.receive(r, what, into, true);
    });
    if (!posted) return {posted, "receive_tagged() names a peer that is gone"};
    const status waited = self().until([&r] { return r.ended(); }, timeout, on);
    if (!r.ended()) return {waited, "no message with this tag arrived in time"};
    if (!r.why()) return {r.why(), why_no_message(r)};
    return tagged_message{r.from(), r.tag(), r.size()};
  }
  /// The longest message that the peer takes, in bytes; 0 of a peer that is not alive.
  std::uint32_t largest_tagged_message(peer to) noexcept {
    return self().to_member(to, [&](auto& net, auto) { return net.largest_tagged_message(to); });
  }
  /// Messages that arrived by any fabric and wait for a receive.
  std::uint64_t waiting_tagged() const noexcept {
    return self().template sum<std::uint64_t>([](const auto& net) { return net.waiting_tagged(); });
  }
  std::uint64_t dropped_tagged() const noexcept {
    return self().template sum<std::uint64_t>([](const auto& net) { return net.dropped_tagged(); });
  }

 private:
  Transport& self() noexcept { return static_cast<Transport&>(*this); }
  const Transport& self() const noexcept { return static_cast<const Transport&>(*this); }
  template <class To, class Body>
  [[gnu::always_inline]] status post(const To& to, local_memory from, Body&& body) noexcept {
    if (!to.alive()) [[unlikely]]
      return self().dead(to, "send_tagged");
    return self().to_living(
        to, [&](auto& net, auto index)
                __attribute__((always_inline)) { return body(net, local_source<members, index()>(from)); });
  }
};

template <>
struct tagged_of_set<true> {
  class shared {
   public:
    void join(auto& engine) noexcept { engine.tagged.match_in(matching_); }

   private:
    tag_matching matching_;
  };
  template <class Transport, class... F>
  using calls = set_tagged_calls<Transport, F...>;
};

}  // namespace weft::detail
