// SPDX-License-Identifier: Apache-2.0
//
// The initiator's side of put, get and send: checks, takes a slot, makes the call that the fabric's answers name. One
// library call per operation, unless the row forces more (policies/notify.hpp). The usual path stands
// first, rare variants below. Atomics: posting/atomics.hpp. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/engine.hpp"
#include "fused.hpp"
#include "parts.hpp"
#include "post_steps.hpp"
#include "ring_posts.hpp"

namespace weft::detail {

/// Bytes on their way to a peer's region.
template <class Record>
struct outgoing_write {
  Record* record;
  local_memory from;
  remote_memory to;
  std::uint32_t immediate;
  void* context;
  bool signalled;
};

template <class Engine>
class initiator : public post_steps<Engine> {
  using steps = post_steps<Engine>;
  using steps::e_;

 public:
  using steps::check;
  using steps::claim;
  using steps::dead;
  using steps::ended_or_not;
  using steps::immediate_word;
  using steps::is_injected;
  using steps::living;
  using steps::not_sent;
  using steps::one_in_parts;
  using steps::post;
  using steps::post_framed;
  using steps::post_write;
  using steps::posted;
  using typename steps::parts_of;
  using typename steps::record;
  using typename steps::slot;
  using write_of = outgoing_write<record>;
  using notify_answer = answer<typename Engine::fabric, notify_family>;

  /// The port itself checks the place of a write.
  static constexpr bool port_checks_writes = Engine::port_checks_places && notify_answer::rides_on_write &&
                                             !Engine::watches_cells && Engine::write_mode != post_mode::delivered;

  explicit initiator(Engine& e) noexcept : steps(e) {}

