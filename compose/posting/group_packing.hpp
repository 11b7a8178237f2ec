// SPDX-License-Identifier: Apache-2.0
//
// Groups: small messages and puts to one peer, packed into one message. A group is packed in the buffer from which the
// library sends it. It holds its operation slot from the start. The target hands each message to the handler without a
// copy, and copies the bytes of puts after the checks that a card makes (receiving/group_unpacking.hpp). The row
// decides which posts may be members. Messages: always, and in order, since a group is one message. Put_notifies: where
// messages stay in order and flush() sends one, so that it flushes them too; and where nobody relies on an order of
// writes (fi_endpoint(3), FI_ORDER_WAW), since the target copies when it polls. Plain puts: under the same conditions,
// and only on rows whose bytes arrive while the target polls. Hot path: add(). Threads: the owner's.
#pragma once

#include "../../wire/group.hpp"
#include "../engine/engine.hpp"
#include "../engine/erased_handler.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace weft::detail {

/// A group that is being filled: the place of its next member, and the number of members that still fit. Without a
/// slot nothing fits.
struct open_group {
  std::byte* at = nullptr;
  std::byte* end = nullptr;
  std::uint32_t room = 0;
  std::uint32_t slot = no_index;
  std::uint32_t generation = 0;  ///< Of the slot: another value means that the slot has another user now.
};

template <class Engine>
class group_packing {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using fabric = typename Engine::fabric;

  /// Put_notifies, and plain puts, may be members.
  static constexpr bool packs_notices =
      fabric::facts.order_send_after_send && !Engine::tracks_writes && !Engine::uses_ring && !Engine::watches_cells &&
      !Engine::shape::ordered_write_after_write && !std::same_as<answer<fabric, flush_family>, flush::refused>;
  static constexpr bool packs_puts = packs_notices && answer<fabric, progress_family>::needs_owner;

  explicit group_packing(Engine& e) noexcept : e_(e) {}

  /// Bytes that a group to this peer can have.
  static std::size_t capacity(const record& r) noexcept {
    return std::min<std::size_t>(Engine::group_bytes, r.their_max_message_bytes);
  }

  /// Packs a message. `again`: not taken. Other errors: the previous group could not be sent, and its members fail; or
  /// the message never fits.
  [[gnu::always_inline]] status add(record& r, open_group& g, const local_memory& from) noexcept {
    const std::size_t need = wire::group_member_bytes(wire::group_kind::message, from.size);
    if (static_cast<std::size_t>(g.end - g.at) < need) [[unlikely]]
      if (const status s = make_room(r, g, need); !s) return s;
    g.at = wire::encode_message(g.at, from.data, from.size);
    wire::end_group(g.at);
    if (--g.room == 0) [[unlikely]]
      filled(g);
    return {};
  }
  /// Packs a put or put_notify, which was checked.
  status add(record& r, open_group& g, wire::group_kind kind, const local_memory& from, const remote_place& at,
             std::uint32_t immediate) noexcept {
    const std::size_t need = wire::group_member_bytes(kind, from.size);
    if (static_cast<std::size_t>(g.end - g.at) < need)
      if (const status s = make_room(r, g, need); !s) return s;
    g.at = wire::encode({kind, immediate, at.address, at.key, {from.data, from.size}}, g.at);
    wire::end_group(g.at);
    if (--g.room == 0) filled(g);
    return {};
  }

  /// Sends the group. `again`: it is still open. Other errors: its members fail at the next poll.
  status post(open_group& g) noexcept {
    slot& o = *e_.operations.at(g.slot);
    o.scratch[0] = static_cast<std::uint64_t>(g.at - start_of(o));
    const status s = send(o);
    if (s.is_again()) return s;
    g = {};
    if (!s) {
      o.fault = s.code;
      e_.defer(o);
    }
    return s;
  }
  /// Leaves a group to progress(): the queue is full, and the program's group object is gone.
  void leave(open_group& g) noexcept {
    slot& o = *e_.operations.at(g.slot);
    g = {};
    e_.defer(o);
  }
  /// Whether the group still has its slot. The group may have ended early, for example at its deadline.
  bool owns_slot(const open_group& g) const noexcept {
    const slot* o = g.slot == no_index ? nullptr : e_.operations.at(g.slot);
    return o != nullptr && o->generation == g.generation && o->use == slot_use::silent && o->stage == stage::grouped &&
           o->pending == 0;
  }

