// SPDX-License-Identifier: Apache-2.0
//
// The steps of a post that single operations, batches and gather lists share: the peer behind a handle, the check of
// the place, a slot, one call of the port, and the slot back after a refusal. posting/initiator.hpp makes posts of
// them. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "parts.hpp"

#include <type_traits>

namespace weft::detail {

template <class Engine>
class post_steps {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using parts_of = parts<Engine>;

  explicit post_steps(Engine& e) noexcept : e_(e) {}

  [[gnu::always_inline]] static record* living(peer p) noexcept {
    return p.alive() ? static_cast<record*>(peer_access::living(p)) : nullptr;
  }

  /// Why a handle cannot be used: not yet connected, or gone.
  status dead(peer p, const char* operation) const noexcept {
    if (!p) return error(errc::invalid, operation);
    const auto* r = static_cast<const record*>(peer_access::record(p));
    return r->number == peer_access::number(p) && is_meeting(r->state) ? again(waits_for::connection, operation)
                                                                       : error(errc::peer_lost, operation);
  }

  /// The immediate on the wire. Where it has room it carries the number of the connection, unless the target knows the
  /// writer by the link.
  [[gnu::always_inline]] static std::uint64_t immediate_word(const record& r, std::uint32_t immediate) noexcept {
    if constexpr (Engine::notices_name_links) return immediate;
    else if constexpr (Engine::wide_immediate) return immediate | std::uint64_t{r.theirs.value} << 32;
    else return immediate;
  }

  /// Whether an unsignalled post has read its source when it returns.
  static constexpr bool is_injected(std::size_t size) noexcept {
    return Engine::inject_bytes > 0 && (Engine::injects_all || size <= Engine::inject_bytes);
  }

  /// The error of a message that cannot be sent.
  [[gnu::cold, gnu::noinline]] static status not_sent(Engine& e, peer to, std::uint64_t size) noexcept {
    const record* r = living(to);
    return r == nullptr ? post_steps(e).dead(to, "send") : too_long(e, size, *r);
  }
  [[gnu::cold, gnu::noinline]] static status too_long(Engine& e, std::uint64_t size, const record& r) noexcept {
    e.refused_message.note(size, r.their_max_message_bytes);
    return {errc::truncated, origin::weft, static_cast<std::int32_t>(r.their_max_message_bytes), "send"};
  }

  [[gnu::always_inline]] static status check(std::size_t size, const remote_place& at, rights asked,
                                             const char* operation) noexcept {
    if (size > at.room) return error(errc::out_of_range, operation);
    if (!grants(at.granted, asked)) return error(errc::denied, operation);
    return {};
  }

  [[gnu::always_inline]] slot* claim(record* r, operation what, void* context) noexcept {
    slot* o = e_.operations.take_above();
    if (o == nullptr) [[unlikely]]
      return nullptr;
    e_.claim(*o, slot_use::user, what, r, context);
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

  /// A write. Where writes are tracked (policies/flush.hpp), it has a slot and an end even without a context.
  template <class Call>
  [[gnu::always_inline]] status post_write(record* r, operation what, void* context, bool signalled,
                                           Call&& call) noexcept {
    return post<Engine::write_mode, Engine::tracks_writes>(r, what, context, signalled, call);
  }

  /// A message behind its header, which lies in the slot's buffer until the send ends. Requires: framed.
  static status post_framed(Engine& e, record& r, local_memory from, wire::message_tag tag, slot& o) noexcept {
    const local_memory own = e.controls.memory(o.buffer);
    Engine::put_front({own.data, wire::header_bytes}, tag);
    const local_memory head{own.data, wire::header_bytes, own.descriptor};
    return e.port->template send_framed<post_mode::signalled>(r.link, head, from, &o);
  }

  /// One call, signalled or not. Inlined at each place that posts: one shared copy would cost single posts more.
  /// Unsignalled posts carry the record of their peer as context, where the library leaves contexts alone.
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

 protected:
  Engine& e_;
};

}  // namespace weft::detail
