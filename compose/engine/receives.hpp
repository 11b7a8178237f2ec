// SPDX-License-Identifier: Apache-2.0
//
// Receive slots: memory for messages. A receive is posted before the peer can send, and posted again when its message
// was handled. Connected fabrics have receives per link, unless their links share a pool. Addressed fabrics share one
// set. Fabrics whose immediates consume receives get twice as many: the reserve. Hot path: post_at_once(), post().
// Threads: the owner's.
#pragma once

#include "engine.hpp"

#include <utility>

namespace weft::detail {

template <class Engine>
class receives {
 public:
  using record = typename Engine::record;
  using receive = typename Engine::receive;

  explicit receives(Engine& e) noexcept : e_(e) {}

  /// Posts the receive of a message from `from` again. The handler may have ended that link. Requires: one call posts
  /// one receive.
  [[gnu::always_inline]] void post_at_once(const record& from, receive& r, const completion_entry& c) noexcept {
    typename Engine::link link{};
    if constexpr (Engine::links_have_receives) {
      if (r.from != &from) [[unlikely]]
        return;
      link = link_that_brought(*e_.port, c, from.link);
    }
    if (post_same_again(*e_.port, link, &r)) [[likely]]
      return;
    post_or_refuse(*e_.port, link, memory_of(r), &r,
                   [&e = e_](void* context) noexcept { keep(e, *static_cast<receive*>(context)); });
  }

  /// Posts a consumed receive again: at once, or at the end of this poll where one call posts several. Keeps the
  /// receive for later if the library has no room.
  void post(receive& r) noexcept {
    if (is_retired(r)) return;
    if constexpr (Engine::chains_receives) {
      if (e_.refills == Engine::longest_chain || (e_.refills != 0 && first_refill().from != r.from)) refill();
      e_.refill[e_.refills++] = {memory_of(r), &r};
    } else if (!try_post(r)) [[unlikely]] {
      keep(e_, r);
    }
  }
  /// Posts the receives that post() collected.
  void refill() noexcept {
    if constexpr (Engine::chains_receives) {
      const std::uint32_t count = std::exchange(e_.refills, 0);
      if (count == 0 || is_retired(first_refill())) return;  // the link ended meanwhile
      const std::uint32_t taken = e_.port->post_receives(link_of(first_refill()), e_.refill.data(), count);
      for (std::uint32_t i = 0; i < count; ++i)
        if (i >= taken) keep(e_, *static_cast<receive*>(e_.refill[i].context));
        else if (Engine::many_in_one) e_.receive_bytes += e_.refill[i].into.size;
    }
  }
  bool try_post(receive& r) noexcept {
    const local_memory memory = memory_of(r);
    const status s = e_.port->post_receive(link_of(r), memory, &r);
    bool posted = static_cast<bool>(s);
    if (posts_single_receives<typename Engine::port_type> && s.code == errc::no_memory) [[unlikely]]
      posted = post_for_one(r, memory);
    if (Engine::many_in_one && posted) e_.receive_bytes += memory.size;
    return posted;
  }
  /// A handler took one message of the buffer, or the library let the buffer go without one.
  void post_if_spent(receive& r) noexcept {
    if (r.released && r.held == 0) {
      r.released = false;
      post(r);
    }
  }

  /// The receive's link has ended.
  bool is_retired([[maybe_unused]] const receive& r) const noexcept {
    if constexpr (Engine::links_have_receives) return r.from == &e_.no_link;
    else return false;
  }
  /// The record of the receive's link; null after the link's end.
  record* peer_of(const receive& r) const noexcept { return is_retired(r) ? nullptr : static_cast<record*>(r.from); }
  /// Whether a message of this peer waits for its handler. The end of the peer waits too: the handler gets it first.
  bool any_waits(const record& r) const noexcept {
    for (const auto& message : e_.unexpected_messages)
      if (Engine::links_have_receives ? message.in->from == &r
                                      : wire::message_tag{message.tag}.connection().number().value == r.number)
        return true;
    return false;
  }

  // ---- set-up and teardown
  /// Receives of one block, and bytes of each. A buffer of many messages is released when the largest message may not
  /// fit any more, or when less is free than the library wants (16 KiB: rxm of libfabric 2.1). At sixteen times both,
  /// nine tenths of a buffer are used.
  static std::uint32_t per_block(const transport_options& o) noexcept {
    const std::uint32_t slots = o.receives * (Engine::shape::receive_reserve ? 2 : 1);
    if (!Engine::many_in_one) return slots;
    return static_cast<std::uint32_t>(std::max<std::size_t>(2, slots * slot_size(o) / size_of_one(o)));
  }
  static std::size_t size_of_one(const transport_options& o) noexcept {
    if (!Engine::many_in_one) return o.max_message_bytes + Engine::front;
    return std::max<std::size_t>(16 * slot_size(o), std::size_t{256} * 1024);
  }

