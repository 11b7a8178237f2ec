// SPDX-License-Identifier: Apache-2.0
//
// The port over the kernel's stream sockets, without a library: core/port.hpp in sendmsg(2) and recvmsg(2).
// A post on a quiet link is one system call, and the bytes of a write go from the socket into the target's region.
// Nothing moves at the target unless it polls: its poll is what writes and what answers reads.
// Hot path: post_receive to poll. Threads: one owner.
#pragma once

#include "../../core/sleep_descriptors.hpp"
#include "../mapped/sleeping.hpp"
#include "connections.hpp"
#include "post_calls.hpp"
#include "receiving.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace weft::backends::streams {

/// A Linux header cannot say which kernel will run the program, so rows over this backend have no version ranges.
inline constexpr library_version built_with{};

template <port_shape Shape>
class port : public post_calls<Shape> {
  static_assert(
      !Shape::virtual_address && !Shape::provider_key && !Shape::bind_regions && !Shape::local_descriptor,
      "weft: regions of socket streams are addressed by offsets, weft makes their keys, and they are bound to "
      "no endpoint [WEFT-C039]");
  static_assert(!Shape::remote_counter && !Shape::receive_reserve && !Shape::multi_receive && !Shape::shared_receives,
                "weft: streams have no counter of remote writes, their notices consume no receive, and a receive takes "
                "one message of one link [WEFT-C039]");
  static_assert(!Shape::two_queues && Shape::threads == thread_level::one_owner,
                "weft: streams have one queue for transmits and receives, and no library [WEFT-C039]");
  static_assert(!Shape::framed && !Shape::native_atomics,
                "weft: messages of streams carry an immediate, and their targets execute atomics [WEFT-C039]");
  static_assert(Shape::facts.endpoint_type == endpoint_type::connected,
                "weft: links of streams are connections [WEFT-C039]");
  static_assert(Shape::facts.inject_bytes <= most_injected && Shape::facts.gather_limit <= most_pieces &&
                    Shape::facts.rma_gather_limit <= most_pieces,
                "weft: the row promises larger injects, or more pieces, than a link of streams has room for "
                "[WEFT-C039]");

  using base = post_calls<Shape>;
  using base::attended_;
  using base::ends_;

 public:
  using link = link_handle;
  using oob_exchange = backends::oob_exchange::tcp;
  static constexpr bool link_has_receives = true;
  static constexpr bool link_polls_are_system_calls = true;

  /// Errors: refusals of the system, with the name of the call.
  static result<std::unique_ptr<port>> open(const port_options& options) {
    std::unique_ptr<port> made(new port(options));
    if (auto opened = made->links_.open(options); !opened) return std::move(opened).error();
    return made;
  }
  port(const port&) = delete;
  port& operator=(const port&) = delete;

