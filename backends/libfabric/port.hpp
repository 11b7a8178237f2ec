// SPDX-License-Identifier: Apache-2.0
//
// The libfabric backend: implements core/port.hpp with libfabric's calls. The shape selects each call at compile time.
// No provider is named, and no capability is queried.
// Under FI_SELECTIVE_COMPLETION the short calls are unsignalled, and the fi_*msg calls ask for a completion. The
// reverse fails: tcp of libfabric 1.17 adds the endpoint's op_flags to those of fi_*msg, so FI_COMPLETION in op_flags
// would complete everything.
// An injected operation never completes. If it fails later, its `ended` entry carries a null context.
// Hot path: send to poll. Threads: one owner (FI_THREAD_DOMAIN).
#pragma once

#include "../../core/port.hpp"
#include "../oob_exchange/tcp.hpp"
#include "atomic_names.hpp"
#include "completion_queue.hpp"
#include "endpoint.hpp"
#include "leftovers.hpp"
#include "memory.hpp"
#include "pieces.hpp"
#include "prepared_write.hpp"
#include "waiting.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace weft::backends::libfabric {

template <port_shape Shape>
class port {
  static_assert(!(Shape::bind_regions && Shape::facts.endpoint_type == endpoint_type::connected),
                "weft: regions bound to an endpoint need one endpoint; a connected fabric has one per link");
  using endpoint_set = endpoints<Shape>;
  static constexpr bool offers(post_mode mode) noexcept {
    return mode != post_mode::delivered || Shape::facts.delivery_complete;
  }

 public:
  using link = typename endpoint_set::link;
  using oob_exchange = backends::oob_exchange::tcp;
  static constexpr bool link_has_receives = endpoint_set::link_has_receives;

  static result<std::unique_ptr<port>> open(const port_options& options) {
    std::unique_ptr<port> made(new port);
    if (auto r = open_domain<Shape>(options)) made->domain_ = std::move(r).value();
    else return std::move(r).error();
    if (auto r = completion_queue<Shape>::open(made->domain_, options)) made->queue_ = std::move(r).value();
    else return std::move(r).error();
    if constexpr (Shape::remote_counter)
      if (auto r = made->open_counter(); !r) return std::move(r).error();
    if (auto r = endpoint_set::open(made->domain_, made->queue_, made->counter_.get(), options))
      made->endpoints_.emplace(std::move(r).value());
    else return std::move(r).error();
    if (auto r =
            waiting<Shape>::open(made->domain_.fabric.get(), made->queue_.get(), made->endpoints_->events(), options))
      made->waiting_ = std::move(r).value();
    else return std::move(r).error();
    made->memory_ = memory<Shape>(made->domain_.object.get());
    made->memory_.bind_to(made->endpoints_->region_endpoint(), made->counter_.get());
    made->note_limits();
    return made;
  }

  /// A peer's process on this host ended without closing: removes its shared memory.
  void process_ended(std::uint64_t process) noexcept requires(Shape::facts.same_host) {
    (void)sweep_leftovers_of(static_cast<pid_t>(process));
  }

  port(const port&) = delete;
  port& operator=(const port&) = delete;
  ~port() {
    if (endpoints_) drain_queue();
    if constexpr (Shape::bind_regions) memory_.close_all();  // A bound endpoint cannot close before its regions.
  }

  const port_limits& limits() const noexcept { return limits_; }
  address_bytes address() const { return endpoints_->address(); }
  std::string printable(const address_bytes& address) const {
    return printable_address(address, request<Shape>::socket_addresses);
  }
  result<address_bytes> resolve(std::string_view node, std::string_view service) {
    return resolve_address<Shape>(*domain_.info, node, service);
  }
  result<link> dial(const address_bytes& to, std::uint32_t tag) { return endpoints_->dial(to, tag); }
  /// Until poll() returns 0 once, it may report entries of the link that the library had queued; their contexts must
  /// live until then. On addressed fabrics operations in flight may end even later.
  void hang_up(link& gone) { endpoints_->hang_up(gone); }
  /// At `arrived` the link is enabled but not accepted: the handler posts receives on it, then returns the tag.
  template <class On>
  void poll_links(On&& on) {
    endpoints_->poll_links(on);
  }
  std::uint32_t peer_tag(link of) const requires(Shape::facts.endpoint_type == endpoint_type::connected) {
    return endpoints_->peer_tag(of);
  }

  result<registration> register_memory(bytes where, rights granted, std::uint64_t wanted_key) {
    return memory_.register_memory(where, granted, wanted_key);
  }
  result<registration> register_device(const device_memory& where, rights granted, std::uint64_t wanted_key) {
    return memory_.register_device(where, granted, wanted_key);
  }
  result<registration> register_local(bytes where) {
    auto made = memory_.register_local(where);
    if (made && lent_ == nullptr) lent_ = made->descriptor;
    return made;
  }
  void deregister(registration& gone) { memory_.deregister(gone); }

