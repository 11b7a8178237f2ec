// SPDX-License-Identifier: Apache-2.0
//
// The port of the in-process loopback: any row of the matrix without a network, with the worst behaviour that the row
// permits.
// The shape decides which calls exist, as on real fabrics. The simulated library below decides their results
// (behaviour.hpp).
// Hot path: yes, for the policies above; the simulation itself is not optimised. Threads: one owner per world.
#pragma once

#include "oob_exchange.hpp"

namespace weft::backends::loopback {

/// The simulated network is part of weft and has weft's release.
inline constexpr library_version built_with{1, 0};

/// Whether the simulated process of a port is alive: the counterpart of a process descriptor.
class process_watch {
 public:
  process_watch() = default;
  explicit process_watch(std::shared_ptr<const endpoint> at) noexcept : at_(std::move(at)) {}
  bool gone() const noexcept { return at_ && at_->crashed; }

 private:
  std::shared_ptr<const endpoint> at_;
};

/// A simulated port of the fabric that the shape describes. poll, wait and now let virtual time pass and other nodes
/// run.
template <port_shape Shape>
class port {
 public:
  using link = link_name;
  using oob_exchange = loopback::oob_exchange;
  using process_watch = loopback::process_watch;
  static constexpr const fabric_facts& facts = Shape::facts;
  static constexpr bool link_has_receives = facts.endpoint_type == endpoint_type::connected && !Shape::shared_receives;

  static result<std::unique_ptr<port>> open(const port_options& options) {
    simulation& sim = here();
    auto made = open_endpoint(sim, options, behaviour_of<Shape>(), Shape::name);
    if (!made) return made.error();
    return std::unique_ptr<port>(new port(sim, std::move(made).value()));
  }
  port(const port&) = delete;
  port& operator=(const port&) = delete;
  ~port() {
    if (at_->open) close_endpoint(sim_, *at_);
  }

  const port_limits& limits() const noexcept { return limits_; }
  address_bytes address() const { return at_->address; }
  std::string printable(const address_bytes& address) const {
    if constexpr (facts.address_resolution == address_resolution::socket) {
      const std::string text = as_text(address);
      const auto last = text.rfind(':');
      return text.find(':') == last ? text : "[" + text.substr(0, last) + "]" + text.substr(last);
    } else {
      return "loopback address of " + std::to_string(address.size()) + " bytes";
    }
  }
  result<address_bytes> resolve(std::string_view node, std::string_view service) {
    if constexpr (facts.address_resolution == address_resolution::socket)
      if (!service.empty()) return as_bytes(std::string(node) + ":" + std::string(service));
    return {
        error(facts.address_resolution == address_resolution::socket ? errc::invalid : errc::unsupported, "resolve"),
        facts.address_resolution == address_resolution::socket
            ? std::string(Shape::name) + " (loopback): an address needs a service, as in host:7471"
            : std::string(Shape::name) +
                  " (loopback): addresses are opaque here; fetch the peer's through the side channel"};
  }
  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    if (!at_->open)
      return {error(errc::closed, "dial"), std::string(Shape::name) + " (loopback): the port's world was destroyed"};
    return dial_endpoint(sim_, *at_, to, tag, Shape::name);
  }
  void hang_up(link& which) {
    if (at_->open) release_link(sim_, *at_, which);
    which = link{};
  }
  template <class On>
  void poll_links(On&& on);
  /// The caller's node. The port of a node may have any name, as an address has.
  std::uint64_t host_of(const link& of) const {
    const link_state* held = at_->find(of);
    if (held == nullptr || held->peer.port == no_index) return 0;
    return std::uint64_t{sim_.endpoints[held->peer.port]->node} + 1;
  }
  std::uint64_t host_of(const address_bytes& address) const {
    const endpoint* there = endpoint_at(sim_, address);
    return there == nullptr ? 0 : std::uint64_t{there->node} + 1;
  }
  std::uint32_t peer_tag(link of) const {
    const link_state* held = at_->find(of);
    return held == nullptr ? no_tag : held->peer_tag;
  }

