// SPDX-License-Identifier: Apache-2.0
//
// Control messages that arrive: the handshake, notices as messages, requests and replies, credits, groups, goodbyes.
// Any byte may come from a hostile peer, or from a stranger. A message is stale if its connection is gone or its proof
// is wrong, and garbled if no transport of this build sends it. Both are dropped and counted. Hot path: on fabrics
// whose notices or atomics are messages.
// Threads: the owner's.
#pragma once

#include "../../wire/tagged.hpp"
#include "../engine/rare_calls.hpp"
#include "../events.hpp"
#include "../posting/fused.hpp"
#include "completions.hpp"
#include "counter_rings.hpp"
#include "group_unpacking.hpp"
#include "ring_watch.hpp"

namespace weft::detail {

/// Where receives belong to links, a peer cannot speak on another peer's connection.
template <class Engine>
bool owns([[maybe_unused]] const Engine& e, const typename Engine::record& r,
          const typename Engine::receive& slot_of) noexcept {
  return !Engine::links_have_receives || slot_of.from == &r;
}

/// Counts a message that `take()` handled, where both sides count messages. A handler may have closed the peer.
template <class Engine, class Take>
[[gnu::always_inline]] inline bool counted_if_taken(typename Engine::record& r, Take&& take) {
  [[maybe_unused]] const std::uint32_t number = r.number;
  const bool taken = take();
  if constexpr (Engine::goodbye_overtakes)
    if (taken && r.number == number) ++r.messages_taken;
  return taken;
}

template <class Engine, class Handler>
class control_path {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using receive = typename Engine::receive;

  control_path(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// False: the message must wait. `r`: the peer that the tag names, or null.
  bool take(receive& slot_of, record* r, wire::message_tag tag, const_bytes body) {
    if (tag.kind() == wire::message_kind::hello) {
      rare_calls<Engine>::hello(e_, slot_of, r, body, on_);
      return true;
    }
    if (r == nullptr || !owns(e_, *r, slot_of)) return stale();
    e_.hear(*r);
    if (tag.kind_bits() >= wire::message_kinds) return garbled();
    if (tag.kind() == wire::message_kind::accept || tag.kind() == wire::message_kind::reject) {
      rare_calls<Engine>::answered(e_, *r, tag.kind(), body, on_);
      return true;
    }
    // The table delivers the message of an established peer; a goodbye ends that state (connecting/transitions.hpp).
    if (!r->is_live() || tag.kind() == wire::message_kind::goodbye) [[unlikely]]
      if (const auto fate = rare_calls<Engine>::fate_of(e_, *r, tag.kind()); fate != message_fate::deliver)
        return fate != message_fate::keep;
    if (!Engine::is_counted(tag.kind())) return from_established(*r, tag.kind(), body);
    return counted_if_taken<Engine>(*r, [&] { return from_established(*r, tag.kind(), body); });
  }

 private:
  bool stale() noexcept {
    ++e_.stale;
    return true;
  }
  bool garbled() noexcept {
    ++e_.garbled;
    return true;
  }

  bool from_established(record& r, wire::message_kind kind, const_bytes body) {
    const bool others_wait = !e_.unexpected_messages.empty() && !e_.retrying;
    switch (kind) {
      case wire::message_kind::notify:
        return report_notices(r, body);
      case wire::message_kind::atomic_request:
        return rare_calls<Engine>::execute_atomic(e_, r, body);
      case wire::message_kind::atomic_reply:
        return completions_().replied(r, body);
      case wire::message_kind::ring_credit:
        counter_rings_of<Engine, Handler>(e_, on_).take_credit(r, body);
        return true;
      case wire::message_kind::fused:
        if (!Engine::notice_is_message) return garbled();
        return fused_notices<Engine>(e_).land(r, body, [&](std::uint32_t immediate) {
          on_(notified{e_.handle(r), immediate});
        });
      case wire::message_kind::fused_reply:
        if (Engine::fused_bytes > 0)
          fused_notices<Engine>(e_).replied(r, body,
                                            [&](slot* s, errc code) { completions_().fused_ended(r, s, code); });
        else ring_watch_of<Engine, Handler>(e_, on_).refused(r, body);
        return true;
      case wire::message_kind::flush:
        return !others_wait && rare_calls<Engine>::answer_flush(e_, r, body);
      case wire::message_kind::flushed:
        if (slot* s = rare_calls<Engine>::flush_answered(e_, r, body); s != nullptr) completions_().end_of(*s, {});
        return true;
      case wire::message_kind::group:
        if (Engine::tagged_type::matches && wire::is_tagged(body)) return e_.tagged.arrived(r, body, others_wait, on_);
        return group_unpacking<Engine, Handler>(e_, on_).take(r, body, others_wait);
      case wire::message_kind::region:
        return rare_calls<Engine>::keep_region(e_, r, body, on_);
      case wire::message_kind::heartbeat:
        r.heard = true;
        return true;
      case wire::message_kind::goodbye:
        rare_calls<Engine>::left(e_, r, body, on_);
        return true;
      default:
        return true;
    }
  }

  /// One notice, or several in one message.
  bool report_notices(record& r, const_bytes body) {
    if (body.empty() || body.size() % 4 != 0 || (!Engine::batches_notices && body.size() != 4)) return garbled();
    const std::uint32_t number = r.number;  // a handler may close the peer
    for (std::size_t at = 0; at < body.size() && r.number == number &&
                             (r.state == peer_state::established || r.state == peer_state::leaving);
         at += 4)
      on_(notified{e_.handle(r), *wire::parse_number(body.subspan(at, 4))});
    return true;
  }

  completions<Engine, Handler> completions_() const noexcept { return {e_, on_}; }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