  const port_limits& limits() const noexcept { return limits_; }
  address_bytes address() const { return links_.address(); }
  std::string printable(const address_bytes& address) const {
    const auto readable = socket_address::of(address);
    return readable ? readable->printable() : std::to_string(address.size()) + " bytes that are no socket address";
  }
  result<address_bytes> resolve(std::string_view node, std::string_view service) {
    auto found = resolved(node, service, 0, who());
    if (!found) return std::move(found).error();
    return found->copied();
  }

  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    auto made = links_.dial(to, tag);
    if (!made) return std::move(made).error();
    return link{*made};
  }
  void hang_up(link& gone) {
    connection* const held = std::exchange(gone.held, nullptr);
    if (held == nullptr) return;
    if (held->is_up()) send_waiting(*held, true, sender::last_calls);
    give_places_back(*held, ends_);
    std::erase(attended_, held);
    links_.hang_up(held);
  }
  /// Reads the sockets that are being set up when an event is due, and now and then: that is a system call.
  template <class On>
  void poll_links(On&& on) {
    if (!links_.has_changes() && (!links_.sets_up() || (++quiet_calls_ < quiet_calls && now_roughly() < next_poll_)))
      return;
    quiet_calls_ = 0;
    links_.poll();
    next_poll_ = now_roughly() + duration(1);
    const auto reported = [&on](link_change change, std::uint32_t tag, connection* of) {
      return on(change, tag, link{of});
    };
    links_.report(reported);
  }
  /// A number for the caller's host.
  std::uint64_t host_of(link of) const noexcept { return of.held->host; }
  /// Sets the transport's object for the link. Notices of the link carry it, so they need no connection number.
  void belongs_to(link to, void* owner) noexcept { to.held->owner = owner; }

  result<registration> register_memory(bytes where, rights granted, std::uint64_t wanted_key) {
    if (granted != rights::none) regions_.add(wanted_key, where, granted);
    return registration{nullptr, nullptr, wanted_key, where.data(), where.size()};
  }
  result<registration> register_local(bytes where) {
    return registration{nullptr, nullptr, 0, where.data(), where.size()};
  }
  /// No byte lands in the region, and none is read from it, after the call.
  void deregister(registration& gone) {
    regions_.erase(gone.key);
    for (const auto& each : links_.all())
      if (each->is_up()) forget_region(*each, gone.key);
    gone = {};
  }

  /// Posts the last reported receive again, with its memory. False: `context` is another one's; call post_receive().
  bool post_again(link from, void* context) noexcept { return from.held->receives.post_again(context); }
  status post_receive(link from, local_memory into, void* context) noexcept {
    if (from.held->receives.full()) [[unlikely]]
      return again(waits_for::queue, "post_receive");
    from.held->receives.post({into.data, into.size, context});
    return {};
  }

  template <class On>
  int poll(On&& on) {
    if (links_.has_retired()) [[unlikely]]
      links_.forget_retired();
    ++poll_;
    int reported = ends_.empty() ? 0 : report_ends(most_ends, on);
    if (connection* const c = links_.only()) reported += progress(*c, most_reported - reported, on);
    else if (links_.has_established()) reported += progress_ready(most_reported - reported, on);
    if (!attended_.empty()) reported += progress_attended(most_reported - reported, on);
    return ends_.empty() ? reported : reported + report_ends(most_reported - reported, on);
  }

  instant now() const noexcept { return std::chrono::steady_clock::now(); }
  /// The time of the kernel's last timer tick, milliseconds late at most.
  instant now_roughly() const noexcept { return mapped::rough_time(); }
  status wait(instant until) noexcept {
    if (has_changes()) return {};
    prepare_sleep();
    if (!mapped::sleep_on(links_.events(), until - now())) return error(errc::deadline, "wait");
    next_poll_ = {};
    return {};
  }
  bool arm(sleep_descriptors& on) noexcept {
    if (has_changes()) return false;
    prepare_sleep();
    on.add(links_.events());
    return true;
  }
  void disarm(bool came) noexcept {
    if (came) next_poll_ = {};
  }
  int descriptor() const noexcept { return links_.events(); }

 private:
  static constexpr std::uint32_t quiet_calls = 64;  ///< Calls of poll_links until the sockets are read anyway.
  static constexpr int most_reported = 16;
  /// A caller that posts without pause always has ends: arrivals get half of each poll.
  static constexpr int most_ends = 8;
  static constexpr int most_frames = 64;  ///< Of one link in one poll.

  explicit port(const port_options& options)
      : base(2 * options.operations + 256),
        links_(options,
               std::clamp(std::bit_ceil(std::max(options.operations, Shape::facts.queue_depth)), hello::least_window,
                          hello::most_window),
               who()) {
    attended_.reserve(links_.most() + 1);
    limits_.inject_bytes = Shape::facts.inject_bytes;
    limits_.queue_depth = std::max<std::size_t>(options.operations, Shape::facts.queue_depth);
    limits_.largest_message = Shape::facts.largest_message;
    limits_.largest_write = Shape::facts.largest_write;
    limits_.library = "Linux";
  }
  static std::string who() { return "fabric " + std::string(Shape::name); }

  template <class On>
  [[gnu::always_inline]] int report_ends(int most, On& on) {
    int reported = 0;
    for (; reported < most && !ends_.empty(); ++reported) {
      const pending_completion e = ends_.pop();
      on(completion_entry{completion_kind::ended, e.context, 0, 0, {e.how, origin::weft, 0, "stream socket"}});
    }
    return reported;
  }

  /// Takes the frames of a link that are there. The handler may hang up the link.
  template <class On>
  [[gnu::noinline]] int progress(connection& c, int most, On& on) {
    int reported = 0, frames = 0;
    c.polled = poll_;
    c.has_more = false;
    receiver in(c, ends_, regions_);
    for (;;) {
      if (reported >= most || frames == most_frames) {
        c.has_more = true;
        break;
      }
      const auto step = in.take_next();
      if (step == receiver::step::nothing) break;
      if (step == receiver::step::finished) {
        links_.fail(c);
        return reported;
      }
      ++frames;
      if (!in.has_entry) continue;
      ++reported;
      on(in.came, c.owner);
      if (!c.is_up()) return reported;
    }
    if (in.read_something) c.heard = poll_;
    if (c.needs_attention()) this->attend(c);
    return reported;
  }
  template <class On>
  [[gnu::noinline]] int progress_ready(int most, On& on) {
    std::array<epoll_event, 16> came;
    const int count = ::epoll_wait(links_.carrying_events(), came.data(), static_cast<int>(came.size()), 0);
    int reported = 0;
    for (int i = 0; i < count && reported < most; ++i) {
      connection& c = *static_cast<connection*>(came[static_cast<std::size_t>(i)].data.ptr);
      if (c.is_up()) reported += progress(c, most - reported, on);
    }
    return reported;
  }
  /// Links with something to send, and links whose frames wait here. From the end: handlers add and remove links.
  template <class On>
  [[gnu::noinline]] int progress_attended(int most, On& on) {
    int reported = 0;
    for (std::size_t i = attended_.size(); i-- > 0;) {
      if (i >= attended_.size()) continue;
      connection& c = *attended_[i];
      if (c.polled != poll_ && c.has_arrivals() && reported < most) {
        reported += progress(c, most - reported, on);
        if (i >= attended_.size() || attended_[i] != &c) continue;
      }
      send_waiting(c, c.heard != poll_);
      if (c.needs_attention()) continue;
      c.attended = false;
      attended_[i] = attended_.back();
      attended_.pop_back();
    }
    return reported;
  }
  /// Sends what waits. `quiet`: nothing came in this poll, so the caller had time for a reply that carries the count.
  void send_waiting(connection& c, bool quiet, int most_calls = sender::most_calls) noexcept {
    if (!c.is_up() || c.out.broken) return;
    sender out(c, ends_, most_calls);
    if (c.has_to_send()) out.advance();
    if (!c.has_to_send() && c.count_is_due() && (quiet || c.count_is_overdue())) out.announce_count();
  }

  bool has_changes() const noexcept {
    return links_.has_changes() || !ends_.empty() ||
           std::any_of(attended_.begin(), attended_.end(), [](const connection* each) { return each->has_arrivals(); });
  }
  /// From here on, only an event of a socket brings news.
  void prepare_sleep() noexcept {
    links_.prepare_sleep();
    for (connection* each : attended_) send_waiting(*each, true);
    for (const auto& each : links_.all()) {
      if (!each->is_up()) continue;
      const std::uint32_t in = each->in.at == incoming::stage::no_receive ? EPOLLERR : EPOLLIN;
      links_.wait_for(*each, in | (each->has_to_send() && !each->out.broken ? EPOLLOUT : 0U));
    }
  }

  regions regions_;
  connections links_;
  std::uint32_t poll_ = 0;  ///< Number of the current poll.
  std::uint32_t quiet_calls_ = 0;
  instant next_poll_{};
  port_limits limits_;
};

}  // namespace weft::backends::streams