  result<registration> register_memory(bytes memory, rights granted, std::uint64_t wanted_key) {
    return register_region(sim_, *at_, memory, granted, wanted_key, Shape::name);
  }
  result<registration> register_local(bytes memory) { return register_here(*at_, memory); }
  void deregister(registration& held) { deregister_region(sim_, *at_, held); }

  status post_receive(link which, local_memory into, void* context) noexcept {
    if (!at_->open) return error(errc::closed, "post_receive");
    ++at_->receive_calls;
    return loopback::post_receive(sim_, *at_, which, into, context);
  }
  std::uint32_t post_receives(link which, const receive_request* all, std::uint32_t count) noexcept {
    ++at_->receive_calls;
    std::uint32_t taken = 0;
    while (at_->open && taken < count && loopback::post_receive(sim_, *at_, which, all[taken].into, all[taken].context))
      ++taken;
    return taken;
  }
  template <post_mode M>
  status send(link which, local_memory from, std::uint64_t immediate, void* context) noexcept {
    return post({packet_kind::message, M, which, from, {}, context, immediate, !Shape::framed, false, {}}, "send");
  }
  status inject(link which, const_bytes from, std::uint64_t immediate) noexcept {
    return post({packet_kind::message,
                 post_mode::unsignalled,
                 which,
                 injected(from),
                 {},
                 nullptr,
                 immediate,
                 !Shape::framed,
                 true,
                 {}},
                "inject");
  }
  template <post_mode M>
  status send_framed(link which, local_memory header, local_memory from, void* context) noexcept
      requires(Shape::framed) {
    return post({packet_kind::message,
                 M,
                 which,
                 from,
                 {},
                 context,
                 0,
                 false,
                 false,
                 {header.data, header.size},
                 header.descriptor},
                "send_framed");
  }
  template <post_mode M>
  status write(link which, local_memory from, remote_memory to, void* context) noexcept {
    return post({packet_kind::write, M, which, from, to, context, 0, false, false, {}}, "write");
  }
  template <post_mode M>
  status write_immediate(link which, local_memory from, remote_memory to, std::uint64_t immediate,
                         void* context) noexcept {
    return post({packet_kind::write, M, which, from, to, context, immediate, true, false, {}}, "write_immediate");
  }
  status inject_write_immediate(link which, const_bytes from, remote_memory to, std::uint64_t immediate) noexcept {
    return post(
        {packet_kind::write, post_mode::unsignalled, which, injected(from), to, nullptr, immediate, true, true, {}},
        "inject_write_immediate");
  }
  status inject_write(link which, const_bytes from, remote_memory to) noexcept {
    return post({packet_kind::write, post_mode::unsignalled, which, injected(from), to, nullptr, 0, false, true, {}},
                "inject_write");
  }
  status read(link which, local_memory into, remote_memory from, void* context) noexcept {
    return post({packet_kind::read, post_mode::signalled, which, into, from, context, 0, false, false, {}}, "read");
  }
  template <post_mode M>
  status send_gather(link which, gather_list from, std::uint64_t immediate, void* context) noexcept {
    order asked{packet_kind::message, M, which, from.front(), {}, context, immediate, !Shape::framed, false, {}};
    asked.rest = from.subspan(1);
    return post(asked, "send");
  }
  template <post_mode M>
  status write_gather(link which, gather_list from, remote_memory to, void* context) noexcept {
    order asked{packet_kind::write, M, which, from.front(), to, context, 0, false, false, {}};
    asked.rest = from.subspan(1);
    return post(asked, "write");
  }
  template <post_mode M>
  status write_gather_immediate(link which, gather_list from, remote_memory to, std::uint64_t immediate,
                                void* context) noexcept {
    order asked{packet_kind::write, M, which, from.front(), to, context, immediate, true, false, {}};
    asked.rest = from.subspan(1);
    return post(asked, "write_immediate");
  }
  status read_scatter(link which, gather_list into, remote_memory from, void* context) noexcept {
    order asked{packet_kind::read, post_mode::signalled, which, into.front(), from, context, 0, false, false, {}};
    asked.rest = into.subspan(1);
    return post(asked, "read");
  }
  template <atomic_operation What, atomic_number T>
  requires(Shape::native_atomics&& natively(Shape::facts, What, type_of<T>)) status
      fetch_atomic(link which, T operand, T expected, std::uint64_t* old, void* descriptor, remote_memory at,
                   void* context)
  noexcept {
    return atomic({What, type_of<T>, to_bits(operand), to_bits(expected), old}, which, descriptor, at, context);
  }
  status fetch_add(link which, std::uint64_t operand, std::uint64_t* old, void* descriptor, remote_memory at,
                   void* context) noexcept requires(Shape::native_atomics) {
    return fetch_atomic<atomic_operation::add, std::uint64_t>(which, operand, 0, old, descriptor, at, context);
  }
  status compare_swap(link which, std::uint64_t expected, std::uint64_t desired, std::uint64_t* old, void* descriptor,
                      remote_memory at, void* context) noexcept requires(Shape::native_atomics) {
    return fetch_atomic<atomic_operation::compare_swap, std::uint64_t>(which, desired, expected, old, descriptor, at,
                                                                       context);
  }