  /// Makes and posts the receives of a link.
  void provide(record& r) {
    fill(r.receives, &r);
    for (receive& slot : r.receives.slots) post(slot);
    refill();
  }
  /// Makes and posts the receives of all links: an addressed fabric, or a connected one with a pool.
  void provide_shared() {
    fill(e_.shared_receives, nullptr);
    for (receive& slot : e_.shared_receives.slots) post(slot);
    refill();
  }
  /// The link ended. Its receives are freed when no handler can read them any more.
  void retire(record& r) {
    for (receive& slot : r.receives.slots) slot.from = &e_.no_link;
    if (!r.receives.slots.empty()) e_.retired_receives.push_back(std::move(r.receives));  // link_blocks stays
    r.receives = {};
  }
  /// Call when the queue was seen empty: no entry of an ended link comes any more.
  void settle() {
    e_.draining = false;
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i)
      if (auto& s = *e_.operations.at(i); s.use == slot_use::abandoned && s.record->link_is == link_state::none)
        e_.release(s);
    free_retired_receives();
  }
  void free_retired_receives() {
    if (e_.retired_receives.empty()) return;
    std::erase_if(e_.unexpected_messages, [this](const auto& message) { return is_retired(*message.in); });
    e_.note_unexpected();
    std::erase_if(e_.unposted, [this](const receive* r) { return is_retired(*r); });
    for (auto& block : e_.retired_receives)
      if (block.registered.native != nullptr) e_.port->deregister(block.registered);
    e_.link_blocks -= static_cast<std::uint32_t>(e_.retired_receives.size());
    e_.retired_receives.clear();
  }

 private:
  typename Engine::link link_of([[maybe_unused]] const receive& r) const noexcept {
    if constexpr (Engine::links_have_receives) return static_cast<const record*>(r.from)->link;
    else return {};
  }
  /// Where the library has no room for a large buffer, its memory takes one message. shm of libfabric 1.17 keeps each
  /// message without a receive in one of 1,024 entries (rx_attr->size). A large buffer needs one more entry, a receive
  /// for one message needs none. With all entries taken, shm would never take a buffer again, and peers would get
  /// `again` for ever.
  [[gnu::cold, gnu::noinline]] bool post_for_one(receive& r, const local_memory& memory) noexcept {
    if (!post_for_one_message(*e_.port, link_of(r), memory, &r)) return false;
    r.released = true;
    return true;
  }
  [[gnu::cold, gnu::noinline]] static void keep(Engine& e, receive& r) noexcept {
    e.unposted.push_back(&r);  // capacity reserved with the slots
    e.put_off();
  }
  local_memory memory_of(const receive& r) const noexcept { return {r.data, size_of_one(e_.options), r.descriptor}; }
  receive& first_refill() const noexcept { return *static_cast<receive*>(e_.refill[0].context); }

  static std::size_t slot_size(const transport_options& o) noexcept {
    return (o.max_message_bytes + Engine::front + line - 1) / line * line;
  }
  static constexpr std::size_t line = 64;
  /// Some processors copy at a twentieth of the speed where a target lies 1 to 31 bytes behind its source, modulo 4096
  /// (docs/decisions/0023). In memory of one host a message comes from a line, so receives begin at lines. Over a
  /// network a header lies before the message: receives begin 16 bytes behind lines, as an allocator's large blocks.
  static constexpr std::size_t behind_a_line = Engine::shape::facts.same_host ? 0 : 16;
  static std::byte* first_receive_in(std::byte* memory) noexcept {
    return memory + (line - reinterpret_cast<std::uintptr_t>(memory) % line) + behind_a_line;
  }
  /// Grows by a quarter at least: a link more must not copy the lists of all links.
  static void reserve(auto& list, std::size_t wanted) {
    if (wanted > list.capacity()) list.reserve(std::max(wanted, list.capacity() / 4 * 5));
  }
  /// If memory runs out, `kept` stays empty.
  void fill(receive_block<receive>& kept, peer_header* from) {
    const std::uint32_t count = per_block(e_.options);
    const std::size_t each = Engine::many_in_one ? size_of_one(e_.options) : slot_size(e_.options);
    const std::size_t others = Engine::links_have_receives ? e_.link_blocks + std::size_t{1} : 1;
    receive_block<receive> block;
    block.slots = std::vector<receive>(count);
    block.memory = std::make_unique_for_overwrite<std::byte[]>(count * each + 2 * line);
    std::byte* const first = first_receive_in(block.memory.get());
    if (Engine::shape::local_descriptor)
      if (auto r = e_.port->register_local({first, count * each})) block.registered = *r;
    for (std::uint32_t i = 0; i < count; ++i) {
      block.slots[i].data = first + i * each;
      block.slots[i].descriptor = block.registered.descriptor;
      block.slots[i].from = from;
    }
    const std::size_t messages = Engine::many_in_one ? count * (each / 256) : count;
    reserve(e_.unexpected_messages, others * messages);
    reserve(e_.unposted, others * count);
    if (Engine::links_have_receives) reserve(e_.retired_receives, others);
    e_.deferred_replies.reserve(count);
    if (Engine::notice_is_message) e_.deferred_fused_replies.reserve(count);
    kept = std::move(block);
    e_.link_blocks += std::uint32_t{Engine::links_have_receives};
  }

  Engine& e_;
};

}  // namespace weft::detail
