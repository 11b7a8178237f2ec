// SPDX-License-Identifier: Apache-2.0
//
// The port over rdma-core alone: core/port.hpp with the calls of libibverbs and librdmacm, over reliable connections.
// The shape selects each call at compile time.
// Bytes up to the device's inline limit travel inline. Sends and immediates are solicited: they wake a sleeping peer.
// Hot path: post_receive to poll. Threads: one owner.
#pragma once

#include "../../core/port.hpp"
#include "../oob_exchange/tcp.hpp"
#include "completions.hpp"
#include "connections.hpp"
#include "memory.hpp"
#include "request.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace weft::backends::verbs {

/// rdma-core's headers do not name their release: rows over verbs have no version ranges.
inline constexpr library_version built_with{};

template <class Shape>
class port {
  static_assert(Shape::virtual_address && Shape::provider_key && Shape::local_descriptor,
                "weft: with rdma-core regions are addressed by the target's pointers, cards make the keys, and local "
                "buffers are registered");
  static_assert(!Shape::bind_regions && !Shape::remote_counter && Shape::selective_completion,
                "weft: rdma-core binds no regions, counts no landed writes, and signals what is asked for");
  static_assert(!Shape::two_queues && Shape::threads == thread_level::one_owner,
                "weft: this backend reads one queue, and asks rdma-core for no locks");
  static_assert(!Shape::multi_receive && !Shape::watched_receives,
                "weft: a receive of rdma-core takes one message, and its end is always reported");
  static_assert(!Shape::shared_receives || Shape::write_immediate,
                "weft: a pool of receives needs a wire that repeats what finds it empty; iWARP's does not");
  static_assert(Shape::write_immediate == Shape::receive_reserve, "weft: a write with an immediate consumes a receive");
  static_assert(Shape::facts.endpoint_type == endpoint_type::connected,
                "weft: this backend knows reliable connections only");
  static constexpr bool offers(post_mode mode) noexcept { return mode != post_mode::delivered; }
  static constexpr bool confirms(post_mode mode) noexcept {
    return mode == post_mode::delivered && Shape::facts.delivery_complete;
  }

 public:
  /// A connection. Null: no link.
  struct link {
    connection* held = nullptr;
    friend bool operator==(const link&, const link&) = default;
  };
  using oob_exchange = backends::oob_exchange::tcp;
  static constexpr bool link_has_receives = !Shape::shared_receives;

  static result<std::unique_ptr<port>> open(const port_options& options) {
    auto on = open_device<Shape>(options);
    if (!on) return std::move(on).error();
    auto queue = completion_queue::open(*on, options.sleeps, "fabric " + std::string(Shape::name));
    if (!queue) return std::move(queue).error();
    std::unique_ptr<port> made(new port(std::move(on).value(), std::move(queue).value(), options));
    if (auto opened = made->links_.open(options); !opened) return std::move(opened).error();
    return made;
  }
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  ~port() = default;

