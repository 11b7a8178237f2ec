// SPDX-License-Identifier: Apache-2.0
//
// put_notify in one message: a small payload travels in the notice, and the target copies it into its region. The
// target makes the checks of a card first: key, bounds, rights. Bytes and notice are one message, so neither comes
// without the other. Forced by rows whose writes carry no immediate (cq_data_size, FI_REMOTE_CQ_DATA): a write and a
// message cost two posts, and one more round trip where nothing orders them. The row says up to which size fusing pays
// (fused_bytes). The target copies when it polls, so a write posted later may arrive first, and there is no order of
// writes (compose/fabric.hpp). A signalled put_notify ends with the target's reply: delivered, or refused with a
// reason. Hot path: yes, on those rows. Threads: the owner's.
#pragma once

#include "../../wire/fused.hpp"
#include "../engine/engine.hpp"
#include "../memory/write_target.hpp"

#include <cstring>

namespace weft::detail {

template <class Engine>
class fused_notices {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  explicit fused_notices(Engine& e) noexcept : e_(e) {}

  /// Whether a payload goes in the notice: small enough for the row. Every peer has receives that are long enough: a
  /// transport opens only if its receives take the handshake (connecting/opening.hpp), which is longer (fabric.hpp).
  static bool fits(std::size_t size) noexcept { return size <= Engine::fused_bytes; }

  template <class Write>
  [[gnu::always_inline]] status post(const Write& w) noexcept {
    if constexpr (injected >= own_bytes) {
      if (w.from.size <= injected - own_bytes) [[likely]] {
        if (!w.signalled) return Engine::counted(*w.record, inject(w, 0));
        slot* o = claimed(w);
        if (o == nullptr) [[unlikely]]
          return again(waits_for::operation_slot, "put_notify");
        return posted(e_, *o, Engine::counted(*w.record, inject(w, o->named())));
      }
    }
    return fused_notices(e_).post_from_buffer(w);
  }

  /// The target's side. False: no room for the reply, and nothing was done; offer it again. Calls `on(immediate)` after
  /// the copy.
  template <class On>
  bool land(record& from, const_bytes body, On&& on) {
    const auto head = wire::parse_fused(body);
    if (!head) {
      ++e_.garbled;
      return true;
    }
    if (e_.deferred_fused_replies.full()) return false;
    const const_bytes payload = body.subspan(wire::fused_head_bytes);
    auto code = errc::denied;
    std::byte* place = write_target(e_, head->key, head->address, payload.size(), code);
    if (place != nullptr && !payload.empty()) std::memcpy(place, payload.data(), payload.size());
    if (head->token != 0 || place == nullptr)
      answer_with(from, {head->token, static_cast<std::uint8_t>(place != nullptr ? errc::ok : code)});
    if (place != nullptr) on(head->immediate);
    return true;
  }

  /// Sends the replies that a full queue refused before.
  void settle() noexcept {
    while (!e_.deferred_fused_replies.empty()) {
      const auto& [number, reply] = e_.deferred_fused_replies.front();
      record* r = e_.peers.find({number});
      if (r != nullptr && said(*r, {reply.token, reply.code}).is_again()) return;
      e_.deferred_fused_replies.pop_front();
    }
  }

  /// The initiator's side. Calls `on(slot, code)` for the operation that ended, with a null slot for an unsignalled
  /// one.
  template <class On>
  void replied(record& from, const_bytes body, On&& on) {
    const auto reply = wire::parse_fused_reply(body);
    const bool known = reply && (reply->code == 0 || reply->code == static_cast<std::uint8_t>(errc::denied) ||
                                 reply->code == static_cast<std::uint8_t>(errc::out_of_range));
    if (!known || (reply->token == 0 && reply->code == 0)) {
      ++e_.garbled;
      return;
    }
    const auto code = static_cast<errc>(reply->code);
    if (reply->token == 0) return on(nullptr, code);
    slot* s = e_.operations.at(static_cast<std::uint32_t>(reply->token));
    if (s == nullptr || s->generation != reply->token >> 32 || s->use != slot_use::user || s->record != &from ||
        s->stage != stage::replying || s->what != operation::put_notify) {
      ++e_.stale;
      return;
    }
    on(s, code);
  }

