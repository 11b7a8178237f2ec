// SPDX-License-Identifier: Apache-2.0
//
// The port between two processes of one host, without a provider: core/port.hpp, spelled in loads and stores. A put is a store into the peer's
// memory, which is mapped here; an atomic is the processor's own instruction; a notice is an entry of the peer's ring. An operation has ended when
// the call that posted it returns, and is told by the next poll.
// Hot path: post_receive to poll. Threads: one owner.
#pragma once

#include "../../core/atomic_listing.hpp"
#include "../rendezvous/tcp.hpp"
#include "connections.hpp"
#include "moving.hpp"
#include "posts.hpp"
#include "shared_regions.hpp"
#include "sleeping.hpp"
#include "taking.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace weft::backends::mapped {

/// Linux has no headers that say which one will run the program: rows over this backend have no version ranges.
inline constexpr library_version built_with{};

template <port_shape Shape>
class port {
  static_assert(!Shape::virtual_address && Shape::provider_key && !Shape::bind_regions,
                "weft: mapped memory is addressed by offsets, its keys are made by its owner's port, and it is bound to no endpoint");
  static_assert(!Shape::remote_counter && !Shape::receive_reserve && !Shape::multi_receive && !Shape::shared_receives,
                "weft: mapped memory counts no landed writes, its notices consume no receive, and a receive takes one message of one link");
  static_assert(!Shape::two_queues && Shape::threads == thread_level::one_owner,
                "weft: mapped memory has one place for ends and arrivals, and no library");
  static_assert(!Shape::framed, "weft: messages of mapped memory carry an immediate");
  static_assert(Shape::facts.endpoint_type == endpoint_type::connected, "weft: links of mapped memory are connections");

 public:
  /// A connection. Empty: no link.
  struct link {
    connection* held = nullptr;
    friend bool operator==(const link&, const link&) = default;
  };
  using rendezvous = backends::rendezvous::tcp;
  static constexpr bool link_has_receives = true;
  /// Errors: what the system refuses, with the call.
  static result<std::unique_ptr<port>> open(const port_options& options) {
    const std::string who = "fabric " + std::string(Shape::name);
    auto own = arena::make(who);
    if (!own) return std::move(own).error();
    std::unique_ptr<port> made(new port(std::move(own).value(), options, who));
    if (auto opened = made->links_.open(options.listens); !opened) return std::move(opened).error();
    return made;
  }
  port(const port&) = delete;
  port& operator=(const port&) = delete;