  const port_limits& limits() const noexcept { return limits_; }
  address_bytes address() const { return links_.address(); }
  std::string printable(const address_bytes& address) const {
    const auto read = socket_address::parse(address);
    return read ? read->printable() : "no socket address";
  }
  result<address_bytes> resolve(std::string_view node, std::string_view service) {
    auto found = resolve_address(node, service, "fabric " + std::string(Shape::name));
    if (!found) return std::move(found).error();
    return found->bytes_of();
  }
  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    auto made = links_.dial(to, tag);
    if (!made) return std::move(made).error();
    return link{*made};
  }
  /// Until poll() returns 0 once, completions of the link may be reported; their contexts must live until then.
  void hang_up(link& gone) { links_.hang_up(std::exchange(gone.held, nullptr)); }
  /// The tag that the peer sent with its acceptance (core/port.hpp).
  std::uint32_t peer_tag(link of) const noexcept requires(Shape::shared_receives) {
    return of.held->arrived ? no_tag : of.held->theirs.tag;
  }
  template <class On>
  void poll_links(On&& on) {
    const auto reported = [&on](link_change change, std::uint32_t tag, connection* of) {
      return on(change, tag, link{of});
    };
    links_.poll_links(reported);
  }

  result<registration> register_memory(bytes where, rights granted, std::uint64_t) {
    return memory_.register_memory(where, granted);
  }
  result<registration> register_device(const device_memory& where, rights granted, std::uint64_t) {
    return memory_.register_device(where, granted);
  }
  result<registration> register_local(bytes where) { return memory_.register_memory(where, rights::none); }
  void deregister(registration& gone) { memory_.deregister(gone); }

  [[gnu::always_inline]] status post_receive([[maybe_unused]] link from, local_memory into, void* context) noexcept {
    if constexpr (Shape::shared_receives) return links_.pool().post(into, context);
    else return post_own(*from.held, into, context, [](void*) {});
  }
  /// The same for callers that handle a refusal: calls `refused(context)` with the stored context, so no register keeps
  /// it across the library's call.
  template <class Refused>
  [[gnu::always_inline]] void post_receive([[maybe_unused]] link from, local_memory into, void* context,
                                           Refused&& refused) noexcept {
    if constexpr (Shape::shared_receives) {
      if (!links_.pool().post(into, context)) [[unlikely]]
        refused(context);
    } else {
      (void)post_own(*from.held, into, context, refused);
    }
  }

  template <post_mode M>
  requires(offers(M)) [[gnu::always_inline]] status
      send(link to, local_memory from, [[maybe_unused]] std::uint32_t immediate, void* context) noexcept {
    request<1> r(Shape::framed ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, {from});
    if constexpr (!Shape::framed) r.work.imm_data = htonl(immediate);
    return post(to, r, from.size, context, {.reported = M == post_mode::signalled, .consumes = true},
                "ibv_post_send(send)");
  }

  [[gnu::always_inline]] status inject(link to, const_bytes from, [[maybe_unused]] std::uint32_t immediate) noexcept {
    if (from.size() > posts_.inline_bytes()) [[unlikely]]
      return error(errc::invalid, "inject");
    request<1> r(Shape::framed ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, {borrowed(from)});
    if constexpr (!Shape::framed) r.work.imm_data = htonl(immediate);
    return post(to, r, from.size(), nullptr, {.consumes = true, .copied = true}, "ibv_post_send(send)");
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
      return posts_.post_confirmed(*to.held, r.work, from.size, context, "ibv_post_send(write)");
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
    if (from.size() > posts_.inline_bytes()) [[unlikely]]
      return error(errc::invalid, "inject");
    request<1> r(IBV_WR_RDMA_WRITE_WITH_IMM, {borrowed(from)});
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    r.work.imm_data = htonl(static_cast<std::uint32_t>(immediate));
    return post(to, r, from.size(), nullptr, {.consumes = true, .copied = true}, "ibv_post_send(write with immediate)");
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
    return posts_.post(*to.held, r.work, r.outgoing, context, {.reported = M == post_mode::signalled, .consumes = true},
                       "ibv_post_send(send)");
  }
  template <post_mode M>
  requires(offers(M) || confirms(M)) status write_gather(link to, gather_list from, remote_memory at, void* context)
  noexcept {
    gathered_request r(IBV_WR_RDMA_WRITE, from);
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    if constexpr (confirms(M))
      return posts_.post_confirmed(*to.held, r.work, r.outgoing, context, "ibv_post_send(write)");
    else
      return posts_.post(*to.held, r.work, r.outgoing, context, {.reported = M == post_mode::signalled},
                         "ibv_post_send(write)");
  }
  template <post_mode M>
  requires(offers(M)) status
      write_gather_immediate(link to, gather_list from, remote_memory at, std::uint64_t immediate, void* context)
  noexcept {
    gathered_request r(IBV_WR_RDMA_WRITE_WITH_IMM, from);
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    r.work.imm_data = htonl(static_cast<std::uint32_t>(immediate));
    return posts_.post(*to.held, r.work, r.outgoing, context, {.reported = M == post_mode::signalled, .consumes = true},
                       "ibv_post_send(write with immediate)");
  }
  status read_scatter(link from, gather_list into, remote_memory at, void* context) noexcept {
    gathered_request r(IBV_WR_RDMA_READ, into);
    r.work.wr.rdma = {at.address, static_cast<std::uint32_t>(at.key)};
    return posts_.post(*from.held, r.work, comes_back, context, {.reported = true}, "ibv_post_send(read)");
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

  /// Posts to one link until end_batch() go to the card together. Close each batch before you wait.
  void begin_batch() noexcept { posts_.begin_batch(); }
  void end_batch() noexcept { posts_.end_batch(); }

  // Batches that are built in the posted list itself (core/port.hpp). A list belongs to one link.
  using request_list = verbs::request_list;
  status open_list(link to, request_list& l) noexcept { return posts_.open_list(*to.held, l); }
  status post_list(request_list& l, const void* mine = nullptr) noexcept { return posts_.post_list(l, mine); }
  std::uint32_t listed(const request_list& l) const noexcept { return posts_.listed(l); }
  void move_list(const request_list& from, request_list& to) noexcept { posts_.move_list(from, to); }
  bool signal_last(const request_list& l, void* context) noexcept { return posts_.signal_last(l, context); }
  status post_marker(link to, void* context) noexcept { return posts_.post_marker(*to.held, context); }

  [[gnu::always_inline]] status list_send(request_list& l, local_memory from, std::uint32_t immediate,
                                          void* context) noexcept requires(!Shape::framed) {
    if (!posts_.has_receive(l)) [[unlikely]]
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
    if (!posts_.has_receive(l)) [[unlikely]]
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

  /// Returns the number of entries taken from the queue; unsignalled ends are among them.
  template <class On>
  [[gnu::always_inline]] int poll(On&& on) {
    return completions_.poll(on);
  }

  /// A quick poll (compose/engine/poll_budget.hpp) only reads the queue. Refused members of a batch, links that ended
  /// or were hung up, and entries stored by a sleep wait for a full poll. The next poll after a sleep is a full one.
  using entries = completion_queue::entries;
  using reader = completion_queue::reader;
  static constexpr bool reads_quickly = true;
  reader queue_reader() const noexcept { return queue_.own_reader(); }
  template <class On>
  [[gnu::always_inline]] int report_entries(const entries& all, int read, On&& on) {
    completions_.report_all(all, read, on);
    return read;
  }
  /// The link that brought the message of an entry.
  static link link_of(const completion_entry& received) noexcept requires(link_has_receives) {
    return {static_cast<connection*>(received.link)};
  }
  template <class On>
  int report_error(On&& on) {
    return completions_.poll(on);
  }

  instant now() const noexcept { return std::chrono::steady_clock::now(); }
  status wait(instant until) noexcept {
    if (links_.has_news() || posts_.has_refused()) return {};
    // Credit arrives in memory and wakes no thread: a caller that waits for it polls again soon.
    const duration longest = posts_.was_starved() ? duration(std::chrono::milliseconds(1)) : duration::max();
    // Soft iWARP has no solicited receives: every arrival wakes its owner.
    return queue_.wait(until, links_.events(), !on_.internet_wire && !links_.has_unreported_end(), longest);
  }
  int descriptor() const noexcept { return queue_.descriptor(); }
  /// The vendor's text for the last failed operation.
  std::string last_error_text() const { return completions_.last_error_text(); }

 private:
  port(device on, completion_queue queue, const port_options& options)
      : on_(std::move(on)),
        queue_(std::move(queue)),
        memory_(on_),
        posts_(on_.inline_bytes),
        links_(on_, queue_, posts_, options),
        completions_(queue_, posts_, links_) {
    limits_.inject_bytes = on_.inline_bytes;
    limits_.queue_depth = on_.send_depth;
    limits_.largest_message = on_.largest_message;
    limits_.largest_write = std::min(on_.largest_message, Shape::facts.largest_write);
    limits_.differences = on_.differences;
    limits_.library = "rdma-core, device " + on_.name;
  }

  template <class Refused>
  [[gnu::always_inline]] static status post_own(connection& c, local_memory into, void* context,
                                                Refused&& refused) noexcept {
    auto* const place = c.receives.take(context);
    if (place == nullptr) [[unlikely]] {
      refused(context);
      return again(waits_for::queue, "ibv_post_recv");
    }
    ibv_sge piece{address_of(into.data), static_cast<std::uint32_t>(into.size), local_key(into.descriptor)};
    ibv_recv_wr work{reinterpret_cast<std::uintptr_t>(place), nullptr, &piece, 1};
    ibv_recv_wr* stuck = nullptr;
    if (const int r = ibv_post_recv(c.pair, &work, &stuck); r != 0) [[unlikely]] {
      place->owner->receives.end(*place);
      refused(place->context);
      return not_posted(r, "ibv_post_recv");
    }
    connection& of = *place->owner;  // Not `c`: it would be kept across the call.
    of.offer.posted();
    if (of.offer.due()) [[unlikely]]
      completions<Shape>::offer(of);
    return {};
  }

  template <std::size_t Pieces>
  [[gnu::always_inline]] status post(link to, request<Pieces>& r, std::size_t outgoing, void* context, post_terms terms,
                                     const char* call) noexcept {
    return posts_.post(*to.held, r.work, outgoing, context, terms, call);
  }

  // Destroyed from last to first, the order that the library wants.
  device on_;
  completion_queue queue_;
  memory<Shape> memory_;
  posting<Shape::facts.extended_posting> posts_;
  connections<Shape> links_;
  completions<Shape> completions_;
  port_limits limits_;
};

}  // namespace weft::backends::verbs
