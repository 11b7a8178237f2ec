// SPDX-License-Identifier: Apache-2.0
//
// The posting calls of the libfabric port: send, inject, write, read, gather lists, atomics. Each is one call of
// fi_msg(3), fi_rma(3) or fi_atomic(3), which the shape selects at compile time.
// Under FI_SELECTIVE_COMPLETION the short calls are unsignalled, and the fi_*msg calls request a completion. The
// reverse fails: tcp of libfabric 1.17 adds the endpoint's op_flags to those of fi_*msg, so FI_COMPLETION in op_flags
// would complete everything. An injected operation never completes. If it fails later, its `ended` entry carries a null
// context. Hot path: all of it. Threads: one owner.
#pragma once

#include "../../core/port.hpp"
#include "atomic_names.hpp"
#include "completion_queue.hpp"
#include "endpoint.hpp"
#include "errors.hpp"
#include "pieces.hpp"
#include "prepared_write.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <type_traits>

namespace weft::backends::libfabric {

template <class Shape>
class post_calls {
  using endpoint_set = endpoints<Shape>;
  using link = typename endpoint_set::link;
  static constexpr bool offers(post_mode mode) noexcept {
    return mode != post_mode::delivered || Shape::facts.delivery_complete;
  }

 public:
  /// Only fi_*msg calls take FI_MORE.
  static constexpr bool hints_more = true;

  template <post_mode M, bool More = false>
  requires(offers(M)) [[gnu::always_inline]] status
      send(link to, local_memory from, [[maybe_unused]] std::uint64_t immediate, void* context) noexcept {
    fid_ep* ep = endpoint_set::of(to);
    if constexpr (!More && short_call(M) && Shape::framed) {
      return posted(fi_send(ep, from.data, from.size, from.descriptor, endpoint_set::peer(to), own_context<M>(context)),
                    "fi_send");
    } else if constexpr (!More && short_call(M)) {
      return posted(fi_senddata(ep, from.data, from.size, from.descriptor, immediate, endpoint_set::peer(to),
                                own_context<M>(context)),
                    "fi_senddata");
    } else {
      const iovec piece{from.data, from.size};
      lend_descriptor(from);
      // A separate variable: otherwise the compiler writes all of `from` to memory.
      void* descriptor = from.descriptor;
      const fi_msg message{&piece, &descriptor, 1, endpoint_set::peer(to), own_context<M>(context), immediate};
      return posted(fi_sendmsg(ep, &message, flags(M) | (More ? FI_MORE : 0) | (Shape::framed ? 0 : FI_REMOTE_CQ_DATA)),
                    "fi_sendmsg");
    }
  }

  [[gnu::always_inline]] status inject(link to, const_bytes from, [[maybe_unused]] std::uint64_t immediate) noexcept {
    if constexpr (Shape::framed)
      return posted(fi_inject(endpoint_set::of(to), from.data(), from.size(), endpoint_set::peer(to)), "fi_inject");
    else
      return posted(fi_injectdata(endpoint_set::of(to), from.data(), from.size(), immediate, endpoint_set::peer(to)),
                    "fi_injectdata");
  }

  template <post_mode M>
  requires(Shape::framed&& offers(M)) [[gnu::always_inline]] status
      send_framed(link to, local_memory header, local_memory from, void* context) noexcept {
    const iovec pieces[2]{{header.data, header.size}, {from.data, from.size}};
    void* descriptors[2]{header.descriptor, from.descriptor};
    const fi_msg message{pieces,
                         descriptors,
                         from.size == 0 ? std::size_t{1} : std::size_t{2},
                         endpoint_set::peer(to),
                         own_context<M>(context),
                         0};
    return posted(fi_sendmsg(endpoint_set::of(to), &message, flags(M)), "fi_sendmsg");
  }

  template <post_mode M, bool More = false>
  requires(offers(M)) [[gnu::always_inline]] status
      write(link to, local_memory from, remote_memory at, void* context) noexcept {
    fid_ep* ep = endpoint_set::of(to);
    lend_descriptor(from);
    if constexpr (!More && short_call(M))
      return posted(fi_write(ep, from.data, from.size, from.descriptor, endpoint_set::peer(to), at.address, at.key,
                             own_context<M>(context)),
                    "fi_write");
    else return write_message(to, from, at, 0, flags(M) | (More ? FI_MORE : 0), own_context<M>(context));
  }

  template <post_mode M, bool More = false>
  requires(offers(M)) [[gnu::always_inline]] status
      write_immediate(link to, local_memory from, remote_memory at, std::uint64_t immediate, void* context) noexcept {
    fid_ep* ep = endpoint_set::of(to);
    lend_descriptor(from);
    if (!immediate_fits<Shape>(ep)) return no_room();
    if constexpr (!More && short_call(M))
      return posted(fi_writedata(ep, from.data, from.size, from.descriptor, immediate, endpoint_set::peer(to),
                                 at.address, at.key, own_context<M>(context)),
                    "fi_writedata");
    else
      return write_message(to, from, at, immediate, flags(M) | FI_REMOTE_CQ_DATA | (More ? FI_MORE : 0),
                           own_context<M>(context));
  }

