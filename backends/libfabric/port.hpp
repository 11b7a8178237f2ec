// SPDX-License-Identifier: Apache-2.0
//
// The libfabric backend: implements core/port.hpp with libfabric's calls. The shape selects each call at compile time.
// No provider is named, and no capability is queried.
// post_calls.hpp has the posting calls.
// Hot path: send to poll. Threads: one owner (FI_THREAD_DOMAIN).
#pragma once

#include "../../core/port.hpp"
#include "../oob_exchange/declared.hpp"
#include "completion_queue.hpp"
#include "endpoint.hpp"
#include "leftovers.hpp"
#include "memory.hpp"
#include "post_calls.hpp"
#include "waiting.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace weft::backends::libfabric {

template <port_shape Shape>
class port : public post_calls<Shape> {
  static_assert(
      !(Shape::bind_regions && Shape::facts.endpoint_type == endpoint_type::connected),
      "weft: regions bound to an endpoint need one endpoint; a connected fabric has one per link [WEFT-C039]");
  using endpoint_set = endpoints<Shape>;

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
    made->asked_ = options;
    return made;
  }

  /// A peer's process on this host ended without closing: removes its shared memory.
  void process_ended(std::uint64_t process) noexcept requires(Shape::facts.same_host) {
    (void)sweep_leftovers_of(static_cast<pid_t>(process));
  }

  /// The process in a peer's address, which the library itself uses. 0: the address names none.
  static std::uint64_t process_at(const_bytes address) noexcept requires(Shape::facts.same_host) {
    return static_cast<std::uint64_t>(
        owner_of_address({reinterpret_cast<const char*>(address.data()), address.size()}));
  }

  port(const port&) = delete;
  port& operator=(const port&) = delete;
  ~port() {
    if (endpoints_) drain_queue();
    if constexpr (Shape::bind_regions) memory_.close_all();  // A bound endpoint cannot close before its regions.
  }

  const port_limits& limits() const noexcept { return limits_; }
  std::vector<device_verdict> devices() const {
    return domain_.devices.empty() ? devices_in_order<Shape>(asked_) : domain_.devices;
  }
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
  std::uint64_t host_of(link of) const requires(Shape::facts.endpoint_type == endpoint_type::connected) {
    return endpoints_->host_of(of);
  }
  static std::uint64_t host_of(const address_bytes& address) requires(Shape::facts.endpoint_type !=
                                                                      endpoint_type::connected) {
    return request<Shape>::socket_addresses ? host_number(address) : 0;
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
    if (made) this->lend(made->descriptor);
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
  static constexpr duration longest_sleep = waiting<Shape>::longest_sleep;
  status wait(instant until) noexcept { return waiting_.wait(until); }
  bool arm(sleep_descriptors& on) noexcept requires(waiting<Shape>::on_descriptor) { return waiting_.arm(on); }
  void disarm(bool /*came*/) noexcept requires(waiting<Shape>::on_descriptor) {}
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

  result<void> open_counter() {
    fi_cntr_attr attributes{};
    attributes.events = FI_CNTR_EVENTS_COMP;
    attributes.wait_obj = FI_WAIT_NONE;
    if (const int r = fi_cntr_open(domain_.object.get(), &attributes, counter_.slot(), nullptr); r != 0)
      return refused(r, "fi_cntr_open", "fabric " + std::string(Shape::name) + ": the counter of remote writes");
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
  port_limits limits_;
  port_options asked_;
};

}  // namespace weft::backends::libfabric

#if WEFT_HAS_RARE_WORK
#include "../oob_exchange/tcp.hpp"
#include "opening/open_domain.hpp"
#endif