  const port_limits& limits() const noexcept { return limits_; }
  address_bytes address() const { return links_.address(); }
  std::string printable(const address_bytes& address) const {
    return "@" + std::string(reinterpret_cast<const char*>(address.data()), address.size());
  }
  result<address_bytes> resolve(std::string_view, std::string_view) {
    return {error(errc::unsupported, "resolve"), who() + ": addresses are opaque here; fetch the peer's through the side channel"};
  }
  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    auto made = links_.dial(to, tag);
    if (!made) return std::move(made).error();
    return link{*made};
  }
  void hang_up(link& gone) { links_.hang_up(std::exchange(gone.held, nullptr)); }
  /// Asks the sockets when something is due, and now and then: a system call.
  template <class On>
  void poll_links(On&& on) {
    if (!links_.has_news() && ++quiet_calls_ < quiet_calls && now_roughly() < next_look_) return;
    quiet_calls_ = 0;
    links_.poll();
    next_look_ = now_roughly() + duration(1);
    const auto told = [&on](link_change change, std::uint32_t tag, connection* of) { return on(change, tag, link{of}); };
    links_.tell(told);
  }

  result<registration> enroll(bytes where, rights granted, std::uint64_t) { return regions_.enroll(where, granted); }
  result<registration> enroll_local(bytes where) { return registration{nullptr, nullptr, 0, where.data(), where.size()}; }
  result<registration> enroll_fresh(std::size_t size, rights granted, std::uint64_t) { return regions_.enroll_fresh(size, granted); }
  void withdraw(registration& gone) { regions_.withdraw(gone); }

  status post_receive(link from, local_memory into, void* context) noexcept {
    if (from.held->receives.full()) [[unlikely]]
      return again(waits_for::queue, "post_receive");
    from.held->receives.post({into, context});
    return {};
  }

  template <post_mode M>
  [[gnu::always_inline]] status send(link to, local_memory from, std::uint32_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = posts_.ready<M>(c, from.size, "send"); !s) [[unlikely]]
      return s;
    c.out.send(const_bytes(from.data, from.size), immediate);
    return posts_.sent<M>(c, context);
  }
  [[gnu::always_inline]] status inject(link to, const_bytes from, std::uint32_t immediate) noexcept {
    connection& c = *to.held;
    if (const status s = posts_.ready<post_mode::unsignalled>(c, from.size(), "inject"); !s) [[unlikely]]
      return s;
    c.out.send(from, immediate);
    c.sent();
    return {};
  }
  template <post_mode M>
  status send_gather(link to, gather_list from, std::uint32_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = posts_.ready<M>(c, total_of(from), "send"); !s) return s;
    c.out.send(from, immediate);
    return posts_.sent<M>(c, context);
  }

  template <post_mode M>
  [[gnu::always_inline]] status write(link to, local_memory from, remote_memory at, void* context) noexcept {
    if (M != post_mode::unsignalled && !posts_.has_room_for_end()) [[unlikely]]
      return again(waits_for::queue, "write");
    return posts_.moved<M>(put(*to.held, from, at), context, "write");
  }
  template <post_mode M>
  [[gnu::always_inline]] status write_immediate(link to, local_memory from, remote_memory at, std::uint64_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = posts_.ready<M>(c, 0, "write_immediate"); !s) [[unlikely]]
      return s;
    if (const errc how = put(c, from, at); how != errc::ok) [[unlikely]]
      return posts_.not_moved(how, context, "write_immediate");
    c.notify(at, from.size, immediate);
    return posts_.sent<M>(c, context);
  }
  /// A write that is refused says so at once: nobody waits for its end.
  [[gnu::always_inline]] status inject_write_immediate(link to, const_bytes from, remote_memory at, std::uint64_t immediate) noexcept {
    connection& c = *to.held;
    if (const status s = posts_.ready<post_mode::unsignalled>(c, 0, "write_immediate"); !s) [[unlikely]]
      return s;
    if (const errc how = put(c, borrowed(from), at); how != errc::ok) [[unlikely]]
      return posts_.refused(how, "write_immediate");
    c.notify(at, from.size(), immediate);
    c.sent();
    return {};
  }
  template <post_mode M>
  status write_gather(link to, gather_list from, remote_memory at, void* context) noexcept {
    return posts_.has_room_for_end() ? posts_.moved<M>(put(*to.held, from, at), context, "write") : again(waits_for::queue, "write");
  }
  template <post_mode M>
  status write_gather_immediate(link to, gather_list from, remote_memory at, std::uint64_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = posts_.ready<M>(c, 0, "write_immediate"); !s) return s;
    if (const errc how = put(c, from, at); how != errc::ok) return posts_.not_moved(how, context, "write_immediate");
    c.notify(at, total_of(from), immediate);
    return posts_.sent<M>(c, context);
  }
  [[gnu::always_inline]] status read(link from, local_memory into, remote_memory at, void* context) noexcept {
    if (!posts_.has_room_for_end()) [[unlikely]]
      return again(waits_for::queue, "read");
    return posts_.moved<post_mode::signalled>(get(*from.held, into, at), context, "read");
  }
  status read_scatter(link from, gather_list into, remote_memory at, void* context) noexcept {
    if (!posts_.has_room_for_end()) return again(waits_for::queue, "read");
    return posts_.moved<post_mode::signalled>(get(*from.held, into, at), context, "read");
  }

  template <atomic_operation What, atomic_number T>
  requires(Shape::native_atomics&& natively(Shape::facts, What, type_of<T>)) [[gnu::always_inline]] status
      fetch_atomic(link to, T operand, T expected, std::uint64_t* old, void*, remote_memory at, void* context) noexcept {
    if (!posts_.has_room_for_end()) [[unlikely]]
      return again(waits_for::queue, "atomic");
    return posts_.moved<post_mode::signalled>(count<What, T>(*to.held, operand, expected, old, at), context, "atomic");
  }
  status fetch_add(link to, std::uint64_t operand, std::uint64_t* old, void* descriptor, remote_memory at, void* context) noexcept
      requires(Shape::native_atomics) {
    return fetch_atomic<atomic_operation::add, std::uint64_t>(to, operand, 0, old, descriptor, at, context);
  }
  status compare_swap(link to, std::uint64_t expected, std::uint64_t desired, std::uint64_t* old, void* descriptor, remote_memory at,
                      void* context) noexcept requires(Shape::native_atomics) {
    return fetch_atomic<atomic_operation::compare_swap, std::uint64_t>(to, desired, expected, old, descriptor, at, context);
  }

  template <class On>
  [[gnu::always_inline]] int poll(On&& on) {
    if (links_.has_chores()) [[unlikely]]
      links_.tidy();
    int told = 0;
    for (; told < most_ends && !posts_.ends().empty(); ++told) {
      const ending e = posts_.ends().pop();
      on(completion_entry{completion_kind::ended, e.context, 0, 0, {e.how, origin::weft, 0, "mapped memory"}});
    }
    const auto& all = links_.all();
    for (std::size_t looks = std::min(all.size(), most_looks); looks > 0 && told < most_told && !all.empty(); --looks) {
      if (next_ >= all.size()) next_ = 0;
      connection& c = *all[next_++];
      if (const ring_entry* first = c.in.front(); first != nullptr) [[unlikely]]
        told += take_from(links_, c, first, most_told - told, on);
      else c.arriving.fetch();  // while the line of the next notice is on its way, those of its bytes are too
    }
    return told;
  }

  instant now() const noexcept { return std::chrono::steady_clock::now(); }
  /// The time as the kernel's timer last left it, milliseconds behind at most: a sixth of a look at the clock. Whoever spins asks often.
  instant now_roughly() const noexcept { return rough_time(); }
  status wait(instant until) noexcept {
    const auto look = [this] { return has_news(); };
    if (!sleep_unless(regions_.own().head().asleep, look, [this, until] { return sleep(until); })) return error(errc::deadline, "wait");
    next_look_ = {};
    return {};
  }
  int descriptor() const noexcept { return links_.events(); }

 private:
  static constexpr int most_told = 16, most_ends = 8;  ///< Whoever posts without rest has ends without end: what arrives has its half of a look.
  static constexpr std::size_t most_looks = 64;
  static constexpr std::uint32_t quiet_calls = 64;  ///< Of poll_links, until the sockets are asked all the same.

  port(std::unique_ptr<arena> own, const port_options& options, const std::string& who)
      : regions_(std::move(own), who), links_(regions_.own(), options, who), posts_(links_, 2 * options.operations + 256) {
    limits_.inject_bytes = Shape::facts.inject_bytes;
    limits_.queue_depth = std::max<std::size_t>(options.operations, Shape::facts.queue_depth);
    limits_.largest_message = Shape::facts.largest_message;  // rings are made for the largest that this side takes
    limits_.largest_write = Shape::facts.largest_write;
    limits_.library = "Linux";
  }
  static std::string who() { return "fabric " + std::string(Shape::name); }
  static local_memory borrowed(const_bytes from) noexcept {
    return {const_cast<std::byte*>(from.data()), from.size(), nullptr};  // NOLINT(cppcoreguidelines-pro-type-const-cast): only read
  }

  bool has_news() const noexcept { return !posts_.ends().empty() || links_.has_any_news(); }
  /// False: nothing came. Nobody wakes who waits for room in a peer's ring: it looks again soon.
  bool sleep(instant until) noexcept {
    const bool starved = posts_.starved();
    const duration left = until - now();
    if (!sleep_on(links_.events(), starved ? std::min(left, duration(std::chrono::milliseconds(1))) : left)) return starved;
    links_.hear_all();
    return true;
  }

  shared_regions regions_;
  connections links_;
  posts posts_;
  std::size_t next_ = 0;  ///< The link to be looked at first.
  std::uint32_t quiet_calls_ = 0;
  instant next_look_{};
  port_limits limits_;
};

}  // namespace weft::backends::mapped
