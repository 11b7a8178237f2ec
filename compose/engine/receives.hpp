// SPDX-License-Identifier: Apache-2.0
//
// Receive slots: memory for messages, posted before the peer can send and posted again as soon as a message was
// handled. Connected fabrics have receives per link, unless their links share a pool; addressed ones share one set.
// Rows whose immediates consume receives get twice as many: the reserve. Hot path: post(). Threads: the owner's.
#pragma once

#include "engine.hpp"

namespace weft::detail {

template <class Engine>
class receives {
 public:
  using record = typename Engine::record;
  using receive = typename Engine::receive;

  explicit receives(Engine& e) noexcept : e_(e) {}

  /// How many receives are posted, and how large each is. A buffer of many messages is let go when the largest may not
  /// fit any more, or less than what the library itself wants free (16 KiB: rxm of libfabric 2.1): at sixteen times
  /// both, nine tenths of it are used.
  static std::uint32_t per_block(const transport_options& o) noexcept {
    const std::uint32_t slots = o.receives * (Engine::shape::receive_reserve ? 2 : 1);
    if constexpr (!Engine::many_in_one) return slots;
    return static_cast<std::uint32_t>(std::max<std::size_t>(2, slots * slot_size(o) / size_of_one(o)));
  }
  static std::size_t size_of_one(const transport_options& o) noexcept {
    if constexpr (!Engine::many_in_one) return o.max_message_bytes + Engine::front;
    return std::max<std::size_t>(16 * slot_size(o), std::size_t{256} * 1024);
  }

  /// Posts a receive again: the one that was consumed. Where the library takes several by one call, at the end of this
  /// look at the queue. Keeps it for later when the library has no room.
  void post(receive& r) noexcept {
    if (r.owner == no_index) return;
    if constexpr (Engine::chains_receives) {
      if (e_.refills == Engine::longest_chain || (e_.refills != 0 && first_refill().owner != r.owner)) refill();
      e_.refill[e_.refills++] = {memory_of(r), &r};
    } else if (!try_post(r)) [[unlikely]] {
      keep(e_, r);
    }
  }
  /// The same where one call posts one receive, and its message came by `from`, whose link a handler may have ended
  /// since.
  [[gnu::always_inline]] void post_at_once(const record& from, receive& r,
                                           [[maybe_unused]] const completion_entry& c) noexcept {
    typename Engine::link link{};
    if constexpr (Engine::links_have_receives) {
      if (r.owner == no_index) [[unlikely]]
        return;
      if constexpr (requires { Engine::port_type::link_of(c); }) link = Engine::port_type::link_of(c);
      else link = from.link;
    }
    if constexpr (requires { e_.port->post_again(link, &r); })
      if (e_.port->post_again(link, &r)) [[likely]]
        return;
    const auto refused = [this](void* context) noexcept { keep(e_, *static_cast<receive*>(context)); };
    if constexpr (requires { e_.port->post_receive(link, memory_of(r), &r, refused); }) {
      e_.port->post_receive(link, memory_of(r), &r, refused);
    } else {
      if (!e_.port->post_receive(link, memory_of(r), &r)) [[unlikely]]
        keep(e_, r);
    }
  }
  /// Posts what was collected.
  void refill() noexcept {
    if constexpr (Engine::chains_receives) {
      const std::uint32_t count = std::exchange(e_.refills, 0);
      if (count == 0 || first_refill().owner == no_index) return;  // of a link that ended meanwhile
      typename Engine::link link{};
      if constexpr (Engine::links_have_receives) link = e_.peers.at(first_refill().owner).link;
      const std::uint32_t taken = e_.port->post_receives(link, e_.refill.data(), count);
      for (std::uint32_t i = 0; i < count; ++i)
        if (i >= taken) keep(e_, *static_cast<receive*>(e_.refill[i].context));
        else if constexpr (Engine::many_in_one) e_.receive_bytes += e_.refill[i].into.size;
    }
  }
  bool try_post(receive& r) noexcept {
    const local_memory memory = memory_of(r);
    const status s = e_.port->post_receive(link_of(r), memory, &r);
    bool posted = static_cast<bool>(s);
    if constexpr (posts_for_one)
      if (s.code == errc::no_memory) [[unlikely]]
        posted = post_for_one(r, memory);
    if constexpr (Engine::many_in_one) e_.receive_bytes += posted ? memory.size : 0;
    return posted;
  }