 private:
  /// The operation's slot. The library never holds it; the reply ends it.
  template <class Write>
  [[gnu::always_inline]] slot* claimed(const Write& w) noexcept {
    slot* o = e_.operations.take_above();
    if (o == nullptr) [[unlikely]]
      return nullptr;
    e_.claim(*o, slot_use::user, operation::put_notify, w.record, w.context, stage::replying);
    return o;
  }
  [[gnu::always_inline]] static status posted(Engine& e, slot& o, status s) noexcept {
    if (!s) [[unlikely]]
      not_posted(e, o);
    return s;
  }
  [[gnu::cold, gnu::noinline]] static void not_posted(Engine& e, slot& o) noexcept { e.release(o); }

  /// One message: weft's own front, the head, the bytes. Its memory is free on return, and no slot is needed.
  template <class Write>
  [[gnu::always_inline]] status inject(const Write& w, std::uint64_t token) noexcept {
    const auto tag = [&w] { return Engine::tag_of(wire::message_kind::fused, *w.record); };  // read where it is used
    std::byte message[injected];
    fill({message, sizeof message}, tag(), {token, w.to.address, w.to.key, w.immediate}, w.from);
    return e_.port->inject(w.record->link, {message, own_bytes + w.from.size}, Engine::immediate_of(tag()));
  }

  /// Longer ones go from a control buffer, which is free again when the send ends.
  template <class Write>
  [[gnu::noinline]] status post_from_buffer(const Write& w) noexcept {
    if (e_.operations.left() <= e_.control_messages) return again(waits_for::operation_slot, "put_notify");
    if (!w.signalled) return Engine::counted(*w.record, say(w, 0));
    slot* o = claimed(w);
    if (o == nullptr) return again(waits_for::operation_slot, "put_notify");
    return posted(e_, *o, Engine::counted(*w.record, say(w, o->named())));
  }
  template <class Write>
  status say(const Write& w, std::uint64_t token) noexcept {
    const auto tag = Engine::tag_of(wire::message_kind::fused, *w.record);
    const wire::fused_head head{token, w.to.address, w.to.key, w.immediate};
    slot* s = e_.operations.take();
    if (s == nullptr) return again(waits_for::operation_slot, "put_notify");
    // No handler gets the end of an unsignalled one, but an orderly close waits for it.
    e_.claim(*s, token == 0 ? slot_use::silent : slot_use::control, operation::put_notify, w.record, nullptr);
    s->buffer = e_.controls.take();
    status sent = again(waits_for::operation_slot, "put_notify");
    if (s->buffer != no_index) {
      const local_memory memory = e_.controls.memory(s->buffer);
      fill({memory.data, memory.size}, tag, head, w.from);
      sent = e_.port->template send<post_mode::signalled>(
          w.record->link, {memory.data, own_bytes + w.from.size, memory.descriptor}, Engine::immediate_of(tag), s);
    }
    if (!sent) e_.release(*s);
    return sent;
  }
  [[gnu::always_inline]] static void fill(bytes into, wire::message_tag tag, const wire::fused_head& head,
                                          const local_memory& payload) noexcept {
    Engine::put_front(into, tag);
    wire::encode(head, into.subspan(Engine::front));
    if (payload.size > 0) [[likely]]  // without bytes it may have no address
      std::memcpy(into.data() + Engine::front + wire::fused_head_bytes, payload.data, payload.size);
  }

  status said(record& to, const wire::fused_reply& reply) noexcept {
    return e_.template tell_of<wire::fused_reply_bytes>(to, wire::message_kind::fused_reply,
                                                        [&](bytes body) { wire::encode(reply, body); });
  }
  void answer_with(record& to, const wire::fused_reply& reply) noexcept {
    if (!said(to, reply).is_again()) return;
    e_.deferred_fused_replies.push_back(to.number, {reply.token, 0, reply.code});
    e_.put_off();
  }

  /// All but the payload.
  static constexpr std::size_t own_bytes = Engine::front + wire::fused_head_bytes;
  /// Bytes of a message that is injected.
  static constexpr std::size_t injected = std::min<std::size_t>(Engine::message_inject_bytes, 256);
  Engine& e_;
};

}  // namespace weft::detail
