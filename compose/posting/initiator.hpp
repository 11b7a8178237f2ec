// SPDX-License-Identifier: Apache-2.0
//
// The initiator's side of put, get and send: checks, takes a slot, makes the call that the fabric's answers name. One
// library call per operation, unless the row forces more (policies/notify.hpp). The usual path comes first. Posts of
// few fabrics: rare_posts.hpp. Atomics: atomics.hpp. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/caller_checks.hpp"
#include "../engine/engine.hpp"
#include "fused.hpp"
#include "outgoing_write.hpp"
#include "parts.hpp"
#include "rare_posts.hpp"
#include "ring_posts.hpp"

namespace weft::detail {

template <class Engine>
class initiator : public caller_checks<Engine> {
  using checks = caller_checks<Engine>;

 public:
  using checks::addressed, checks::check, checks::is_taken;
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using write_of = outgoing_write<record>;
  using notify_answer = answer<typename Engine::fabric, notify_family>;
  using parts_of = parts<Engine>;
  using rare = rare_posts<Engine>;

  explicit initiator(Engine& e) noexcept : e_(e) {}

  [[gnu::always_inline]] status send(peer to, local_memory from, void* context, bool signalled) noexcept {
    record* r = addressed(to, "send");
    if (r == nullptr || !is_taken(*r, from.size)) [[unlikely]]
      return rare::not_sent(e_, to, from.size);
    const auto tag = [r] { return Engine::tag_of(wire::message_kind::user, *r); };
    if constexpr (Engine::framed) {
      return Engine::counted(*r, rare::send_framed(e_, *r, from, tag(), context, signalled));
    } else {
      if (!Engine::slot_per_message && !signalled && is_injected(from.size))
        return Engine::counted(*r, e_.port->inject(r->link, {from.data, from.size}, Engine::immediate_of(tag())));
      return Engine::counted(
          *r, post<post_mode::signalled, Engine::slot_per_message>(
                  r, operation::send, context, signalled,
                  [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
                    return e_.port->template send<M>(r->link, from, Engine::immediate_of(tag()), c);
                  }));
    }
  }

  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at, void* context,
                                    bool signalled) noexcept {
    record* r = addressed(to, "put");
    if (r == nullptr) [[unlikely]]
      return dead(to, "put");
    if (status s = checks::check_write(from.size, at, "put"); !s) [[unlikely]]
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
        return rare::put_nothing(e_, r, from.data, from.descriptor, at.address, at.key, context);
    return post<Engine::write_mode, Engine::tracks_writes>(r, operation::put, context, signalled, call);
  }

  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                                           void* context, bool signalled) noexcept {
    record* r = addressed(to, "put_notify");
    if (r == nullptr) [[unlikely]]
      return dead(to, "put_notify");
    if (status s = checks::check_write(from.size, at, "put_notify"); !s) [[unlikely]]
      return s;
    if (parts_of::too_large(e_, from.size)) [[unlikely]]
      return one_in_parts(*r, operation::put_notify, from, at, immediate, context, signalled);
    const write_of w{r, from, {at.address, at.key}, immediate, context, signalled};
    if constexpr (notify_answer::rides_on_write) return write_with_immediate(w);
    else return notify_answer::post(*this, w);
  }

  [[gnu::always_inline]] status get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    record* r = addressed(from, "get");
    if (r == nullptr) [[unlikely]]
      return dead(from, "get");
    if (status s = checks::check_read(into.size, at, "get"); !s) [[unlikely]]
      return s;
    if (into.size == 0) [[unlikely]]
      return rare::get_nothing(e_, *r, at, context);
    if (parts_of::too_large(e_, into.size)) [[unlikely]]
      return one_in_parts(*r, operation::get, into, at, 0, context, true);
    slot* o = claim(r, operation::get, context);
    if (o == nullptr) [[unlikely]]
      return again(waits_for::operation_slot, "get");
    if constexpr (Engine::ends_at_return)
      return ended_or_not(*o, e_.port->template read<post_mode::at_return>(r->link, into, {at.address, at.key}, o));
    else return posted(*o, e_.port->read(r->link, into, {at.address, at.key}, o));
  }

  /// The notice rides on the write.
  [[gnu::always_inline]] status write_with_immediate(const write_of& w) noexcept {
    const std::uint64_t immediate = immediate_word(*w.record, w.immediate);
    if (!w.signalled && is_injected(w.from.size))
      return e_.port->inject_write_immediate(w.record->link, {w.from.data, w.from.size}, w.to, immediate);
    if constexpr (Engine::write_mode == post_mode::delivered)
      if (w.signalled && w.from.size == 0) [[unlikely]]
        return rare::notice_alone(e_, w.record, w.immediate, w.context);
    return post<Engine::write_mode, Engine::tracks_writes>(
        w.record, operation::put_notify, w.context,
        w.signalled, [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
          return e_.port->template write_immediate<M>(w.record->link, w.from, w.to, immediate, c);
        });
  }

  // ---- posts of the other notify answers (called by policies/notify.hpp)
  /// Messages do not overtake writes on this row: posts both now. The operation ends when both have ended.
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
      sent = rare::write_ring_entry(e_, *o.record, o);
    } else {
      std::byte body[4];
      wire::encode(o.immediate, body);
      completes = sizeof body + Engine::front > Engine::message_inject_bytes;
      sent = e_.tell(*o.record, wire::message_kind::notify, body, completes ? &o : nullptr);
    }
    if (sent.is_again()) return e_.defer(o);
    if (!sent) o.fault = sent.code;
    if (!sent || !completes) --o.pending;
  }

  // ---- shared with posting/batch.hpp and posting/gather.hpp
  /// Why a handle cannot be used: not yet connected, or gone.
  status dead(peer p, const char* operation) const noexcept {
    if (!p) return error(errc::invalid, operation);
    const auto* r = static_cast<const record*>(peer_access::record(p));
    return r->number == peer_access::number(p) && is_meeting(r->state) ? again(waits_for::connection, operation)
                                                                       : error(errc::peer_lost, operation);
  }

  /// The immediate on the wire. If it has room, it also carries the connection's number without the proof, unless the
  /// target knows the writer by the link.
  [[gnu::always_inline]] static std::uint64_t immediate_word(const record& r, std::uint32_t immediate) noexcept {
    if constexpr (Engine::notices_name_links) return immediate;
    else if constexpr (Engine::wide_immediate) return immediate | r.theirs.value << 32;
    else return immediate;
  }

  /// Whether an unsignalled post has read its source when it returns.
  static constexpr bool is_injected(std::size_t size) noexcept {
    return Engine::inject_bytes > 0 && (Engine::injects_all || size <= Engine::inject_bytes);
  }

  [[gnu::always_inline]] slot* claim(record* r, operation what, void* context, stage at = stage::single) noexcept {
    slot* o = e_.operations.take_above();
    if (o == nullptr) [[unlikely]]
      return nullptr;
    e_.claim(*o, slot_use::user, what, r, context, at);
    return o;
  }
  [[gnu::always_inline]] status posted(slot& o, status s) noexcept {
    if (!s) [[unlikely]]
      not_posted(e_, o);
    return s;
  }
  /// For a port whose posts end when they return: the next poll reports the end.
  [[gnu::always_inline]] status ended_or_not(slot& o, status s) noexcept {
    if (!s) [[unlikely]]
      not_posted(e_, o);
    else if (has_ended(s)) [[likely]] e_.ended.add(o);
    return s;
  }
  /// Gives back a claimed slot after a refused post.
  [[gnu::cold, gnu::noinline]] static void not_posted(Engine& e, slot& o) noexcept {
    if (o.buffer != no_index) [[unlikely]]
      return e.release(o);
    e.operations.give(o);
  }

  /// By value: the path without parts then needs no addresses.
  [[gnu::cold, gnu::noinline]] status one_in_parts(record& r, operation what, local_memory from, remote_place at,
                                                   std::uint32_t immediate, void* context, bool signalled) noexcept {
    return in_parts(r, what, {&from, 1}, at, immediate, context, signalled);
  }
  [[gnu::cold, gnu::noinline]] status in_parts(record& r, operation what, gather_list from, const remote_place& at,
                                               std::uint32_t immediate, void* context, bool signalled) noexcept {
    return parts_of(e_).begin(r, what, from, {at.address, at.key}, immediate, context, signalled,
                              Engine::write_mode == post_mode::delivered);
  }

  /// A write of a rare shape.
  template <class Call>
  [[gnu::always_inline]] status post_write(record* r, operation what, void* context, bool signalled,
                                           Call&& call) noexcept {
    return post<Engine::write_mode, Engine::tracks_writes>(r, what, context, signalled, call);
  }

  /// One call, signalled or not. Inlined at each place that posts: one shared copy would cost single posts more.
  /// Unsignalled posts carry the record of their peer as context, where the library leaves contexts alone. Where writes
  /// are tracked (policies/flush.hpp), a write has a slot and an end even without a context.
  template <post_mode Signalled = post_mode::signalled, bool Tracked = false, class Call>
  [[gnu::always_inline]] status post(record* r, operation what, void* context, bool signalled, Call&& call) noexcept {
    if (!signalled) {
      if constexpr (Engine::markers && !Tracked)
        return call(std::integral_constant<post_mode, post_mode::unsignalled>{}, &static_cast<library_context<0>&>(*r));
    }
    slot* o = claim(r, what, context);
    if (o == nullptr) [[unlikely]]
      return again(waits_for::operation_slot, name_of(what));
    if (!signalled) o->use = slot_use::silent;
    if constexpr (Engine::ends_at_return)
      return ended_or_not(*o, call(std::integral_constant<post_mode, post_mode::at_return>{}, o));
    else return posted(*o, call(std::integral_constant<post_mode, Signalled>{}, o));
  }

 private:
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

  Engine& e_;
};

}  // namespace weft::detail