  [[gnu::always_inline]] status post_receive(link from, local_memory into, void* context) noexcept {
    if constexpr (Shape::multi_receive) {
      const iovec piece{into.data, into.size};
      const fi_msg buffer{&piece, &into.descriptor, 1, FI_ADDR_UNSPEC, context, 0};
      return posted(fi_recvmsg(endpoints_->receives_of(from), &buffer, FI_MULTI_RECV), "fi_recvmsg");
    } else {
      return post_one(from, into, context);
    }
  }
  status post_single_receive(link from, local_memory into, void* context) noexcept requires(Shape::multi_receive) {
    return post_one(from, into, context);
  }

  /// A read of an event queue calls epoll_wait.
  static constexpr bool link_polls_are_system_calls = Shape::facts.endpoint_type == endpoint_type::connected;

  /// Only fi_*msg calls take FI_MORE.
  static constexpr bool hints_more = true;

  template <post_mode M, bool More = false>
  requires(offers(M)) [[gnu::always_inline]] status
      send(link to, local_memory from, [[maybe_unused]] std::uint32_t immediate, void* context) noexcept {
    fid_ep* ep = endpoints_->of(to);
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

  [[gnu::always_inline]] status inject(link to, const_bytes from, [[maybe_unused]] std::uint32_t immediate) noexcept {
    if constexpr (Shape::framed)
      return posted(fi_inject(endpoints_->of(to), from.data(), from.size(), endpoint_set::peer(to)), "fi_inject");
    else
      return posted(fi_injectdata(endpoints_->of(to), from.data(), from.size(), immediate, endpoint_set::peer(to)),
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
    return posted(fi_sendmsg(endpoints_->of(to), &message, flags(M)), "fi_sendmsg");
  }

  template <post_mode M, bool More = false>
  requires(offers(M)) [[gnu::always_inline]] status
      write(link to, local_memory from, remote_memory at, void* context) noexcept {
    fid_ep* ep = endpoints_->of(to);
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
    fid_ep* ep = endpoints_->of(to);
    lend_descriptor(from);
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
    return posted(fi_inject_writedata(endpoints_->of(to), from.data(), from.size(), immediate, endpoint_set::peer(to),
                                      at.address, at.key),
                  "fi_inject_writedata");
  }

  [[gnu::always_inline]] status inject_write(link to, const_bytes from, remote_memory at) noexcept {
    return posted(
        fi_inject_write(endpoints_->of(to), from.data(), from.size(), endpoint_set::peer(to), at.address, at.key),
        "fi_inject_write");
  }

  [[gnu::always_inline]] status read(link from, local_memory into, remote_memory at, void* context) noexcept {
    const iovec piece{into.data, into.size};
    void* descriptor = into.descriptor;
    const fi_rma_iov source{at.address, into.size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, endpoint_set::peer(from), &source, 1, context, 0};
    return posted(fi_readmsg(endpoints_->of(from), &message, FI_COMPLETION), "fi_readmsg");
  }

  using piece_vector = vector_of_pieces;

  template <post_mode M>
  requires(offers(M)) [[gnu::always_inline]] status
      send_gather(link to, vector_of_pieces& from, [[maybe_unused]] std::uint32_t immediate, void* context) noexcept {
    const fi_msg message{from.pieces,
                         from.descriptors,
                         from.count,
                         endpoint_set::peer(to),
                         own_context<M>(context),
                         Shape::framed ? 0 : immediate};
    return posted(fi_sendmsg(endpoints_->of(to), &message, flags(M) | (Shape::framed ? 0 : FI_REMOTE_CQ_DATA)),
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
    return write_pieces(to, from, at, immediate, flags(M) | FI_REMOTE_CQ_DATA, own_context<M>(context));
  }
  [[gnu::always_inline]] status read_scatter(link from, vector_of_pieces& into, remote_memory at,
                                             void* context) noexcept {
    fid_ep* ep = endpoints_->of(from);
    const fi_rma_iov source{at.address, into.bytes, at.key};
    const fi_msg_rma message{into.pieces, into.descriptors, into.count, endpoint_set::peer(from), &source,
                             1,           context,          0};
    if (const ssize_t refused = fi_readmsg(ep, &message, FI_COMPLETION); refused != 0) [[unlikely]]
      return not_posted(refused, "fi_readmsg");
    return {};
  }
  // The same for a list that was not converted yet.
  template <post_mode M>
  requires(offers(M)) status send_gather(link to, gather_list from, std::uint32_t immediate, void* context)
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
    return posted(fi_writemsg(endpoints_->of(to), kept.message(), FI_MORE | (Immediate ? FI_REMOTE_CQ_DATA : 0)),
                  "fi_writemsg");
  }
  /// The same; no post follows.
  [[gnu::always_inline]] status post_last_prepared(link to, const prepared_write& kept, bool immediate) noexcept {
    return posted(fi_writemsg(endpoints_->of(to), kept.message(), immediate ? FI_REMOTE_CQ_DATA : 0), "fi_writemsg");
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
      return posted(fi_compare_atomicmsg(endpoints_->of(to), &message, &compare, &descriptor, 1, &found, &descriptor, 1,
                                         FI_COMPLETION),
                    "fi_compare_atomicmsg");
    } else {
      return posted(fi_fetch_atomicmsg(endpoints_->of(to), &message, &found, &descriptor, 1, FI_COMPLETION),
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

  using entries = typename completion_queue<Shape>::entries;
  using reader = typename completion_queue<Shape>::reader;
  reader queue_reader() const noexcept { return queue_.own_reader(); }
  template <class On>
  [[gnu::always_inline]] int report_entries(const entries& all, int read, On&& on) {
    if constexpr (!waiting<Shape>::on_descriptor) waiting_.came();
    return queue_.report_all(all, read, on);
  }
  template <class On>
  int report_error(On&& on) {
    return queue_.poll_error(on);
  }
  template <class On>
  int poll(On&& on) {
    const int reported = queue_.poll(on);
    if constexpr (!waiting<Shape>::on_descriptor)
      if (reported > 0) waiting_.came();
    return reported;
  }

  std::uint64_t counted_writes() noexcept requires(Shape::remote_counter) { return fi_cntr_read(counter_.get()); }

  instant now() const noexcept { return std::chrono::steady_clock::now(); }
  status wait(instant until) noexcept { return waiting_.wait(until); }
  int descriptor() const noexcept { return waiting_.descriptor(); }
  /// The texts of the library and the provider for the last failed operation.
  std::string last_error_text() const { return queue_.last_error_text(); }

 private:
  port() = default;

  [[gnu::always_inline]] status post_one(link from, local_memory into, void* context) noexcept {
    return posted(
        fi_recv(endpoints_->receives_of(from), into.data, into.size, into.descriptor, FI_ADDR_UNSPEC, context),
        "fi_recv");
  }

  /// Reads the queues before endpoints close. Reason: rxm (libfabric 1.17) reposts its own receives while it reads. It
  /// does so on a closed link too, and crashes where messages of that link are unread. The pause lets closing peers
  /// send their goodbyes.
  void drain_queue() {
    const auto read_all = [this] {
      for (int polls = 0; polls < 64; ++polls)
        if (queue_.poll([](const completion_entry&) {}) == 0) return polls > 0;
      return true;
    };
    const instant start = now();
    for (instant last = start; now() - last < quiet_before_close && now() - start < 2 * quiet_before_close;)
      if (read_all()) last = now();
    (void)read_all();
  }
  static constexpr duration quiet_before_close =
      Shape::facts.connects_lazily ? std::chrono::milliseconds(20) : duration(0);

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
    return posted(fi_writemsg(endpoints_->of(to), &message, flags), "fi_writemsg");
  }

  [[gnu::always_inline]] status write_pieces(link to, vector_of_pieces& from, remote_memory at, std::uint64_t immediate,
                                             std::uint64_t flags, void* context) noexcept {
    const fi_rma_iov target{at.address, from.bytes, at.key};
    const fi_msg_rma message{from.pieces, from.descriptors, from.count, endpoint_set::peer(to), &target,
                             1,           context,          immediate};
    return posted(fi_writemsg(endpoints_->of(to), &message, flags), "fi_writemsg");
  }

  result<void> open_counter() {
    fi_cntr_attr attributes{};
    attributes.events = FI_CNTR_EVENTS_COMP;
    attributes.wait_obj = FI_WAIT_NONE;
    if (const int r = fi_cntr_open(domain_.object.get(), &attributes, counter_.slot(), nullptr); r != 0)
      return refused(r, "fi_cntr_open", "fabric " + std::string(Shape::name) + ": the counter of landed writes");
    return {};
  }

  void note_limits() {
    const fi_info& info = *domain_.info;
    limits_.inject_bytes = info.tx_attr->inject_size;
    limits_.queue_depth = std::min(info.tx_attr->size, info.rx_attr->size);
    // The library reports one number, the larger one where messages and writes differ (efa-direct: 8 KiB and 1 GiB).
    limits_.largest_message = std::min<std::uint64_t>(info.ep_attr->max_msg_size, Shape::facts.largest_message);
    limits_.largest_write = std::min<std::uint64_t>(info.ep_attr->max_msg_size, Shape::facts.largest_write);
    limits_.library = "libfabric " + printed(running_with());
    limits_.differences = domain_.differences;
  }

  // Destroyed from last to first, the order that libfabric wants.
  domain domain_;
  completion_queue<Shape> queue_;
  owned<fid_cntr> counter_;
  memory<Shape> memory_;
  std::optional<endpoint_set> endpoints_;
  waiting<Shape> waiting_;
  void* lent_ = nullptr;  ///< A descriptor of weft's own memory, which stays registered as long as the port posts.
  port_limits limits_;
};

}  // namespace weft::backends::libfabric