  [[gnu::always_inline]] status inject_write_immediate(link to, const_bytes from, remote_memory at,
                                                       std::uint64_t immediate) noexcept {
    if (!immediate_fits<Shape>(endpoint_set::of(to))) return no_room();
    return posted(fi_inject_writedata(endpoint_set::of(to), from.data(), from.size(), immediate, endpoint_set::peer(to),
                                      at.address, at.key),
                  "fi_inject_writedata");
  }

  [[gnu::always_inline]] status inject_write(link to, const_bytes from, remote_memory at) noexcept {
    return posted(
        fi_inject_write(endpoint_set::of(to), from.data(), from.size(), endpoint_set::peer(to), at.address, at.key),
        "fi_inject_write");
  }

  [[gnu::always_inline]] status read(link from, local_memory into, remote_memory at, void* context) noexcept {
    const iovec piece{into.data, into.size};
    void* descriptor = into.descriptor;
    const fi_rma_iov source{at.address, into.size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, endpoint_set::peer(from), &source, 1, context, 0};
    return posted(fi_readmsg(endpoint_set::of(from), &message, FI_COMPLETION), "fi_readmsg");
  }

  using piece_vector = vector_of_pieces;

  template <post_mode M>
  requires(offers(M)) [[gnu::always_inline]] status
      send_gather(link to, vector_of_pieces& from, [[maybe_unused]] std::uint64_t immediate, void* context) noexcept {
    const fi_msg message{from.pieces,
                         from.descriptors,
                         from.count,
                         endpoint_set::peer(to),
                         own_context<M>(context),
                         Shape::framed ? 0 : immediate};
    return posted(fi_sendmsg(endpoint_set::of(to), &message, flags(M) | (Shape::framed ? 0 : FI_REMOTE_CQ_DATA)),
                  "fi_sendmsg");
  }
  template <post_mode M>
  requires(offers(M)) [[gnu::always_inline]] status
      write_gather(link to, vector_of_pieces& from, remote_memory at, void* context) noexcept {
    return write_pieces(to, from, at, 0, flags(M), own_context<M>(context));
  }
  template <post_mode M>
  requires(offers(M)) [[gnu::always_inline]] status
      write_gather_immediate(link to, vector_of_pieces& from, remote_memory at, std::uint64_t immediate,
                             void* context) noexcept {
    if (!immediate_fits<Shape>(endpoint_set::of(to))) return no_room();
    return write_pieces(to, from, at, immediate, flags(M) | FI_REMOTE_CQ_DATA, own_context<M>(context));
  }
  [[gnu::always_inline]] status read_scatter(link from, vector_of_pieces& into, remote_memory at,
                                             void* context) noexcept {
    fid_ep* ep = endpoint_set::of(from);
    const fi_rma_iov source{at.address, into.bytes, at.key};
    const fi_msg_rma message{into.pieces, into.descriptors, into.count, endpoint_set::peer(from), &source,
                             1,           context,          0};
    if (const ssize_t refused = fi_readmsg(ep, &message, FI_COMPLETION); refused != 0) [[unlikely]]
      return not_posted(refused, "fi_readmsg");
    return {};
  }
  // The same for a list that was not converted yet.
  template <post_mode M>
  requires(offers(M)) status send_gather(link to, gather_list from, std::uint64_t immediate, void* context)
  noexcept {
    vector_of_pieces v(from);
    return send_gather<M>(to, v, immediate, context);
  }
  template <post_mode M>
  requires(offers(M)) status write_gather(link to, gather_list from, remote_memory at, void* context)
  noexcept {
    vector_of_pieces v(from);
    return write_gather<M>(to, v, at, context);
  }
  template <post_mode M>
  requires(offers(M)) status
      write_gather_immediate(link to, gather_list from, remote_memory at, std::uint64_t immediate, void* context)
  noexcept {
    vector_of_pieces v(from);
    return write_gather_immediate<M>(to, v, at, immediate, context);
  }
  status read_scatter(link from, gather_list into, remote_memory at, void* context) noexcept {
    vector_of_pieces v(into);
    return read_scatter(from, v, at, context);
  }

