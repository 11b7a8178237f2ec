// SPDX-License-Identifier: Apache-2.0
//
// The port over rdma-core alone: core/port.hpp with the calls of libibverbs and librdmacm, over reliable connections.
// The shape selects each call at compile time.
// post_calls.hpp has the posting calls.
// Hot path: post_receive to poll. Threads: one owner.
#pragma once

#include "../../core/port.hpp"
#include "../oob_exchange/tcp.hpp"
#include "completions.hpp"
#include "connections.hpp"
#include "memory.hpp"
#include "post_calls.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace weft::backends::verbs {

/// rdma-core's headers do not name their release: rows over verbs have no version ranges.
inline constexpr library_version built_with{};

template <class Shape>
class port : public post_calls<port<Shape>, Shape> {
  friend class post_calls<port<Shape>, Shape>;

  static_assert(Shape::virtual_address && Shape::provider_key && Shape::local_descriptor,
                "weft: with rdma-core remote addresses are the target's pointers, cards make the keys, and local "
                "buffers are registered [WEFT-C039]");
  static_assert(!Shape::bind_regions && !Shape::remote_counter && Shape::selective_completion,
                "weft: rdma-core binds no regions to endpoints, has no counter of remote writes, and signals "
                "selectively [WEFT-C039]");
  static_assert(!Shape::two_queues && Shape::threads == thread_level::one_owner,
                "weft: this backend reads one queue, and requests no locks from rdma-core [WEFT-C039]");
  static_assert(!Shape::multi_receive, "weft: a receive of rdma-core takes one message [WEFT-C039]");
  static_assert(
      !Shape::shared_receives || Shape::write_immediate,
      "weft: a pool of receives needs a wire that retries when the pool is empty; iWARP does not [WEFT-C039]");
  static_assert(Shape::write_immediate == Shape::receive_reserve,
                "weft: a write with an immediate consumes a receive [WEFT-C039]");
  static_assert(Shape::facts.endpoint_type == endpoint_type::connected,
                "weft: this backend has reliable connections only [WEFT-C039]");

 public:
  using link = link_handle;
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
  const std::vector<device_verdict>& devices() const noexcept { return on_.verdicts; }
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
    return of.held->arrived ? no_tag : of.held->peer_introduction.tag;
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
    if (links_.has_unreported_changes() || posts_.has_refused()) return {};
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