  /// One of its messages was taken, or it was let go without one.
  void post_if_spent(receive& r) noexcept {
    if (r.released && r.held == 0) {
      r.released = false;
      post(r);
    }
  }

  /// A link's own receives.
  void provide(record& r) {
    fill(r.receives, e_.peers.index_of(r));
    for (receive& slot : r.receives.slots) post(slot);
    refill();
  }
  /// The receives of all links: of an addressed fabric, or of a connected one with a pool.
  void provide_shared() {
    fill(e_.shared_receives, 0);
    for (receive& slot : e_.shared_receives.slots) post(slot);
    refill();
  }
  /// A link ended: its receives are nobody's, and are freed when no handler can still look at them.
  void retire(record& r) {
    for (receive& slot : r.receives.slots) slot.owner = no_index;
    if (!r.receives.slots.empty()) e_.retired_receives.push_back(std::move(r.receives));
    r.receives = {};
  }
  /// After the queue was seen empty: nothing speaks of links that ended any more.
  void settle() {
    e_.draining = false;
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i)
      if (auto& s = *e_.operations.at(i); s.use == slot_use::abandoned && s.record->link_is == link_state::none)
        e_.release(s);
    free_retired_receives();
  }
  void free_retired_receives() {
    if (e_.retired_receives.empty()) return;
    const auto dead = [](const receive* r) { return r->owner == no_index; };
    std::erase_if(e_.unexpected_messages, [](const auto& message) { return message.in->owner == no_index; });
    e_.note_unexpected();
    std::erase_if(e_.unposted, dead);
    for (auto& block : e_.retired_receives)
      if (block.registered.native != nullptr) e_.port->deregister(block.registered);
    e_.retired_receives.clear();
  }

 private:
  static constexpr bool posts_for_one = requires(Engine & e, typename Engine::link l, local_memory m, void* context) {
    {e.port->post_single_receive(l, m, context)};
  };

  typename Engine::link link_of([[maybe_unused]] const receive& r) const noexcept {
    if constexpr (Engine::links_have_receives) return e_.peers.at(r.owner).link;
    else return {};
  }
  /// Where the library has no room for a large buffer, its memory takes one message. shm of libfabric 1.17 keeps each
  /// message that met no receive in one of its 1,024 entries (rx_attr->size), and wants one more for a large buffer,
  /// but none for a receive that such a message is put into at once. With all taken it would never take a buffer again,
  /// and peers would be told `again` for ever.
  [[gnu::cold, gnu::noinline]] bool post_for_one(receive& r, const local_memory& memory) noexcept {
    if (!e_.port->post_single_receive(link_of(r), memory, &r)) return false;
    r.released = true;
    return true;
  }

  local_memory memory_of(const receive& r) const noexcept { return {r.data, size_of_one(e_.options), r.descriptor}; }
  receive& first_refill() const noexcept { return *static_cast<receive*>(e_.refill[0].context); }
  [[gnu::cold, gnu::noinline]] static void keep(Engine& e, receive& r) noexcept {
    e.unposted.push_back(&r);  // capacity reserved with the slots
    e.put_off();
  }

  static std::size_t slot_size(const transport_options& o) noexcept {
    return (o.max_message_bytes + Engine::front + 63) / 64 * 64;
  }

  void fill(receive_block<receive>& block, std::uint32_t owner) {
    const std::uint32_t count = per_block(e_.options);
    const std::size_t each = Engine::many_in_one ? size_of_one(e_.options) : slot_size(e_.options);
    block.slots = std::vector<receive>(count);
    block.memory = std::make_unique_for_overwrite<std::byte[]>(count * each);
    if constexpr (Engine::shape::local_descriptor) {
      if (auto r = e_.port->register_local({block.memory.get(), count * each})) block.registered = *r;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      block.slots[i].data = block.memory.get() + i * each;
      block.slots[i].descriptor = block.registered.descriptor;
      block.slots[i].owner = owner;
    }
    e_.unexpected_messages.reserve(e_.unexpected_messages.capacity() +
                                   (Engine::many_in_one ? count * (each / 256) : count));
    e_.unposted.reserve(e_.unposted.capacity() + count);
    e_.deferred_replies.reserve(count);
    if constexpr (Engine::notice_is_message) e_.deferred_fused_replies.reserve(count);
  }

  Engine& e_;
};

}  // namespace weft::detail