  using prepared_write = libfabric::prepared_write;
  static void aim(link to, prepared_write& kept, void* context) noexcept {
    kept.aim(endpoint_set::peer(to), own_context<post_mode::unsignalled>(context));
  }
  /// Posts a prepared write, unsignalled; another post follows. Requires: it has bytes, and was aimed at this link.
  template <bool Immediate>
  [[gnu::always_inline]] status post_prepared(link to, const prepared_write& kept) noexcept {
    if (Immediate && !immediate_fits<Shape>(endpoint_set::of(to))) return no_room();
    return posted(fi_writemsg(endpoint_set::of(to), kept.message(), FI_MORE | (Immediate ? FI_REMOTE_CQ_DATA : 0)),
                  "fi_writemsg");
  }
  /// The same; no post follows.
  [[gnu::always_inline]] status post_last_prepared(link to, const prepared_write& kept, bool immediate) noexcept {
    if (immediate && !immediate_fits<Shape>(endpoint_set::of(to))) return no_room();
    return posted(fi_writemsg(endpoint_set::of(to), kept.message(), immediate ? FI_REMOTE_CQ_DATA : 0), "fi_writemsg");
  }

  template <atomic_operation What, atomic_number T>
  requires(Shape::native_atomics) status fetch_atomic(link to, T operand, T expected, std::uint64_t* old,
                                                      void* descriptor, remote_memory at, void* context)
  noexcept {
    old[1] = to_bits(operand);  // Providers read operands after the call.
    const fi_ioc with{&old[1], 1};
    fi_ioc found{old, 1};
    const fi_rma_ioc target{at.address, 1, at.key};
    const fi_msg_atomic message{&with,
                                &descriptor,
                                1,
                                endpoint_set::peer(to),
                                &target,
                                1,
                                native_type(type_of<T>),
                                native_operation(What),
                                context,
                                0};
    if constexpr (What == atomic_operation::compare_swap) {
      old[2] = to_bits(expected);
      const fi_ioc compare{&old[2], 1};
      return posted(fi_compare_atomicmsg(endpoint_set::of(to), &message, &compare, &descriptor, 1, &found, &descriptor,
                                         1, FI_COMPLETION),
                    "fi_compare_atomicmsg");
    } else {
      return posted(fi_fetch_atomicmsg(endpoint_set::of(to), &message, &found, &descriptor, 1, FI_COMPLETION),
                    "fi_fetch_atomicmsg");
    }
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

 protected:
  /// Stores a descriptor of weft's own memory, which stays registered as long as the port posts.
  void lend([[maybe_unused]] void* descriptor) noexcept {
    if constexpr (Shape::local_descriptor)
      if (lent_ == nullptr) lent_ = descriptor;
  }

 private:
  /// Whether the calls without flags do what the mode means.
  static constexpr bool short_call(post_mode mode) noexcept {
    return mode == post_mode::unsignalled || (mode == post_mode::signalled && !Shape::selective_completion);
  }
  static constexpr std::uint64_t flags(post_mode mode) noexcept {
    return mode == post_mode::unsignalled ? 0
                                          : FI_COMPLETION | (mode == post_mode::delivered ? FI_DELIVERY_COMPLETE : 0);
  }
  template <post_mode M>
  static void* own_context(void* context) noexcept {
    return M == post_mode::unsignalled ? completion_queue<Shape>::unsignalled(context) : context;
  }

  /// Empty memory may have no descriptor, and libraries dereference descriptors all the same: the first of an empty
  /// list (verbs of libfabric 1.17), or that of every write (verbs;ofi_rxm). So empty memory gets a descriptor of other
  /// memory.
  [[gnu::always_inline]] void lend_descriptor([[maybe_unused]] local_memory& to) const noexcept {
    if constexpr (Shape::local_descriptor)
      if (to.descriptor == nullptr) [[unlikely]]
        to.descriptor = lent_;
  }

  [[gnu::always_inline]] status write_message(link to, local_memory from, remote_memory at, std::uint64_t immediate,
                                              std::uint64_t flags, void* context) noexcept {
    const iovec piece{from.data, from.size};
    void* descriptor = from.descriptor;
    const fi_rma_iov target{at.address, from.size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, endpoint_set::peer(to), &target, 1, context, immediate};
    return posted(fi_writemsg(endpoint_set::of(to), &message, flags), "fi_writemsg");
  }

  [[gnu::always_inline]] status write_pieces(link to, vector_of_pieces& from, remote_memory at, std::uint64_t immediate,
                                             std::uint64_t flags, void* context) noexcept {
    const fi_rma_iov target{at.address, from.bytes, at.key};
    const fi_msg_rma message{from.pieces, from.descriptors, from.count, endpoint_set::peer(to), &target,
                             1,           context,          immediate};
    return posted(fi_writemsg(endpoint_set::of(to), &message, flags), "fi_writemsg");
  }

  struct none {};
  [[no_unique_address]] std::conditional_t<Shape::local_descriptor, void*, none> lent_{};
};

}  // namespace weft::backends::libfabric