  [[gnu::always_inline]] status send(peer to, local_memory from, void* context, bool signalled) noexcept {
    record* r = living(to);
    if (r == nullptr || from.size > r->their_max_message_bytes) [[unlikely]]
      return not_sent(e_, to, from.size);
    const auto tag = [r] {
      return wire::message_tag::of(wire::message_kind::user, r->theirs);
    };  // read where it goes into the call
    if constexpr (Engine::framed) {
      return Engine::counted(*r, send_framed(*r, from, tag(), context, signalled));
    } else {
      if (!signalled && is_injected(from.size))
        return Engine::counted(*r, e_.port->inject(r->link, {from.data, from.size}, tag().word));
      return Engine::counted(
          *r, post(
                  r, operation::send, context, signalled,
                  [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
                    return e_.port->template send<M>(r->link, from, tag().word, c);
                  }));
    }
  }

  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at, void* context,
                                    bool signalled) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return dead(to, "put");
    if constexpr (!port_checks_writes)
      if (status s = check(from.size, at, rights::remote_write, "put"); !s) [[unlikely]]
        return s;
    if (parts_of::too_large(e_, from.size)) [[unlikely]]
      return one_in_parts(*r, operation::put, from, at, 0, context, signalled);
    // Zero-byte puts are not injected: providers may drop them.
    if constexpr (Engine::injects_puts)
      if (!signalled && from.size - 1 < Engine::inject_bytes) [[likely]]
        return e_.port->inject_write(r->link, {from.data, from.size}, {at.address, at.key});
    const auto call = [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
      return e_.port->template write<M>(r->link, from, {at.address, at.key}, c);
    };
    if constexpr (Engine::write_mode == post_mode::delivered)
      if (signalled && from.size == 0) [[unlikely]]
        return put_nothing(e_, r, from.data, from.descriptor, at.address, at.key, context);
    return post_write(r, operation::put, context, signalled, call);
  }

  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                                           void* context, bool signalled) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return dead(to, "put_notify");
    if constexpr (!port_checks_writes)
      if (status s = check(from.size, at, rights::remote_write, "put_notify"); !s) [[unlikely]]
        return s;
    if (parts_of::too_large(e_, from.size)) [[unlikely]]
      return one_in_parts(*r, operation::put_notify, from, at, immediate, context, signalled);
    return notify_answer::post(*this, write_of{r, from, {at.address, at.key}, immediate, context, signalled});
  }

  /// Moves nothing and ends at the next poll: udp;ofi_rxd of libfabric 1.17 never ends a read without bytes.
  [[gnu::noinline]] status get_nothing(record& r, const remote_place& at, void* context) noexcept {
    if (status s = check(0, at, rights::remote_read, "get"); !s) return s;
    slot* o = claim(&r, operation::get, context);
    if (o == nullptr) return again(waits_for::operation_slot, "get");
    Engine::only_end_is_deferred(*o, {});
    e_.defer(*o);
    return {};
  }
  [[gnu::always_inline]] status get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    record* r = living(from);
    if (r == nullptr) [[unlikely]]
      return dead(from, "get");
    if constexpr (!Engine::port_checks_places)
      if (status s = check(into.size, at, rights::remote_read, "get"); !s) [[unlikely]]
        return s;
    if (into.size == 0) [[unlikely]]
      return get_nothing(*r, at, context);
    if (parts_of::too_large(e_, into.size)) [[unlikely]]
      return one_in_parts(*r, operation::get, into, at, 0, context, true);
    slot* o = claim(r, operation::get, context);
    if (o == nullptr) [[unlikely]]
      return again(waits_for::operation_slot, "get");
    if constexpr (Engine::ends_at_return)
      return ended_or_not(*o, e_.port->template read<post_mode::at_return>(r->link, into, {at.address, at.key}, o));
    else return posted(*o, e_.port->read(r->link, into, {at.address, at.key}, o));
  }

  // ---- posts of the notify answers (called by policies/notify.hpp)
  [[gnu::always_inline]] status write_with_immediate(const write_of& w) noexcept {
    const std::uint64_t immediate = immediate_word(*w.record, w.immediate);
    if (!w.signalled && is_injected(w.from.size))
      return e_.port->inject_write_immediate(w.record->link, {w.from.data, w.from.size}, w.to, immediate);
    if constexpr (Engine::write_mode == post_mode::delivered)
      if (w.signalled && w.from.size == 0) [[unlikely]]
        return notice_alone(e_, w.record, w.immediate, w.context);
    return post_write(
        w.record, operation::put_notify, w.context,
        w.signalled, [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
          return e_.port->template write_immediate<M>(w.record->link, w.from, w.to, immediate, c);
        });
  }

  /// Messages stay behind writes on this row: posts both now. The operation ends when both have ended.
  [[gnu::always_inline]] status write_then_message(const write_of& w) noexcept {
    return write_first<Engine::write_mode, stage::noticing>(w);
  }

  /// Messages may overtake writes on this row: sends the message when the write is delivered.
  [[gnu::always_inline]] status write_delivered_then_message(const write_of& w) noexcept {
    return write_first<post_mode::delivered, stage::delivering>(w);
  }

  /// A small payload travels in the notice itself.
  static constexpr bool fuses = Engine::fused_bytes > 0;
  static bool fits_notice(const write_of& w) noexcept { return fused_notices<Engine>::fits(w.from.size); }
  [[gnu::always_inline]] status write_in_notice(const write_of& w) noexcept {
    return fused_notices<Engine>(e_).post(w);
  }

  /// Writes stay in order on this row: the notice is a second, small write into the target's ring.
  status write_then_ring(const write_of& w) noexcept {
    record& r = *w.record;
    if (r.ring_posted - r.ring_credited >= r.ring.entries) return again(waits_for::receive_slot, "put_notify");
    return write_first<Engine::write_mode, stage::writing>(w);
  }

  /// One write of a ring entry carries payload and notice.
  [[gnu::always_inline]] status write_watched(const write_of& w) noexcept { return ring_posts<Engine>(e_).post(w); }

  /// Sends the notice of a put_notify whose bytes are safe, or defers it when no slot or buffer is free. Afterwards
  /// `pending` counts the completions still to come.
  void send_notice(slot& o) noexcept {
    if constexpr (Engine::watches_cells) return ring_posts<Engine>(e_).notice(o);
    status sent;
    bool completes = true;  // a completion of the notice will come
    if constexpr (Engine::uses_ring) {
      sent = write_ring_entry(*o.record, o);
    } else {
      std::byte body[4];
      wire::encode(o.immediate, body);
      completes = sizeof body + Engine::front > Engine::inject_bytes;
      sent = e_.tell(*o.record, wire::message_kind::notify, body, completes ? &o : nullptr);
    }
    if (sent.is_again()) return e_.defer(o);
    if (!sent) o.fault = sent.code;
    if (!sent || !completes) --o.pending;
  }

 private:
  status send_framed(record& r, local_memory from, wire::message_tag tag, void* context, bool signalled) noexcept {
    if constexpr (Engine::copied_bytes > 0)
      if (!signalled && from.size <= Engine::copied_bytes) return send_copied(r, from, tag);
    slot* o = claim(&r, operation::send, context);
    if (o == nullptr) return again(waits_for::operation_slot, "send");
    if (!signalled) o->use = slot_use::silent;
    o->buffer = e_.controls.take();
    if (o->buffer == no_index) return posted(*o, again(waits_for::operation_slot, "send"));
    o->stage = stage::buffered;
    return posted(*o, post_framed(e_, r, from, tag, *o));
  }
  /// An unsignalled message that is copied at the call.
  [[gnu::always_inline]] status send_copied(record& r, const local_memory& from, wire::message_tag tag) noexcept {
    std::byte message[Engine::copied_bytes + Engine::front];
    Engine::put_front({message, sizeof message}, tag);
    if (from.size != 0) copy_payload(message + Engine::front, from.data, from.size);
    return e_.port->inject(r.link, {message, Engine::front + from.size}, 0);
  }

  /// Sends the notice of a write without bytes as a message. Such a write has nothing to deliver, and shm of
  /// libfabric 1.17 waits for its delivery for ever. It then answers every later post to that peer with `again`.
  [[gnu::cold, gnu::noinline]] static status notice_alone(Engine& e, record* r, std::uint32_t immediate,
                                                          void* context) noexcept {
    initiator l(e);
    slot* o = l.claim(r, operation::put_notify, context);
    if (o == nullptr) return again(waits_for::operation_slot, "put_notify");
    std::byte body[4];
    wire::encode(immediate, body);
    return l.posted(*o, e.tell(*r, wire::message_kind::notify, body, o));
  }

  /// Out of line where small payloads travel in notices, with scalar arguments: passing the struct would spill it.
  template <post_mode M, stage First>
  [[gnu::always_inline]] status write_first(const write_of& w) noexcept {
    if constexpr (fuses)
      return write_apart<M, First>(e_, w.record, w.from.data, w.from.size, w.from.descriptor, w.to.address, w.to.key,
                                   w.immediate, w.context, w.signalled);
    else return write_now<M, First>(w);
  }
  template <post_mode M, stage First>
  [[gnu::noinline]] static status write_apart(Engine& e, record* r, std::byte* data, std::size_t size, void* descriptor,
                                              std::uint64_t address, std::uint64_t key, std::uint32_t immediate,
                                              void* context, bool signalled) noexcept {
    return initiator(e).template write_now<M, First>(
        {r, {data, size, descriptor}, {address, key}, immediate, context, signalled});
  }
  /// Does not wait for delivery: see notice_alone.
  [[gnu::cold, gnu::noinline]] static status put_nothing(Engine& e, record* r, std::byte* data, void* descriptor,
                                                         std::uint64_t address, std::uint64_t key,
                                                         void* context) noexcept {
    return initiator(e).post(r, operation::put, context, true,
                             [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) {
                               return e.port->template write<M>(r->link, {data, 0, descriptor}, {address, key}, c);
                             });
  }

  template <post_mode M, stage First>
  [[gnu::always_inline]] status write_now(const write_of& w) noexcept {
    slot* o = claim(w.record, operation::put_notify, w.context);
    if (o == nullptr) return again(waits_for::operation_slot, "put_notify");
    if (!w.signalled) o->use = slot_use::silent;
    o->immediate = w.immediate;
    o->stage = First;
    const status s = e_.port->template write<M>(w.record->link, w.from, w.to, o);
    if (!s) return posted(*o, s);
    if constexpr (Engine::uses_ring) o->sequence = ++w.record->ring_posted;
    o->pending = 2;  // the write's completion, and the notice
    if constexpr (First != stage::delivering) send_notice(*o);
    return s;
  }

  status write_ring_entry(record& r, slot& parent) noexcept {
    const std::uint32_t buffer = e_.controls.take();
    if (buffer == no_index) return again(waits_for::operation_slot, "put_notify");
    slot* s = e_.operations.take();
    if (s == nullptr) {
      e_.controls.give(buffer);
      return again(waits_for::operation_slot, "put_notify");
    }
    e_.claim(*s, slot_use::control, operation::put_notify, &r, nullptr);
    s->buffer = buffer;
    s->parent = &parent;
    const wire::ring_entry entry{parent.sequence, parent.immediate};
    const local_memory memory = e_.controls.memory(buffer);
    std::memcpy(memory.data, &entry, sizeof entry);
    const std::uint64_t place = (parent.sequence - 1) % r.ring.entries * sizeof entry;
    return posted(*s,
                  e_.port->template write<post_mode::signalled>(r.link, {memory.data, sizeof entry, memory.descriptor},
                                                                {r.ring.address + place, r.ring.key}, s));
  }
};

}  // namespace weft::detail
