// SPDX-License-Identifier: Apache-2.0
//
// The posting calls of the verbs port: each builds one work request (ibv_post_send(3)) and gives it to posting.hpp.
// Also batches: lists that are built in the posted array (request_list.hpp). Bytes up to the device's inline limit
// travel inline. Sends and immediates are solicited: they wake a sleeping peer. Hot path: all of it. Threads: one
// owner.
#pragma once

#include "../../core/port.hpp"
#include "posting.hpp"
#include "request.hpp"

#include <arpa/inet.h>

namespace weft::backends::verbs {

/// A connection. Null: no link.
struct link_handle {
  connection* held = nullptr;
  friend bool operator==(const link_handle&, const link_handle&) = default;
};

/// `Port`: the derived port, which has `posts_`.
template <class Port, class Shape>
class post_calls {
  using link = link_handle;
  using posting_type = posting<Shape::facts.extended_posting>;
  static constexpr bool offers(post_mode mode) noexcept { return mode != post_mode::delivered; }
  static constexpr bool confirms(post_mode mode) noexcept {
    return mode == post_mode::delivered && Shape::facts.delivery_complete;
  }

 public:
  template <post_mode M>
  requires(offers(M)) [[gnu::always_inline]] status
      send(link to, local_memory from, [[maybe_unused]] std::uint32_t immediate, void* context) noexcept {
    request<1> r(Shape::framed ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, {from});
    if constexpr (!Shape::framed) r.work.imm_data = htonl(immediate);
    return post(to, r, from.size, context, {.reported = M == post_mode::signalled, .consumes = true},
                "ibv_post_send(send)");
  }

  [[gnu::always_inline]] status inject(link to, const_bytes from, [[maybe_unused]] std::uint32_t immediate) noexcept {
    if (from.size() > posts().inline_bytes()) [[unlikely]]
      return error(errc::invalid, "inject");
    request<1> r(Shape::framed ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, {borrowed(from)});
    if constexpr (!Shape::framed) r.work.imm_data = htonl(immediate);
    return post(to, r, from.size(), nullptr, {.consumes = true}, "ibv_post_send(send)");
  }

  template <post_mode M>
  requires(Shape::framed&& offers(M)) status send_framed(link to, local_memory header, local_memory from, void* context)
  noexcept {
    request<2> r(IBV_WR_SEND, {header, from});
    return post(to, r, header.size + from.size, context, {.reported = M == post_mode::signalled, .consumes = true},
                "ibv_post_send(send)");
  }

  template <post_mode M>
  requires(offers(M) || confirms(M)) [[gnu::always_inline]] status
      write(link to, local_memory from, remote_memory at, void* context) noexcept {
    request<1> r(IBV_WR_RDMA_WRITE, {from});
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    if constexpr (confirms(M))
      return posts().post_confirmed(*to.held, r.work, from.size, context, "ibv_post_send(write)");
    else return post(to, r, from.size, context, {.reported = M == post_mode::signalled}, "ibv_post_send(write)");
  }

  template <post_mode M>
  requires(offers(M)) [[gnu::always_inline]] status
      write_immediate(link to, local_memory from, remote_memory at, std::uint64_t immediate, void* context) noexcept {
    request<1> r(IBV_WR_RDMA_WRITE_WITH_IMM, {from});
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    r.work.imm_data = htonl(static_cast<std::uint32_t>(immediate));
    return post(to, r, from.size, context, {.reported = M == post_mode::signalled, .consumes = true},
                "ibv_post_send(write with immediate)");
  }

  [[gnu::always_inline]] status inject_write_immediate(link to, const_bytes from, remote_memory at,
                                                       std::uint64_t immediate) noexcept {
    if (from.size() > posts().inline_bytes()) [[unlikely]]
      return error(errc::invalid, "inject");
    request<1> r(IBV_WR_RDMA_WRITE_WITH_IMM, {borrowed(from)});
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    r.work.imm_data = htonl(static_cast<std::uint32_t>(immediate));
    return post(to, r, from.size(), nullptr, {.consumes = true}, "ibv_post_send(write with immediate)");
  }

  [[gnu::always_inline]] status read(link from, local_memory into, remote_memory at, void* context) noexcept {
    request<1> r(IBV_WR_RDMA_READ, {into});
    // Also for zero bytes: soft iWARP (Linux 6.1) reads the first piece without checking their number, and would use an
    // old one.
    r.work.num_sge = 1;
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    return post(from, r, comes_back, context, {.reported = true}, "ibv_post_send(read)");
  }

