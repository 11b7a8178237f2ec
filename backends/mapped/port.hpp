// SPDX-License-Identifier: Apache-2.0
//
// The port between two processes of one host, without a provider: core/port.hpp in loads and stores.
// A put is a store into the peer's mapped memory. An atomic is an instruction of the processor. A notice is an entry of
// the peer's ring.
// An operation has ended when its posting call returns; the next poll reports it.
// Hot path: post_receive to poll. Threads: one owner.
#pragma once

#include "../../core/poll_spacing.hpp"
#include "../../core/sleep_descriptors.hpp"
#include "../oob_exchange/tcp.hpp"
#include "connections.hpp"
#include "post_calls.hpp"
#include "receiving.hpp"
#include "shared_regions.hpp"
#include "sleeping.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace weft::backends::mapped {

/// A Linux header cannot say which kernel will run the program, so rows over this backend have no version ranges.
inline constexpr library_version built_with{};

template <port_shape Shape>
class port : public post_calls<Shape> {
  static_assert(!Shape::virtual_address && Shape::provider_key && !Shape::bind_regions,
                "weft: mapped memory is addressed by offsets, the owner's port makes its keys, and it is bound "
                "to no endpoint [WEFT-C039]");
  static_assert(
      !Shape::remote_counter && !Shape::receive_reserve && !Shape::multi_receive && !Shape::shared_receives,
      "weft: mapped memory has no counter of remote writes, its notices consume no receive, and a receive takes one "
      "message of one link [WEFT-C039]");
  static_assert(!Shape::two_queues && Shape::threads == thread_level::one_owner,
                "weft: mapped memory has one queue for transmits and receives, and no library [WEFT-C039]");
  static_assert(!Shape::framed, "weft: messages of mapped memory carry an immediate [WEFT-C039]");
  static_assert(Shape::facts.endpoint_type == endpoint_type::connected,
                "weft: links of mapped memory are connections [WEFT-C039]");

