// SPDX-License-Identifier: Apache-2.0
//
// The sender's side of tagged messages: one message of weft for each, with the tag in front (wire/tagged.hpp). Short
// ones are copied behind their head. Longer ones are gathered from two pieces, or staged where the row gathers only one
// (gather_limit in providers.yaml). A peer takes as many messages as its hello says; its credits make room for more.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../wire/tagged.hpp"
#include "../posting/initiator.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::detail {

template <class Engine>
class tagged_posts {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using initiator_type = initiator<Engine>;
  using fabric = typename Engine::fabric;
  /// Bytes of weft's own in front of a payload.
  static constexpr std::size_t head = Engine::front + wire::tagged_head_bytes;
  /// A message of two pieces is one call.
  static constexpr bool gathers = fabric::facts.gather_limit >= 2;
  /// Largest payload that a post without a context copies and sends without an end.
  static constexpr std::size_t injected =
      std::min<std::size_t>(Engine::message_inject_bytes > head ? Engine::message_inject_bytes - head : 0, 256);

  explicit tagged_posts(Engine& e) noexcept : e_(e), initiator_(e) {}

  /// Largest payload that the peer takes.
  static std::uint32_t largest(const Engine& e, const record& r) noexcept {
    constexpr std::uint32_t own = wire::tagged_head_bytes;
    const std::uint32_t whole =
        gathers ? r.their_max_message_bytes : std::min(r.their_max_message_bytes, e.options.max_message_bytes);
    return whole > own ? whole - own : 0;
  }

  [[gnu::always_inline]] status send(peer to, local_memory from, std::uint64_t tag, void* context,
                                     bool signalled) noexcept {
    record* const r = initiator_.addressed(to, "send_tagged");
    if (r == nullptr) [[unlikely]]
      return initiator_.dead(to, "send_tagged");
    if (from.size > largest(e_, *r)) [[unlikely]]
      return too_long(e_, from.size, *r);
    if (const status s = e_.coalescer.before(r); !s) return s;
    if (r->tagged_open == r->tagged_window) [[unlikely]]
      return full(*r);
    const status s = Engine::counted(*r, post(*r, from, tag, context, signalled));
    if (s) ++r->tagged_open;
    return s;
  }

 private:
  [[gnu::cold, gnu::noinline]] static status full(const record& r) noexcept {
    return r.tagged_window == 0 ? error(errc::unsupported, "send_tagged")
                                : again(waits_for::receive_slot, "send_tagged");
  }
  [[gnu::cold, gnu::noinline]] static status too_long(Engine& e, std::uint64_t size, const record& r) noexcept {
    e.refused_message.note(size, largest(e, r));
    return {errc::truncated, origin::weft, static_cast<std::int32_t>(largest(e, r)), "send_tagged"};
  }

  static void put_head(const local_memory& into, const record& r, std::uint64_t tag) noexcept {
    Engine::put_front({into.data, into.size}, Engine::tag_of(wire::message_kind::group, r));
    wire::encode_tagged(into.data + Engine::front, tag);
  }
  static auto immediate(const record& r) noexcept {
    return Engine::immediate_of(Engine::tag_of(wire::message_kind::group, r));
  }

  [[gnu::always_inline]] status post(record& r, const local_memory& from, std::uint64_t tag, void* context,
                                     bool signalled) noexcept {
    if (injected > 0 && !signalled && from.size <= injected) {
      std::byte message[head + injected];
      put_head({message, sizeof message, nullptr}, r, tag);
      if (from.size != 0) std::memcpy(message + head, from.data, from.size);
      return e_.port->inject(r.link, {message, head + from.size}, immediate(r));
    }
    return post_from_buffer(r, from, tag, context, signalled);
  }

  status post_from_buffer(record& r, const local_memory& from, std::uint64_t tag, void* context,
                          bool signalled) noexcept {
    slot* const o = initiator_.claim(&r, operation::send, context);
    if (o == nullptr) return again(waits_for::operation_slot, "send_tagged");
    if (!signalled) o->use = slot_use::silent;
    const bool copied = from.size + head <= Engine::control_buffers::each;
    if (!gathers && !copied) return post_staged(*o, from, tag);
    o->stage = stage::buffered;
    o->buffer = e_.controls.take();
    if (o->buffer == no_index) return initiator_.posted(*o, again(waits_for::operation_slot, "send_tagged"));
    const local_memory own = e_.controls.memory(o->buffer);
    put_head(own, r, tag);
    if (copied) return send_whole(*o, own, from);
    const std::array<local_memory, 2> pieces{local_memory{own.data, head, own.descriptor}, from};
    return initiator_.posted(*o, e_.port->template send_gather<post_mode::signalled>(
                                     r.link, gather_list(pieces.data(), pieces.size()), immediate(r), o));
  }
  status send_whole(slot& o, const local_memory& own, const local_memory& from) noexcept {
    if (from.size != 0) std::memcpy(own.data + head, from.data, from.size);
    return initiator_.posted(
        o, e_.port->template send<post_mode::signalled>(o.record->link, {own.data, head + from.size, own.descriptor},
                                                        immediate(*o.record), &o));
  }
  status post_staged(slot& o, const local_memory& from, std::uint64_t tag) noexcept {
    o.buffer = e_.tagged.staging().take();
    if (o.buffer == no_index) return initiator_.posted(o, again(waits_for::operation_slot, "send_tagged"));
    o.stage = stage::staged;
    const local_memory own = e_.tagged.staging().memory(o.buffer);
    put_head(own, *o.record, tag);
    return send_whole(o, own, from);
  }

  Engine& e_;
  initiator_type initiator_;
};

}  // namespace weft::detail
