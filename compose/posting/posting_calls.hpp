// SPDX-License-Identifier: Apache-2.0
//
// The posts of a transport, as users call them: send, put, put_notify, get, of one piece of memory or of several. Each
// is the one library call that the fabric's answers name, inlined. A post never waits. Hot path: all of it. Threads:
// the owner's.
//
// With a context, exactly one `completed` or `failed` carries it. Without one, only failures are reported, with a null
// context. Then do not change the source until an answer of the peer shows that the bytes arrived. Errors at the call:
// again (make progress, then try once more), out_of_range, denied, truncated (send), peer_lost, invalid.
#pragma once

#include "../immediate_layout.hpp"
#include "gather.hpp"
#include "initiator.hpp"
#include "refused_arguments.hpp"

namespace weft::detail {

/// Base of transport<F>.
template <class Transport, class F>
class posting_calls : public refused_posts<posting_calls<Transport, F>> {
  using refused = refused_posts<posting_calls>;
  using engine_type = engine<F>;
  using initiator_type = typename engine_type::coalescing::template initiator_type<engine_type>;

 public:
  /// Up to this size, the source of a send or put_notify without a context is free when the call returns. The row says
  /// how much the library copies; weft's own bytes around a message count too (policies/framing.hpp).
  static constexpr std::uint32_t inject_bytes = engine_type::copied_bytes;
  /// The same for puts: from 1 byte to this size. 0 where a refused write is reported (policies/write_fault.hpp).
  static constexpr std::uint32_t put_inject_bytes = engine_type::injects_puts ? engine_type::inject_bytes : 0;

  // Of other arguments.
  using refused::get, refused::put, refused::put_notify, refused::send;

  /// Sends a message; the peer's handler gets `received`.
  [[gnu::always_inline]] status send(peer to, local_memory from, void* context) noexcept {
    return initiator_().send(to, from, context, true);
  }
  [[gnu::always_inline]] status send(peer to, local_memory from) noexcept {
    return initiator_().send(to, from, nullptr, false);
  }
  /// Writes into a peer's region; the peer gets no event. The row's write_fault answer says what the end means.
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at, void* context) noexcept {
    return initiator_().put(to, from, at, context, true);
  }
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at) noexcept {
    return initiator_().put(to, from, at, nullptr, false);
  }
  /// Writes into a peer's region; the peer's handler gets `notified` with the immediate, after the bytes are visible.
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                                           void* context) noexcept {
    return initiator_().put_notify(to, from, at, immediate, context, true);
  }
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return initiator_().put_notify(to, from, at, immediate, nullptr, false);
  }
  /// Takes fields that do not all fit the immediate (compose/immediate_layout.hpp). The call writes the others into the
  /// first header_bytes of `from`. Errors: also invalid, when `from` is shorter than header_bytes.
  template <spilling_layout L>
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, const L& fields,
                                           void* context) noexcept {
    if (!place_header(fields, from)) return error(errc::invalid, "put_notify");
    return initiator_().put_notify(to, from, at, fields.immediate(), context, true);
  }
  template <spilling_layout L>
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at,
                                           const L& fields) noexcept {
    if (!place_header(fields, from)) return error(errc::invalid, "put_notify");
    return initiator_().put_notify(to, from, at, fields.immediate(), nullptr, false);
  }
  /// Reads from a peer's region.
  [[gnu::always_inline]] status get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    return initiator_().get(from, into, at, context);
  }

  // The same from several pieces of memory, or into several, in the order of their bytes: at most gather_limit (8), on
  // every fabric. Rows that carry fewer in one call get several calls, which end as one operation. A message of more
  // pieces than the row gathers is packed if it is short (some 700 bytes), else `unsupported`. Without a context, the
  // source is never free when the call returns.
  [[gnu::always_inline]] status send(peer to, gather_list from, void* context) noexcept {
    return after_waiting_posts(
        to, [&]() __attribute__((always_inline)) { return gather_().send(to, from, context, true); });
  }
  [[gnu::always_inline]] status send(peer to, gather_list from) noexcept {
    return after_waiting_posts(
        to, [&]() __attribute__((always_inline)) { return gather_().send(to, from, nullptr, false); });
  }
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at, void* context) noexcept {
    return after_waiting_posts(
        to, [&]() __attribute__((always_inline)) { return gather_().put(to, from, at, context, true); });
  }
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at) noexcept {
    return after_waiting_posts(
        to, [&]() __attribute__((always_inline)) { return gather_().put(to, from, at, nullptr, false); });
  }
  [[gnu::always_inline]] status put_notify(peer to, gather_list from, const remote_place& at, std::uint32_t immediate,
                                           void* context) noexcept {
    return after_waiting_posts(
        to, [&]() __attribute__((always_inline)) {
          return gather_().put_notify(to, from, at, immediate, context, true);
        });
  }
  [[gnu::always_inline]] status put_notify(peer to, gather_list from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return after_waiting_posts(
        to, [&]() __attribute__((always_inline)) {
          return gather_().put_notify(to, from, at, immediate, nullptr, false);
        });
  }
  [[gnu::always_inline]] status get(peer from, gather_list into, const remote_place& at, void* context) noexcept {
    return after_waiting_posts(
        from, [&]() __attribute__((always_inline)) { return gather_().get(from, into, at, context); });
  }

 protected:
  engine_type& engine_() const noexcept { return *static_cast<const Transport&>(*this).e_; }
  initiator_type initiator_() const noexcept { return initiator_type(engine_()); }
  /// Sends the posts that were gathered for that peer, then makes this post.
  template <class Post>
  [[gnu::always_inline]] status after_waiting_posts(peer to, Post&& post) const noexcept {
    if (const status s = engine_().coalescer.before(to); !s) return s;
    return post();
  }

 private:
  gather<engine_type> gather_() const noexcept { return gather<engine_type>(engine_()); }
};

}  // namespace weft::detail
