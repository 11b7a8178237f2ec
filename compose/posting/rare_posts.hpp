// SPDX-License-Identifier: Apache-2.0
//
// Posts that few fabrics or few calls need: messages with a header, posts without bytes, notices as writes into a ring,
// and the errors of messages that cannot be sent. posting/initiator.hpp makes them. Hot path: send_framed() on rows
// whose sends carry no immediate; else no. Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/engine.hpp"

#include <cstring>

namespace weft::detail {

template <class Engine>
class initiator;

template <class Engine>
class rare_posts {
  using initiator_type = initiator<Engine>;

 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  /// The error of a message that cannot be sent.
  [[gnu::cold, gnu::noinline]] static status not_sent(Engine& e, peer to, std::uint64_t size) noexcept {
    const record* r = initiator_type::living(to);
    return r == nullptr ? initiator_type(e).dead(to, "send") : too_long(e, size, *r);
  }
  [[gnu::cold, gnu::noinline]] static status too_long(Engine& e, std::uint64_t size, const record& r) noexcept {
    e.refused_message.note(size, r.their_max_message_bytes);
    return {errc::truncated, origin::weft, static_cast<std::int32_t>(r.their_max_message_bytes), "send"};
  }

  /// A get without bytes makes no call and ends at the next poll: udp;ofi_rxd of libfabric 1.17 never ends such a read.
  [[gnu::noinline]] static status get_nothing(Engine& e, record& r, const remote_place& at, void* context) noexcept {
    if (status s = initiator_type::check(0, at, rights::remote_read, "get"); !s) return s;
    slot* o = initiator_type(e).claim(&r, operation::get, context);
    if (o == nullptr) return again(waits_for::operation_slot, "get");
    Engine::only_end_is_deferred(*o, {});
    e.defer(*o);
    return {};
  }
  /// A put without bytes does not wait for delivery: see notice_alone.
  [[gnu::cold, gnu::noinline]] static status put_nothing(Engine& e, record* r, std::byte* data, void* descriptor,
                                                         std::uint64_t address, std::uint64_t key,
                                                         void* context) noexcept {
    return initiator_type(e).post(r, operation::put, context, true,
                                  [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) {
                                    return e.port->template write<M>(r->link, {data, 0, descriptor}, {address, key}, c);
                                  });
  }
  /// Sends the notice of a write without bytes as a message. Such a write has nothing to deliver, and shm of
  /// libfabric 1.17 waits for its delivery for ever. It then answers every later post to that peer with `again`.
  [[gnu::cold, gnu::noinline]] static status notice_alone(Engine& e, record* r, std::uint32_t immediate,
                                                          void* context) noexcept {
    initiator_type l(e);
    slot* o = l.claim(r, operation::put_notify, context);
    if (o == nullptr) return again(waits_for::operation_slot, "put_notify");
    std::byte body[4];
    wire::encode(immediate, body);
    return l.posted(*o, e.tell(*r, wire::message_kind::notify, body, o));
  }

  /// A message after its header. The header is in the slot's buffer until the send ends. Requires: framed.
  static status post_framed(Engine& e, record& r, local_memory from, wire::message_tag tag, slot& o) noexcept {
    const local_memory own = e.controls.memory(o.buffer);
    Engine::put_front({own.data, wire::header_bytes}, tag);
    const local_memory head{own.data, wire::header_bytes, own.descriptor};
    return e.port->template send_framed<post_mode::signalled>(r.link, head, from, &o);
  }
  static status send_framed(Engine& e, record& r, local_memory from, wire::message_tag tag, void* context,
                            bool signalled) noexcept {
    if constexpr (Engine::copied_bytes > 0)
      if (!signalled && from.size <= Engine::copied_bytes) return send_copied(e, r, from, tag);
    initiator_type l(e);
    slot* o = l.claim(&r, operation::send, context);
    if (o == nullptr) return again(waits_for::operation_slot, "send");
    if (!signalled) o->use = slot_use::silent;
    o->buffer = e.controls.take();
    if (o->buffer == no_index) return l.posted(*o, again(waits_for::operation_slot, "send"));
    o->stage = stage::buffered;
    return l.posted(*o, post_framed(e, r, from, tag, *o));
  }
  /// An unsignalled message that is copied at the call.
  [[gnu::always_inline]] static status send_copied(Engine& e, record& r, const local_memory& from,
                                                   wire::message_tag tag) noexcept {
    std::byte message[Engine::copied_bytes + Engine::front];
    Engine::put_front({message, sizeof message}, tag);
    if (from.size != 0) copy_payload(message + Engine::front, from.data, from.size);
    return e.port->inject(r.link, {message, Engine::front + from.size}, 0);
  }

  /// The notice as a write into the target's ring (notify::remote_counter).
  static status write_ring_entry(Engine& e, record& r, slot& parent) noexcept {
    const std::uint32_t buffer = e.controls.take();
    if (buffer == no_index) return again(waits_for::operation_slot, "put_notify");
    slot* s = e.operations.take();
    if (s == nullptr) {
      e.controls.give(buffer);
      return again(waits_for::operation_slot, "put_notify");
    }
    e.claim(*s, slot_use::control, operation::put_notify, &r, nullptr);
    s->buffer = buffer;
    s->parent = &parent;
    const wire::ring_entry entry{parent.sequence, parent.immediate};
    const local_memory memory = e.controls.memory(buffer);
    std::memcpy(memory.data, &entry, sizeof entry);
    const std::uint64_t place = (parent.sequence - 1) % r.ring.entries * sizeof entry;
    return initiator_type(e).posted(
        *s, e.port->template write<post_mode::signalled>(r.link, {memory.data, sizeof entry, memory.descriptor},
                                                         {r.ring.address + place, r.ring.key}, s));
  }
};

}  // namespace weft::detail
