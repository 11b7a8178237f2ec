// SPDX-License-Identifier: Apache-2.0
//
// The port between two processes of one host, without a provider: core/port.hpp, spelled in loads and stores. A put is a store into the peer's
// memory, which is mapped here; an atomic is the processor's own instruction; a notice is an entry of the peer's ring. An operation has ended when
// the call that posted it returns, and is told by the next poll.
// Hot path: post_receive to poll. Threads: one owner.
#pragma once

#include "../../core/atomic_listing.hpp"
#include "../../core/port.hpp"
#include "../rendezvous/tcp.hpp"
#include "connections.hpp"
#include "copying.hpp"
#include "endings.hpp"
#include "ordinary_memory.hpp"

#include <poll.h>

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
  ~port() = default;

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
  template <class On>
  void poll_links(On&& on) {
    const instant at = now();
    if (!links_.has_news() && at < next_look_) return;
    next_look_ = at + between_looks;
    links_.poll();
    const auto told = [&on](link_change change, std::uint32_t tag, connection* of) { return on(change, tag, link{of}); };
    links_.tell(told);
  }

  /// Memory of the caller: in the arena, or anywhere, where the kernel lets peers reach in.
  result<registration> enroll(bytes where, rights granted, std::uint64_t) {
    if (granted == rights::none) return registration{nullptr, nullptr, 0, where.data(), where.size()};
    if (!own_->holds(where)) {
      if (grants(granted, rights::remote_atomic))
        return {error(errc::unsupported, "register"),
                who() + ": peers can count in memory of the mapping alone; take it from the transport: allocate() or allocate_words()"};
      if (!forbidden_.empty())
        return {error(errc::denied, "register"), who() + ": this memory is not in the mapping, and peers cannot reach it (" + forbidden_ +
                                                     "); take it from the transport: allocate()"};
    }
    return listed(where, granted, nullptr);
  }
  result<registration> enroll_local(bytes where) { return registration{nullptr, nullptr, 0, where.data(), where.size()}; }
  /// Fresh, zeroed memory of the mapping, aligned to a page, that is the port's until it is withdrawn.
  result<registration> enroll_fresh(std::size_t size, rights granted, std::uint64_t) {
    const bytes made = own_->take(size);
    if (made.empty())
      return {error(errc::no_memory, "register"), who() + ": no room for " + std::to_string(size) + " bytes among the " +
                                                      std::to_string(arena::file_bytes >> 30) + " GiB that a transport can share"};
    auto held = listed(made, granted, made.data());
    if (!held) own_->give(made);
    return held;
  }
  void withdraw(registration& gone) {
    if (gone.key != 0) own_->strike(gone.key);
    if (gone.native != nullptr) own_->give({gone.base, gone.size});
    gone = {};
  }

  status post_receive(link from, local_memory into, void* context) noexcept {
    if (from.held->receives.full()) [[unlikely]]
      return again(waits_for::queue, "post_receive");
    from.held->receives.post({into, context});
    return {};
  }

  template <post_mode M>
  [[gnu::always_inline]] status send(link to, local_memory from, std::uint32_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = ready(c, from.size, "send"); !s) [[unlikely]]
      return s;
    c.out.send(const_bytes(from.data, from.size), immediate);
    return sent<M>(c, context);
  }
  [[gnu::always_inline]] status inject(link to, const_bytes from, std::uint32_t immediate) noexcept {
    connection& c = *to.held;
    if (const status s = ready(c, from.size(), "inject"); !s) [[unlikely]]
      return s;
    c.out.send(from, immediate);
    c.sent();
    return {};
  }
  template <post_mode M>
  status send_framed(link to, local_memory header, local_memory from, void* context) noexcept requires(Shape::framed) {
    const std::array<local_memory, 2> both{header, from};
    return send_gather<M>(to, both, 0, context);
  }
  template <post_mode M>
  status send_gather(link to, gather_list from, std::uint32_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = ready(c, total_of(from), "send"); !s) return s;
    c.out.send(from, immediate);
    return sent<M>(c, context);
  }

  template <post_mode M>
  [[gnu::always_inline]] status write(link to, local_memory from, remote_memory at, void* context) noexcept {
    if constexpr (M != post_mode::unsignalled)
      if (ends_.full()) [[unlikely]]
        return again(waits_for::queue, "write");
    if (const errc moved = put(*to.held, from, at); moved != errc::ok) [[unlikely]]
      return not_moved(moved, context, "write");
    return ended<M>(context);
  }
  template <post_mode M>
  [[gnu::always_inline]] status write_immediate(link to, local_memory from, remote_memory at, std::uint64_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = ready(c, 0, "write_immediate"); !s) [[unlikely]]
      return s;
    if (const errc moved = put(c, from, at); moved != errc::ok) [[unlikely]]
      return not_moved(moved, context, "write_immediate");
    c.out.send_notice(immediate);
    return sent<M>(c, context);
  }
  /// A write that is refused says so at once: nobody waits for its end.
  [[gnu::always_inline]] status inject_write_immediate(link to, const_bytes from, remote_memory at, std::uint64_t immediate) noexcept {
    connection& c = *to.held;
    if (const status s = ready(c, 0, "write_immediate"); !s) [[unlikely]]
      return s;
    if (const errc moved = put(c, borrowed(from), at); moved != errc::ok) [[unlikely]]
      return refused(moved, "write_immediate");
    c.out.send_notice(immediate);
    c.sent();
    return {};
  }
  template <post_mode M>
  status write_gather(link to, gather_list from, remote_memory at, void* context) noexcept {
    if (ends_.full()) return again(waits_for::queue, "write");
    if (const errc moved = put(*to.held, from, at); moved != errc::ok) return not_moved(moved, context, "write");
    return ended<M>(context);
  }
  template <post_mode M>
  status write_gather_immediate(link to, gather_list from, remote_memory at, std::uint64_t immediate, void* context) noexcept {
    connection& c = *to.held;
    if (const status s = ready(c, 0, "write_immediate"); !s) return s;
    if (const errc moved = put(c, from, at); moved != errc::ok) return not_moved(moved, context, "write_immediate");
    c.out.send_notice(immediate);
    return sent<M>(c, context);
  }
  [[gnu::always_inline]] status read(link from, local_memory into, remote_memory at, void* context) noexcept {
    if (ends_.full()) [[unlikely]]
      return again(waits_for::queue, "read");
    connection& c = *from.held;
    std::byte* there = c.there.find(at, into.size, rights::remote_read);
    if (there == nullptr) [[unlikely]]
      return read_elsewhere(c, into, at, context);
    load({into.data, into.size}, there);
    return ended<post_mode::signalled>(context);
  }
  status read_scatter(link from, gather_list into, remote_memory at, void* context) noexcept {
    if (ends_.full()) return again(waits_for::queue, "read");
    connection& c = *from.held;
    const auto size = static_cast<std::size_t>(total_of(into));
    std::byte* there = c.there.find(at, size, rights::remote_read);
    if (there == nullptr) {
      const errc moved = elsewhere(c, into, at, rights::remote_read);
      return moved == errc::ok ? ended<post_mode::signalled>(context) : not_moved(moved, context, "read");
    }
    for (const local_memory& each : into) {
      load({each.data, each.size}, there);
      there += each.size;
    }
    return ended<post_mode::signalled>(context);
  }

  template <atomic_operation What, atomic_number T>
  requires(Shape::native_atomics&& natively(Shape::facts, What, type_of<T>)) [[gnu::always_inline]] status
      fetch_atomic(link to, T operand, T expected, std::uint64_t* old, void*, remote_memory at, void* context) noexcept {
    if (ends_.full()) [[unlikely]]
      return again(waits_for::queue, "atomic");
    connection& c = *to.held;
    std::byte* there = c.there.find(at, sizeof(T), rights::remote_atomic);
    if (there == nullptr || reinterpret_cast<std::uintptr_t>(there) % sizeof(T) != 0) [[unlikely]]
      return not_moved(there != nullptr ? errc::invalid : why_no_atomic(c, at, sizeof(T)), context, "atomic");
    const T before = change<What, T>(there, operand, expected);
    std::memcpy(old, &before, sizeof before);
    return ended<post_mode::signalled>(context);
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
    if (to_be_grown_ != 0 || links_.has_graves()) [[unlikely]]
      tidy();
    int told = 0;
    for (; told < most_ends && !ends_.empty(); ++told) {
      const ending e = ends_.pop();
      on(completion_entry{completion_kind::ended, e.context, 0, 0, {e.how, origin::weft, 0, "mapped memory"}});
    }
    auto& all = links_.all();
    std::size_t looks = std::min(all.size(), most_looks);
    for (; looks > 0 && told < most_told && !all.empty(); --looks) {
      if (next_ >= all.size()) next_ = 0;
      told += take_from(*all[next_], most_told - told, on);
      ++next_;
    }
    return told;
  }

  instant now() const noexcept { return std::chrono::steady_clock::now(); }
  /// Says that it sleeps, looks once more, sleeps: who sends says that it sent, then looks whether anybody sleeps.
  status wait(instant until) noexcept {
    if (has_news()) return {};
    auto& asleep = own_->head().asleep;
    asleep.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const bool came = has_news() || sleep(until);
    asleep.store(0, std::memory_order_relaxed);
    if (came) next_look_ = {};
    return came ? status{} : error(errc::deadline, "wait");
  }
  int descriptor() const noexcept { return links_.events(); }

 private:
  static constexpr int most_told = 16, most_ends = 8;  ///< Whoever posts without rest has ends without end: what arrives has its half of a look.
  static constexpr std::size_t most_looks = 64;
  static constexpr duration between_looks = std::chrono::microseconds(100);

  port(std::unique_ptr<arena> own, const port_options& options, const std::string& who)
      : own_(std::move(own)), links_(*own_, options, who), ends_(2 * options.operations + 256), forbidden_(what_forbids_reaching_in()) {
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

  result<registration> listed(bytes where, rights granted, void* native) {
    const std::uint64_t key = own_->list(where, granted);
    if (key == 0)
      return {error(errc::no_memory, "register"),
              who() + ": a transport tells its peers of " + std::to_string(arena_head::rows) + " regions at once, and has as many"};
    return registration{native, nullptr, key, where.data(), where.size()};
  }

  // ---- posting ----------------------------------------------------------------------------------------------------------
  /// Room for a message of that size, and for its end.
  [[gnu::always_inline]] status ready(connection& c, std::size_t size, const char* operation) noexcept {
    if (c.out.has_room(size) && !ends_.full()) [[likely]]
      return {};
    return not_ready(c, size, operation);
  }
  [[gnu::cold, gnu::noinline]] status not_ready(const connection& c, std::size_t size, const char* operation) noexcept {
    if (size > c.out.largest()) return error(errc::out_of_range, operation);
    starved_ = true;
    return again(waits_for::queue, operation);
  }
  template <post_mode M>
  [[gnu::always_inline]] status sent(connection& c, void* context) noexcept {
    c.sent();
    return ended<M>(context);
  }
  template <post_mode M>
  [[gnu::always_inline]] status ended(void* context) noexcept {
    if constexpr (M != post_mode::unsignalled) ends_.push(context, errc::ok);
    return {};
  }
  [[gnu::always_inline]] errc put(connection& c, local_memory from, remote_memory at) noexcept {
    std::byte* there = c.there.find(at, from.size, rights::remote_write);
    if (there == nullptr) [[unlikely]]
      return put_elsewhere(c, from, at);
    store(there, {from.data, from.size});
    return errc::ok;
  }
  errc put(connection& c, gather_list from, remote_memory at) noexcept {
    std::byte* there = c.there.find(at, static_cast<std::size_t>(total_of(from)), rights::remote_write);
    if (there == nullptr) return elsewhere(c, from, at, rights::remote_write);
    for (const local_memory& each : from) {
      store(there, {each.data, each.size});
      there += each.size;
    }
    return errc::ok;
  }
  [[gnu::cold, gnu::noinline]] errc put_elsewhere(connection& c, local_memory from, remote_memory at) noexcept {
    return elsewhere(c, {&from, 1}, at, rights::remote_write);
  }
  [[gnu::cold, gnu::noinline]] status read_elsewhere(connection& c, local_memory into, remote_memory at, void* context) noexcept {
    const errc moved = elsewhere(c, {&into, 1}, at, rights::remote_read);
    return moved == errc::ok ? ended<post_mode::signalled>(context) : not_moved(moved, context, "read");
  }
  /// A place that is not in the mapping: copied by the kernel, or why not. `again`: the mapping has to be larger.
  [[gnu::cold, gnu::noinline]] errc elsewhere(connection& c, gather_list here, remote_memory at, rights asked) noexcept {
    const missing_place missing = c.there.missing(at, static_cast<std::size_t>(total_of(here)), asked);
    if (missing.why == absence::ordinary) return reach_into(c.process, c.socket.get(), here, missing.address, asked == rights::remote_write);
    return meaning(missing.why);
  }
  [[gnu::cold, gnu::noinline]] errc why_no_atomic(connection& c, remote_memory at, std::size_t size) noexcept {
    const absence why = c.there.missing(at, size, rights::remote_atomic).why;
    return why == absence::ordinary ? errc::unsupported : meaning(why);
  }
  errc meaning(absence why) noexcept {
    switch (why) {
      case absence::unmapped:
        ++to_be_grown_;
        return errc::again;
      case absence::outside:
        return errc::out_of_range;
      case absence::broken:
        return errc::broken;
      default:
        return errc::denied;
    }
  }
  [[gnu::cold, gnu::noinline]] status not_moved(errc why, void* context, const char* operation) noexcept {
    if (why == errc::again) return again(waits_for::connection, operation);
    if (ends_.full()) return again(waits_for::queue, operation);
    ends_.push(context, why);
    return {};
  }
  [[gnu::cold, gnu::noinline]] static status refused(errc why, const char* operation) noexcept {
    return why == errc::again ? again(waits_for::connection, operation) : error(why, operation);
  }

  // ---- looking ----------------------------------------------------------------------------------------------------------
  [[gnu::cold, gnu::noinline]] void tidy() noexcept {
    links_.clear_graves();
    if (std::exchange(to_be_grown_, 0) == 0) return;
    for (const auto& each : links_.all())
      if (each->stood && !each->there.grow()) links_.broke(*each);
  }

  template <class On>
  [[gnu::always_inline]] int take_from(connection& c, int most, On& on);

  bool has_news() noexcept {
    if (!ends_.empty() || links_.has_news() || to_be_grown_ != 0) return true;
    return std::any_of(links_.all().begin(), links_.all().end(), [](const auto& each) { return each->has_news(); });
  }
  /// False: nothing came. Nobody wakes who waits for room in a peer's ring: it looks again soon.
  bool sleep(instant until) noexcept {
    duration left = std::clamp(duration(until - now()), duration::zero(), duration(std::chrono::hours(1)));
    const bool starved = std::exchange(starved_, false);
    if (starved) left = std::min(left, duration(std::chrono::milliseconds(1)));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec longest{whole.count(), static_cast<long>((left - whole).count())};
    pollfd events{links_.events(), POLLIN, 0};
    if (::ppoll(&events, 1, &longest, nullptr) <= 0) return starved;
    links_.hear_all();
    return true;
  }

  std::unique_ptr<arena> own_;
  connections links_;
  endings ends_;
  std::size_t next_ = 0;           ///< The link to be looked at first.
  std::uint32_t to_be_grown_ = 0;  ///< Posts that found a place beyond what is mapped.
  bool starved_ = false;
  instant next_look_{};
  std::string forbidden_;
  port_limits limits_;
};

/// Tells what lies in a link's ring. A message waits for a receive, and what came behind it waits too.
template <port_shape Shape>
template <class On>
[[gnu::always_inline]] inline int port<Shape>::take_from(connection& c, int most, On& on) {
  int told = 0;
  while (told < most && c.phase != link_phase::gone) {
    const ring_entry* e = c.in.front();
    if (e == nullptr) {
      c.in.tell_room();
      break;
    }
    const std::uint32_t size = e->size;
    completion_entry came{completion_kind::landed, nullptr, e->immediate};
    if ((size & ring_entry::notice) == 0) {
      if (c.receives.empty()) {
        c.in.tell_room();
        break;
      }
      const posted_receives::receive into = c.receives.take();
      const auto message = c.in.message(*e, size);
      came = {completion_kind::received, into.context, e->immediate, size, {}};
      if (!message) {
        came.outcome = error(errc::broken, "poll");
        links_.broke(c);
      } else if (size > into.into.size) {
        came.outcome = error(errc::truncated, "poll");
      } else if (size != 0) {
        std::memcpy(into.into.data, message->data(), size);
      }
    }
    c.in.pop();
    ++told;
    on(came);
  }
  return told;
}

}  // namespace weft::backends::mapped
