// SPDX-License-Identifier: Apache-2.0
//
// The transport of a set: the calls of compose/transport.hpp over several transports, with progress and waiting. A poll
// asks fabrics with peers; the others now and then, for requests. Hot path: progress. Threads: one owner at a time.
#pragma once

#include "no_set_tags.hpp"
#include "set_atomics.hpp"
#include "set_connecting.hpp"
#include "set_fabric_calls.hpp"
#include "set_memory_calls.hpp"
#include "set_opening.hpp"
#include "set_posting.hpp"
#include "set_region_calls.hpp"
#include "set_sleeping.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <thread>
#include <tuple>

namespace weft {

/// A transport of several fabrics. Open it with weft::open<fabric_set<F...>>().
template <complete_fabric... F>
requires complete_fabric<fabric_set<F...>>
class transport<fabric_set<F...>>
    : public detail::set_memory_calls<transport<fabric_set<F...>>, fabric_set<F...>, F...>,
      public detail::set_fabric_calls<transport<fabric_set<F...>>, F...>,
      public detail::set_peer_calls<transport<fabric_set<F...>>, F...>,
      public detail::set_region_calls<transport<fabric_set<F...>>, fabric_set<F...>>,
      public detail::set_posting_calls<transport<fabric_set<F...>>, F...>,
      public detail::set_sleeping_calls<transport<fabric_set<F...>>, F...>,
      public detail::atomic_calls<transport<fabric_set<F...>>, fabric_set<F...>>,
      public detail::tagged_of_fabrics<F...>::template calls<transport<fabric_set<F...>>, F...> {
  using state = detail::set_state<F...>;
  using members = detail::set_members<F...>;

 public:
  using fabric = fabric_set<F...>;

  /// A listener opens each fabric that is here, another program the best one; the others open when they are needed.
  /// Errors: invalid (an option), and no fabric at all; the sentence has a reason for each.
  static result<transport> open(const transport_options& options) {
    std::optional<result<transport>> made;
    if (if_memory([&] { made.emplace(open_in_memory(options)); })) return *std::move(made);
    return {error(errc::no_memory, "open"), "no memory for a transport of fabric " + std::string(fabric::name)};
  }
  transport(transport&&) noexcept = default;
  /// The set that was here ends as a whole: its fabrics write into its state until they are gone.
  transport& operator=(transport&& other) noexcept {
    transport taken(std::move(other));
    const auto parts = [](auto& of) { return std::tie(of.state_, of.active_, of.open_, of.to_sweep_, of.members_); };
    [](auto mine, auto theirs) { mine.swap(theirs); }(parts(*this), parts(taken));
    return *this;
  }

  using detail::set_posting_calls<transport, F...>::flush;
  template <event_handler Handler>
  status flush(peer to, duration timeout, Handler&& on) {
    return to_member(to, [&](auto& net, auto) { return net.flush(to, timeout, on); });
  }

  // ---- progress
  /// Makes one step of progress on each fabric that has peers. Never waits.
  template <event_handler Handler>
  [[gnu::always_inline]] int progress(Handler&& on) {
    return poll_sole(on);
  }
  template <class Handler>
  requires(!event_handler<Handler>) int progress(Handler&&) { return detail::takes_every_event<Handler>(), 0; }
  template <class Done, event_handler Handler>
  status until(Done&& done, duration timeout, Handler&& on) {
    static_assert(!std::same_as<std::remove_cvref_t<std::invoke_result_t<Done&>>, status>,
                  "weft: until() would repeat a post that can never succeed: use net.retry(post, timeout, handler), "
                  "which repeats only `again` [WEFT-C013]");
    if (is_handling()) return error(errc::invalid, "waiting inside a handler");
    const instant end = after(now(), timeout);
    for (std::uint32_t idle = 0; !done();) {
      idle = progress(on) > 0 ? 0 : idle + 1;
      if (done()) return {};
      if (idle % 16 == 15 && now() >= end) return error(errc::deadline, "until");
      if (idle % 32 == 31) std::this_thread::yield();  // the peer may need this processor
      if (idle > 2000 && state_->options.sleeps) (void)this->wait(end - now());
    }
    return {};
  }
  template <class Post, event_handler Handler>
  status retry(Post&& post, duration timeout, Handler&& on) {
    static_assert(std::same_as<std::remove_cvref_t<std::invoke_result_t<Post&>>, status>,
                  "weft: retry() takes a post that returns weft::status; for a condition use net.until() [WEFT-C014]");
    status answered = post();
    if (!answered.is_again()) return answered;
    const auto settled = [&] { return !(answered = post()).is_again(); };
    const status waited = until(settled, timeout, on);
    if (!answered.is_again()) return answered;
    if (waited.code != errc::deadline) return waited;
    return {errc::deadline, origin::weft, answered.native_code, answered.operation};
  }
  instant now() const noexcept {
    instant at{};
    bool first = true;
    members_.each([&](const auto& net, auto) {
      if (std::exchange(first, false)) at = net.now();
    });
    return at;
  }

  // ---- limits and counters: the least, or the sum, of the open fabrics
  const port_limits& limits() const noexcept { return state_->limits; }
  std::uint32_t in_flight() const noexcept {
    return sum<std::uint32_t>([](const auto& net) { return net.in_flight(); });
  }
  const sleep_counts& sleeps() const noexcept {
    auto& all = state_->sleeps;
    all.missed_wakes = sum<std::uint64_t>([](const auto& net) { return net.sleeps().missed_wakes; });
    return all;
  }
  std::uint64_t stale() const noexcept {
    return sum<std::uint64_t>([](const auto& net) { return net.stale(); });
  }
  std::uint64_t garbled() const noexcept {
    return sum<std::uint64_t>([](const auto& net) { return net.garbled(); });
  }
  std::uint64_t turned_away() const noexcept {
    return sum<std::uint64_t>([](const auto& net) { return net.turned_away(); });
  }
  const truncation& refused_message() const noexcept {
    return one_that_happened([](const auto& net) -> const truncation& { return net.refused_message(); });
  }
  const truncation& overrun() const noexcept {
    return one_that_happened([](const auto& net) -> const truncation& { return net.overrun(); });
  }

 private:
  friend struct detail::transport_parts;
  template <class, class>
  friend class detail::set_region_calls;
  template <class, class, class...>
  friend class detail::set_memory_calls;
  template <class, class...>
  friend class detail::set_peer_calls;
  template <class, class...>
  friend class detail::set_fabric_calls;
  template <class, class...>
  friend class detail::set_posting_calls;
  template <class, class...>
  friend class detail::set_sleeping_calls;
  template <class, class>
  friend class detail::atomic_calls;
  friend typename detail::tagged_of_fabrics<F...>::template calls<transport, F...>;
  template <class>
  friend class detail::set_atomic_posts;

  static constexpr std::int32_t polls_between_clocks = 32;  ///< At the clock, as in timers.hpp.
  static constexpr duration between_sweeps = 1ms;

  transport() = default;

  static result<transport> open_in_memory(const transport_options& options) {
    transport made;
    made.state_ = std::make_unique<state>(options);
    if (auto opened = detail::set_opening<F...>(*made.state_, made.members_).open(); !opened)
      return std::move(opened).error();
    made.members_.each([&](auto&, auto index) { made.open_ |= std::uint32_t{1} << index(); });
    return made;
  }

  /// Calls body(transport, number as a type) for the fabric of a peer. An open fabric refuses nobody's handle.
  template <class Body>
  decltype(auto) to_member(peer to, Body&& body) {
    return members_.at(detail::peer_access::member(to), body);
  }
  /// The same for posts. Requires: to.alive().
  template <class To, class Body>
  [[gnu::always_inline]] decltype(auto) to_living(const To& to, Body&& body) {
    if constexpr (detail::says_its_fabric<To>) {
      constexpr std::size_t index = members::template index_of<typename To::fabric>;
      static_assert(index < members::count, "weft: this peer_of<F> names a fabric that the set lacks [WEFT-C034]");
      return body(members_.template net<index>(), std::integral_constant<std::size_t, index>{});
    } else {
      return members_.at_living(detail::peer_access::member(to), body);
    }
  }
  /// The answer to a post to a peer that is not connected.
  [[gnu::cold, gnu::noinline]] status dead(peer to, const char* operation) noexcept {
    return to_member(to, [&](auto& net, auto) {
      auto& e = detail::transport_parts::engine_of(net);
      return detail::initiator<std::remove_reference_t<decltype(e)>>(e).dead(to, operation);
    });
  }

  /// Most often one fabric has peers. Then the poll is that fabric's alone, and its engine knows whether a handler
  /// runs. The first fabric is polled in place, because it is memory where there is any. A poll of another is a call,
  /// so that the first saves no registers for it.
  template <std::size_t I = 0, class Handler>
  [[gnu::always_inline]] int poll_sole(Handler& on) {
    if constexpr (I == members::count) {
      return poll_several(on);
    } else {
      if (state_->signals.sole != I) return poll_sole<I + 1>(on);
      return poll_member<I>(on);
    }
  }
  template <std::size_t I, class Handler>
  requires(I == 0) [[gnu::always_inline]] int poll_member(Handler& on) {
    return members_.template net<I>().progress(on);
  }
  template <std::size_t I, class Handler>
  requires(I > 0) [[gnu::noinline]] int poll_member(Handler& on) { return members_.template net<I>().progress(on); }
  template <class Handler>
  [[gnu::noinline]] int poll_several(Handler& on) {
    if (is_handling()) return 0;
    return --to_sweep_ < 0 ? sweep(on) : poll_members(on, active_);
  }
  template <class Handler>  // fabrics by their bits
  int poll_members(Handler& on, std::uint32_t which) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      return (((which >> I & 1U) != 0 ? members_.template net<I>().progress(on) : 0) + ...);
    }
    (std::make_index_sequence<members::count>());
  }
  /// Once in a while polls every open fabric, answers callers, and finds out which fabrics have peers: system calls,
  /// which cost more than many polls of memory.
  template <class Handler>
  int sweep(Handler& on) {
    const instant at = state_->rough_now();
    if (at < state_->sweep_at && active_ != 0) {
      are_active(active_);
      return poll_members(on, active_);
    }
    state_->sweep_at = at + between_sweeps;
    if (state_->side_channel) state_->side_channel->progress();
    const int found = poll_members(on, open_);
    std::uint32_t active = 0;
    state_->engines.each_open([&]<std::size_t I>(auto& engine) {
      const bool used = std::any_of(engine.peers.begin(), engine.peers.end(),
                                    [](const auto& r) { return r.state != detail::peer_state::free; }) ||
                        engine.operations.in_flight() > 0;
      active |= std::uint32_t{used} << I;
    });
    are_active(active);
    return found;
  }
  void sweep_soon() noexcept {
    state_->signals.sole = detail::set_signals::none;
    state_->sweep_at = instant::min();
    to_sweep_ = 0;
  }
  /// The next poll decides whether the fabric is the only one: now a handler of another fabric may run, and until it
  /// returns nothing may be polled.
  void now_active(std::size_t member) noexcept {
    active_ |= std::uint32_t{1} << member;
    state_->signals.sole = detail::set_signals::none;
    to_sweep_ = 0;
  }
  void are_active(std::uint32_t fabrics) noexcept {
    const bool one = std::has_single_bit(fabrics);
    active_ = fabrics;
    state_->signals.sole = one ? static_cast<std::uint32_t>(std::countr_zero(fabrics)) : detail::set_signals::none;
    to_sweep_ = one || fabrics == 0 ? 0 : polls_between_clocks;
  }
  /// The program's handler runs. Until it returns, progress() finds nothing.
  bool is_handling() const noexcept {
    bool runs = false;
    state_->engines.each_open([&]<std::size_t I>(const auto& engine) { runs = runs || engine.handling(); });
    return runs;
  }

  template <class T, class Of>
  T sum(Of&& of) const noexcept {
    T all{};
    members_.each([&](const auto& net, auto) { all += of(net); });
    return all;
  }
  template <class Of>
  const truncation& one_that_happened(Of&& of) const noexcept {
    const truncation* found = nullptr;
    members_.each([&](const auto& net, auto) {
      if (found == nullptr || (found->times == 0 && of(net).times > 0)) found = &of(net);
    });
    return *found;
  }

  // ---- for atomic_calls
  detail::set_atomic_posts<transport> atomic_posts_() noexcept { return detail::set_atomic_posts<transport>(*this); }
  template <class Post>
  [[gnu::always_inline]] status after_waiting(peer /*to*/, Post&& post) const noexcept {
    return post();  // set_atomic_posts asks the coalescer of the peer's fabric
  }

  std::unique_ptr<state> state_;  // declared before the transports, which are destroyed first
  std::uint32_t active_ = 0;      ///< Bit I: fabric I has peers.
  std::uint32_t open_ = 0;        ///< Bit I: fabric I is open.
  std::int32_t to_sweep_ = 0;     ///< Polls until a sweep, while no fabric is the only one with peers.
  members members_;
};

}  // namespace weft