  template <class On>
  int poll(On&& on);
  std::uint64_t counted_writes() noexcept requires(Shape::remote_counter) {
    turn();
    at_->events_seen = at_->events;
    return at_->counted_writes;
  }

  instant now() const noexcept {
    if (at_->open) sim_.time.pass(sim_.cost.clock.count());
    return at_->open ? instant(duration(sim_.now() + sim_.nodes[at_->node].clock_ahead)) : instant::max();
  }
  status wait(instant until) noexcept;
  int descriptor() const noexcept { return -1; }

  /// This port's process, and a watch over a peer's process.
  std::uint64_t process() const noexcept { return std::uint64_t{at_->id} + 1; }
  loopback::process_watch watch_process(std::uint64_t process) const noexcept {
    if (!at_->open || process == 0 || process > sim_.endpoints.size()) return {};
    return loopback::process_watch(sim_.endpoints[process - 1]);
  }
  /// Keys and nonces come from the run's seed, so the same seed gives the same trace.
  std::uint64_t random() noexcept { return at_->open ? sim_.time.draw.next() : 1; }
  std::unordered_set<std::uint64_t>& keys_of_process() noexcept { return sim_.nodes[at_->node].keys; }

  /// For tests: calls that posted receives.
  std::uint64_t receive_calls() const noexcept { return at_->receive_calls; }
  /// For tests: messages and immediates that found no receive here, and refused accesses of peers.
  std::uint64_t starved() const noexcept { return at_->starved_count; }
  std::uint64_t refused() const noexcept { return at_->refused_count; }

 protected:
  port(simulation& sim, std::shared_ptr<endpoint> at);

 private:
  struct order {
    packet_kind kind;
    post_mode mode;
    link which;
    local_memory local;
    remote_memory remote;
    void* context;
    std::uint64_t immediate;
    bool has_immediate;
    bool copied;
    const_bytes header;
    void* header_descriptor = nullptr;
    gather_list rest{};  ///< The pieces after `local`.
    std::size_t size() const noexcept { return local.size + total_of(rest); }
  };

  static local_memory injected(const_bytes from) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): only read
    return {const_cast<std::byte*>(from.data()), from.size(), nullptr};
  }
  status check(const order& asked, const char* operation) const noexcept;
  status post(const order& asked, const char* operation) noexcept;
  status atomic(const word_change& asked, link which, void* descriptor, remote_memory at, void* context) noexcept;
  /// The owner's turn: time passes, and packets that waited for a poll are handled.
  void turn();

  simulation& sim_;
  std::shared_ptr<endpoint> at_;
  port_limits limits_;
};

}  // namespace weft::backends::loopback

#include "port_calls.hpp"  // IWYU pragma: export

#include <unordered_set>