 public:
  using link = link_handle;
  using oob_exchange = backends::oob_exchange::tcp;
  static constexpr bool link_has_receives = true;
  /// Errors: refusals of the system, with the name of the call.
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
    return {error(errc::unsupported, "resolve"),
            who() + ": addresses are opaque here; fetch the peer's through the side channel"};
  }
  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    auto made = links_.dial(to, tag);
    if (!made) return std::move(made).error();
    return link{*made};
  }
  /// Whether the peer has not copied all messages that were lent to it.
  bool lends_to(link to) const noexcept { return to.held != nullptr && posts_.lends_to(*to.held); }
  void hang_up(link& gone) {
    if (gone.held != nullptr) posts_.forget(*gone.held);
    links_.hang_up(std::exchange(gone.held, nullptr));
  }
  /// Reads the sockets when an event is due, and now and then: that is a system call.
  template <class On>
  void poll_links(On&& on) {
    if (!links_.has_changes() && ++quiet_calls_ < quiet_calls && now_roughly() < next_poll_) return;
    quiet_calls_ = 0;
    links_.poll();
    next_poll_ = now_roughly() + duration(1);
    const auto reported = [&on](link_change change, std::uint32_t tag, connection* of) {
      return on(change, tag, link{of});
    };
    links_.report(reported);
  }

  result<registration> register_memory(bytes where, rights granted, std::uint64_t) {
    return regions_.register_memory(where, granted);
  }
  result<registration> register_local(bytes where) {
    return registration{nullptr, nullptr, 0, where.data(), where.size()};
  }
  result<registration> register_fresh(std::size_t size, rights granted, std::uint64_t) {
    return regions_.register_fresh(size, granted);
  }
  /// A receiver that copies a message late still finds its bytes.
  void deregister(registration& gone) {
    static_assert(shared_regions::most_kept >= posts::most_lent);
    regions_.deregister(gone, [this](const_bytes some) { return posts_.are_lent(some); });
  }

  /// Posts the last reported receive again, with its memory. False: `context` is another one's; call post_receive().
  [[gnu::always_inline]] bool post_again(link from, void* context) noexcept {
    return from.held->receives.post_again(context);
  }
  [[gnu::always_inline]] status post_receive(link from, local_memory into, void* context) noexcept {
    if (from.held->receives.full()) [[unlikely]]
      return again(waits_for::queue, "post_receive");
    from.held->receives.post({into.data, into.size, context});
    return {};
  }

  /// Sets the transport's object for the link. Notices of the link carry it, so they need no connection number.
  void belongs_to(link to, void* owner) noexcept { to.held->owner = owner; }

  template <class On>
  int poll(On&& on) {
    if (links_.has_chores()) links_.tidy();
    return report_all(posts_, next_, on);
  }

  /// A quick poll (compose/engine/poll_budget.hpp) checks completions and the next entry of each link's ring, and
  /// nothing else. Links that were hung up and mappings that are too small wait for a full poll.
  struct entries {
    connection* from;  ///< The first link with an entry in its ring; null: poll all.
  };
  class reader {
   public:
    explicit reader(const port& of) noexcept : of_(&of) {}
    [[gnu::always_inline]] int read(entries& found) noexcept {
      const port& of = *of_;
      polls_.before_poll();
      found.from = nullptr;
      if (!of.posts_.ends().quiet()) [[unlikely]]
        return 1;
      const auto* link = of.links_.near_begin();
      const auto* const end = of.links_.near_end();
      if (link == end) [[unlikely]]
        return of.links_.all().empty() ? 0 : 1;
      do {
        connection& c = **link;
        if (c.in.has_front()) [[unlikely]] {
          found.from = &c;
          return 1;
        }
        c.arriving.fetch();  // The lines of the notified bytes travel together with the line of the next notice.
      } while (++link != end);
      return 0;
    }
    [[gnu::always_inline]] void found() noexcept { polls_.found(); }
    static constexpr bool failed(int) noexcept { return false; }

   private:
    const port* of_;
    poll_spacing<line_spacing> polls_;
  };
  static constexpr bool reads_quickly = true, makes_entries = true;
  reader queue_reader() const noexcept { return reader(*this); }
  template <class On>
  [[gnu::always_inline]] int report_entries(const entries& found, int, On&& on) {
    if (found.from == nullptr) [[unlikely]]
      return report_all(posts_, next_, on);
    const int reported = report_from(*found.from, most_reported, on);
    return links_.are_several() ? report_others(links_, *found.from, reported, on) : reported;
  }
  template <class On>
  int report_error(On&& on) {
    return report_all(posts_, next_, on);
  }

  instant now() const noexcept { return std::chrono::steady_clock::now(); }
  /// The time of the kernel's last timer tick, milliseconds late at most. It costs a sixth of reading the clock;
  /// spinning callers ask often.
  instant now_roughly() const noexcept { return rough_time(); }
  status wait(instant until) noexcept {
    const auto poll = [this] { return has_changes(); };
    if (!sleep_unless(regions_.own().head().asleep, poll, [this, until] { return sleep(until); }))
      return error(errc::deadline, "wait");
    next_poll_ = {};
    return {};
  }
  bool arm(sleep_descriptors& on) noexcept {
    auto& asleep = regions_.own().head().asleep;
    if (has_changes() || posts_.starved()) return false;
    announce_sleep(asleep);
    if (has_changes()) {
      asleep.store(0, std::memory_order_relaxed);
      return false;
    }
    on.add(links_.events());
    return true;
  }
  void disarm(bool came) noexcept {
    regions_.own().head().asleep.store(0, std::memory_order_relaxed);
    if (!came) return;
    links_.read_all_packets();
    next_poll_ = {};
  }
  int descriptor() const noexcept { return links_.events(); }

 private:
  static constexpr std::uint32_t quiet_calls = 64;  ///< Calls of poll_links until the sockets are read anyway.

  port(std::unique_ptr<arena> own, const port_options& options, const std::string& who)
      : regions_(std::move(own), who),
        links_(regions_.own(), options, who),
        posts_(links_, 2 * options.operations + 256) {
    limits_.inject_bytes = Shape::facts.inject_bytes;
    limits_.queue_depth = std::max<std::size_t>(options.operations, Shape::facts.queue_depth);
    // Rings are sized for the largest message that this side takes.
    limits_.largest_message = Shape::facts.largest_message;
    limits_.largest_write = Shape::facts.largest_write;
    limits_.library = "Linux";
  }
  static std::string who() { return "fabric " + std::string(Shape::name); }
  bool has_changes() const noexcept { return posts_.has_ends() || links_.has_changes_or_arrivals(); }
  /// False: nothing arrived. No peer reports free room in its ring, so a port that waits for room polls again soon.
  bool sleep(instant until) noexcept {
    const bool starved = posts_.starved();
    const duration left = until - now();
    if (!sleep_on(links_.events(), starved ? std::min(left, duration(std::chrono::milliseconds(1))) : left))
      return starved;
    links_.read_all_packets();
    return true;
  }

  shared_regions regions_;
  connections links_;
  posts posts_;
  std::size_t next_ = 0;  ///< The link that a full poll begins with.
  std::uint32_t quiet_calls_ = 0;
  instant next_poll_{};
  port_limits limits_;
};

}  // namespace weft::backends::mapped