  /// Sends a deferred group. True: the send failed, and the caller ends the members.
  bool resume(slot& o) noexcept {
    if (o.fault != errc::ok) return true;
    const status s = send(o);
    if (s) return false;  // the library has it, or it is out and its slot given back
    if (s.is_again()) {
      e_.defer(o);
      return false;
    }
    o.fault = s.code;
    return true;
  }

  /// Reports each member as failed. Gives the slot back, or abandons it while the library holds it.
  void fail(slot& o, status why, erased_handler on) {
    record& r = *o.record;
    const peer whose = e_.handle(r);
    e_.coalescer.slot_ends(r, o);
    e_.deferred.forget([&o](const slot& s) { return &s == &o; });
    o.use = slot_use::control;  // a handler may close the peer, which must not end this slot again
    o.record = nullptr;
    wire::group_reader in({start_of(o), Engine::group_bytes + wire::group_end_bytes});  // an open group has no size yet
    for (wire::group_member m; in.next(m) == wire::group_verdict::member;)
      if (m.kind != wire::group_kind::refusal && r.number == peer_access::number(whose) && r.state != peer_state::free)
        on(failed{m.kind == wire::group_kind::message ? operation::send
                  : m.kind == wire::group_kind::put   ? operation::put
                                                      : operation::put_notify,
                  whose, nullptr, error(why.code, why.operation)});
    o.record = &r;
    if (o.pending > 0) e_.abandon(o);
    else e_.release(o);
  }

 private:
  auto& buffers() const noexcept { return e_.coalescer.buffers(e_.controls); }
  std::byte* start_of(const slot& o) const noexcept { return buffers().memory(o.buffer).data + Engine::front; }

  [[gnu::noinline]] status make_room(record& r, open_group& g, std::size_t need) noexcept {
    if (g.slot != no_index)
      if (const status s = post(g); !s) return s;
    if (need > capacity(r)) return error(errc::truncated, "a group");
    return open(r, g);
  }

  status open(record& r, open_group& g) noexcept {
    slot* o = e_.operations.take_above();
    if (o == nullptr) return again(waits_for::operation_slot, "a group");
    e_.claim(*o, slot_use::silent, operation::send, &r, nullptr);
    o->stage = stage::grouped;
    o->pending = 0;
    o->buffer = buffers().take();
    if (o->buffer == no_index) {
      e_.release(*o);
      return again(waits_for::operation_slot, "a group");
    }
    std::byte* const start = start_of(*o);
    wire::end_group(start);
    g = {start, start + capacity(r), Engine::group_members, o->index, ++o->generation};
    e_.coalescer.opened(r, g);
    return {};
  }

  /// The group is full. If the queue is full too, the next member gets `again`.
  [[gnu::noinline]] void filled(open_group& g) noexcept {
    if (post(g).is_again()) g.end = g.at;
  }

  status send(slot& o) noexcept {
    record& r = *o.record;
    const local_memory memory = buffers().memory(o.buffer);
    const auto tag = Engine::tag_of(wire::message_kind::group, r);
    const std::size_t size = Engine::front + static_cast<std::size_t>(o.scratch[0]);
    Engine::put_front({memory.data, memory.size}, tag);
    if (size <= Engine::message_inject_bytes) {
      const status s = Engine::counted(r, e_.port->inject(r.link, {memory.data, size}, Engine::immediate_of(tag)));
      if (s) e_.release(o);
      return s;
    }
    o.pending = 1;
    const status s =
        Engine::counted(r, e_.port->template send<post_mode::signalled>(r.link, {memory.data, size, memory.descriptor},
                                                                        Engine::immediate_of(tag), &o));
    if (!s) o.pending = 0;
    return s;
  }

  Engine& e_;
};

}  // namespace weft::detail
