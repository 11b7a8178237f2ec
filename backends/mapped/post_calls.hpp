// SPDX-License-Identifier: Apache-2.0
//
// The posting calls of the mapped port: loads, stores and atomic instructions in the peer's mapped memory, and entries
// of the peer's ring. An operation has ended when its call returns; the next poll reports it. The fast path is the
// region that was used last. slow_paths.hpp has the other cases. Hot path: all of it. Threads: one owner.
#pragma once

#include "../../core/atomic_listing.hpp"
#include "../../core/port.hpp"
#include "slow_paths.hpp"

namespace weft::backends::mapped {

/// A connection. Null: no link.
struct link_handle {
  connection* held = nullptr;
  friend bool operator==(const link_handle&, const link_handle&) = default;
};

template <class Shape>
class post_calls {
  using link = link_handle;
  static constexpr bool trusts = Shape::trusts_caller;

 public:
  /// Each write has read its source when it returns, and each message of up to the row's inject_bytes.
  static constexpr bool injects_all = true;
  /// The post itself refuses a place without the room or the right, by the peer's table. Callers need no check.
  static constexpr bool checks_places = true;

  static constexpr bool ends_at_return = true;
  /// Receivers copy long messages out of the arena (slow_paths.hpp).
  static constexpr bool lends_sources = true;

  template <post_mode M>
  [[gnu::always_inline]] status send(link to, local_memory from, std::uint32_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (from.size > ring_entry::room || !is_ready_now<M>(c)) [[unlikely]]
      return send_apart<M, Shape::facts.inject_bytes>(c, from.data, from.size, immediate, context);
    c.out.send_short({from.data, from.size}, immediate);
    return sent<M>(c, context);
  }
  [[gnu::always_inline]] status inject(link to, const_bytes from, std::uint32_t immediate) noexcept {
    return send<post_mode::unsignalled>(to, borrowed(from), immediate, nullptr);
  }
  template <post_mode M>
  status send_gather(link to, gather_list from, std::uint32_t immediate, void* context) noexcept {
    return send_pieces<M>(*to.held, from, immediate, context);
  }

  template <post_mode M>
  [[gnu::always_inline]] status write(link to, local_memory from, remote_memory at, void* context) noexcept {
    connection& c = *to.held;
    if (!has_room_for_end<M>(c)) [[unlikely]]
      return again(waits_for::queue, "write");
    if (!c.there.knows<rights::remote_write, trusts>(at, from.size)) [[unlikely]]
      return write_slow<M>(c, from.data, from.size, at.address, at.key, context);
    store(c.there.known<rights::remote_write>(at.address), {from.data, from.size});
    return ended<M>(c, context);
  }
  template <post_mode M>
  [[gnu::always_inline]] status write_immediate(link to, local_memory from, remote_memory at, std::uint64_t immediate,
                                                void* context) noexcept {
    return write_and_notify<M, false>(*to.held, from, at, immediate, context);
  }
  /// The status reports a refused write, because no completion will.
  [[gnu::always_inline]] status inject_write_immediate(link to, const_bytes from, remote_memory at,
                                                       std::uint64_t immediate) noexcept {
    return write_and_notify<post_mode::unsignalled, true>(*to.held, borrowed(from), at, immediate, nullptr);
  }
  template <post_mode M>
  status write_gather(link to, gather_list from, remote_memory at, void* context) noexcept {
    connection& c = *to.held;
    return has_room_for_end<M>(c) ? finish<M>(put(c, from, at), c, context, "write") : again(waits_for::queue, "write");
  }
  template <post_mode M>
  status write_gather_immediate(link to, gather_list from, remote_memory at, std::uint64_t immediate,
                                void* context) noexcept {
    connection& c = *to.held;
    return is_ready<M>(c) ? notify_pieces<M, false>(c, from, at, immediate, context)
                          : c.through->not_ready(c, 0, "write_immediate");
  }
  template <post_mode M = post_mode::signalled>
  [[gnu::always_inline]] status read(link from, local_memory into, remote_memory at, void* context) noexcept {
    connection& c = *from.held;
    if (!has_room_for_end<M>(c)) [[unlikely]]
      return again(waits_for::queue, "read");
    if (!c.there.knows<rights::remote_read, trusts>(at, into.size)) [[unlikely]]
      return read_slow<M>(c, into.data, into.size, at.address, at.key, context);
    load({into.data, into.size}, c.there.known<rights::remote_read>(at.address));
    return ended<M>(c, context);
  }
  template <post_mode M = post_mode::signalled>
  status read_scatter(link from, gather_list into, remote_memory at, void* context) noexcept {
    connection& c = *from.held;
    return has_room_for_end<M>(c) ? finish<M>(get(c, into, at), c, context, "read") : again(waits_for::queue, "read");
  }