  template <post_mode M>
  requires(offers(M)) status
      send_gather(link to, gather_list from, [[maybe_unused]] std::uint32_t immediate, void* context)
  noexcept {
    gathered_request r(Shape::framed ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, from);
    if constexpr (!Shape::framed) r.work.imm_data = htonl(immediate);
    return posts().post(*to.held, r.work, r.outgoing, context,
                        {.reported = M == post_mode::signalled, .consumes = true}, "ibv_post_send(send)");
  }
  template <post_mode M>
  requires(offers(M) || confirms(M)) status write_gather(link to, gather_list from, remote_memory at, void* context)
  noexcept {
    gathered_request r(IBV_WR_RDMA_WRITE, from);
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    if constexpr (confirms(M))
      return posts().post_confirmed(*to.held, r.work, r.outgoing, context, "ibv_post_send(write)");
    else
      return posts().post(*to.held, r.work, r.outgoing, context, {.reported = M == post_mode::signalled},
                          "ibv_post_send(write)");
  }
  template <post_mode M>
  requires(offers(M)) status
      write_gather_immediate(link to, gather_list from, remote_memory at, std::uint64_t immediate, void* context)
  noexcept {
    gathered_request r(IBV_WR_RDMA_WRITE_WITH_IMM, from);
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    r.work.imm_data = htonl(static_cast<std::uint32_t>(immediate));
    return posts().post(*to.held, r.work, r.outgoing, context,
                        {.reported = M == post_mode::signalled, .consumes = true},
                        "ibv_post_send(write with immediate)");
  }
  status read_scatter(link from, gather_list into, remote_memory at, void* context) noexcept {
    gathered_request r(IBV_WR_RDMA_READ, into);
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    return posts().post(*from.held, r.work, comes_back, context, {.reported = true}, "ibv_post_send(read)");
  }

  /// Cards have fetch-add and compare-swap of 64 bits.
  template <atomic_operation What, atomic_number T>
  requires(Shape::native_atomics&& atomic_integer<T> && sizeof(T) == 8 &&
           (What == atomic_operation::add || What == atomic_operation::compare_swap)) status
      fetch_atomic(link to, T operand, T expected, std::uint64_t* old, void* descriptor, remote_memory at,
                   void* context)
  noexcept {
    constexpr bool adds = What == atomic_operation::add;
    request<1> r(adds ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP, {whole_word(old, descriptor)});
    r.work.wr.atomic = {at.address, to_bits(adds ? operand : expected), adds ? 0 : to_bits(operand),
                        static_cast<std::uint32_t>(at.key)};
    return post(to, r, comes_back, context, {.reported = true},
                adds ? "ibv_post_send(fetch and add)" : "ibv_post_send(compare and swap)");
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

  // Batches that are built in the posted list itself (core/port.hpp). A list belongs to one link.
  using request_list = verbs::request_list;
  status open_list(link to, request_list& l) noexcept { return posts().open_list(*to.held, l); }
  status post_list(request_list& l, const void* mine = nullptr) noexcept { return posts().post_list(l, mine); }
  std::uint32_t listed(const request_list& l) const noexcept { return posts().listed(l); }
  void move_list(const request_list& from, request_list& to) noexcept { posts().move_list(from, to); }
  bool signal_last(const request_list& l, void* context) noexcept { return posts().signal_last(l, context); }
  status post_marker(link to, void* context) noexcept { return posts().post_marker(*to.held, context); }

  [[gnu::always_inline]] status list_send(request_list& l, local_memory from, std::uint32_t immediate,
                                          void* context) noexcept requires(!Shape::framed) {
    if (!posts().has_receive(l)) [[unlikely]]
      return again(waits_for::receive_slot, "ibv_post_send(send)");
    l.add<IBV_WR_SEND_WITH_IMM>(from, context).imm_data = htonl(immediate);
    l.to->credit.spend();
    return {};
  }
  [[gnu::always_inline]] void list_write(request_list& l, local_memory from, remote_memory at, void* context) noexcept {
    l.add<IBV_WR_RDMA_WRITE>(from, context).wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
  }
  [[gnu::always_inline]] status list_write_immediate(request_list& l, local_memory from, remote_memory at,
                                                     std::uint64_t immediate, void* context) noexcept {
    if (!posts().has_receive(l)) [[unlikely]]
      return again(waits_for::receive_slot, "ibv_post_send(write with immediate)");
    ibv_send_wr& work = l.add<IBV_WR_RDMA_WRITE_WITH_IMM>(from, context);
    work.imm_data = htonl(static_cast<std::uint32_t>(immediate));
    work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    l.to->credit.spend();
    return {};
  }
  [[gnu::always_inline]] void list_fetch_add(request_list& l, std::uint64_t operand, std::uint64_t* old,
                                             void* descriptor, remote_memory at, void* context) noexcept
      requires(Shape::native_atomics) {
    auto& atomic = l.add<IBV_WR_ATOMIC_FETCH_AND_ADD, true>(whole_word(old, descriptor), context).wr.atomic;
    atomic.remote_addr = at.address;
    atomic.compare_add = operand;  // Without swap: only compare-swaps read it (ibv_post_send(3)).
    atomic.rkey = static_cast<std::uint32_t>(at.key);
  }

 private:
  template <std::size_t Pieces>
  [[gnu::always_inline]] status post(link to, request<Pieces>& r, std::size_t outgoing, void* context, post_terms terms,
                                     const char* call) noexcept {
    return posts().post(*to.held, r.work, outgoing, context, terms, call);
  }
  [[gnu::always_inline]] posting_type& posts() noexcept { return static_cast<Port*>(this)->posts_; }
  [[gnu::always_inline]] const posting_type& posts() const noexcept { return static_cast<const Port*>(this)->posts_; }
};

}  // namespace weft::backends::verbs