  /// Whether a word can be changed without another check; sets `word`. Separate from the change: one call with an
  /// optional place would be checked twice.
  template <atomic_number T>
  [[gnu::always_inline]] static bool reach_word(link to, remote_memory at, std::byte*& word) noexcept {
    const peer_memory& there = to.held->there;
    if (!there.knows<rights::remote_atomic, trusts>(at, sizeof(T))) [[unlikely]]
      return false;
    word = there.known<rights::remote_atomic>(at.address);
    return weft::detail::duty_kept<trusts>(holds_whole<T>(word), "atomic", "the word is not aligned to its size");
  }
  /// Requires: reach_word() returned true. The old value goes into the first bytes of `old`.
  template <atomic_operation What, atomic_number T>
  [[gnu::always_inline]] static void change_reached(std::byte* word, T operand, T expected,
                                                    std::uint64_t* old) noexcept {
    count<What, T>(word, operand, expected, old);
  }
  template <atomic_operation What, atomic_number T, post_mode M = post_mode::signalled>
  requires(Shape::native_atomics&& natively(Shape::facts, What, type_of<T>)) [[gnu::always_inline]] status
      fetch_atomic(link to, T operand, T expected, std::uint64_t* old, void*, remote_memory at,
                   void* context) noexcept {
    connection& c = *to.held;
    if (!has_room_for_end<M>(c)) [[unlikely]]
      return again(waits_for::queue, "atomic");
    std::byte* word = nullptr;
    if (!reach_word<T>(to, at, word)) [[unlikely]]
      return atomic_slow<M, What, T>(c, operand, expected, old, at.address, at.key, context);
    change_reached<What, T>(word, operand, expected, old);
    return ended<M>(c, context);
  }
  status fetch_add(link to, std::uint64_t operand, std::uint64_t* old, void* descriptor, remote_memory at,
                   void* context) noexcept requires(Shape::native_atomics) {
    return fetch_atomic<atomic_operation::add, std::uint64_t>(to, operand, 0, old, descriptor, at, context);
  }
  status compare_swap(link to, std::uint64_t expected, std::uint64_t desired, std::uint64_t* old, void* descriptor,
                      remote_memory at, void* context) noexcept requires(Shape::native_atomics) {
    return fetch_atomic<atomic_operation::compare_swap, std::uint64_t>(to, desired, expected, old, descriptor, at,
                                                                       context);
  }

 private:
  static local_memory borrowed(const_bytes from) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): only read
    return {const_cast<std::byte*>(from.data()), from.size(), nullptr};
  }

  template <post_mode M, bool AtOnce>
  [[gnu::always_inline]] static status write_and_notify(connection& c, local_memory from, remote_memory at,
                                                        std::uint64_t immediate, void* context) noexcept {
    if (!is_ready_now<M>(c) || !c.there.knows<rights::remote_write, trusts>(at, from.size)) [[unlikely]]
      return notify_apart<M, AtOnce>(c, from.data, from.size, at.address, at.key, immediate, context);
    std::byte* const there = c.there.known<rights::remote_write>(at.address);
    if (!is_word(there, from.size)) return notify_copied<M>(c, there, from.data, from.size, immediate, context);
    store_word(there, from.data);
    c.notify(there, from.size, immediate);
    return sent<M>(c, context);
  }
};

}  // namespace weft::backends::mapped
