// SPDX-License-Identifier: Apache-2.0
//
// The links of a port and their sockets. A link is established when both sides have each other's files.
// It ends when its socket ends: the kernel ensures that for killed peers too. The loss is reported after everything
// that arrived before.
// Hot path: port::poll reads the established links. Threads: one owner.
#pragma once

#include "../../core/if_memory.hpp"
#include "../process/spare_descriptor.hpp"
#include "arena.hpp"
#include "connection.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::mapped {

class connections {
 public:
  connections(arena& own, const port_options& options, std::string who)
      : own_(own),
        who_(std::move(who)),
        most_receives_(std::max(options.receives, 1U)),
        most_links_(options.links),
        payload_((std::max<std::uint64_t>(ring_memory::least_payload, 4 * options.least_room) + 4095) / 4096 * 4096),
        sleeps_(options.sleeps) {}

  void set_posts(posts& all) noexcept { posts_ = &all; }

  result<void> open(bool listens) {
    events_ = file(::epoll_create1(EPOLL_CLOEXEC));
    if (!events_) return refused_by_system(errno, "epoll_create1", who_);
    if (!listens) return {};
    address_ = drawn_address();
    listener_ = file(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!listener_) return refused_by_system(errno, "socket", who_);
    const auto name = socket_name::of(address_);
    if (::bind(listener_.get(), name->get(), name->size) != 0) return refused_by_system(errno, "bind", who_);
    if (::listen(listener_.get(), 1024) != 0) return refused_by_system(errno, "listen", who_);
    spare_.keep();
    if (!watch(listener_, nullptr)) return refused_by_system(errno, "epoll_ctl", who_);
    return {};
  }

  const address_bytes& address() const noexcept { return address_; }
  const arena& own() const noexcept { return own_; }
  int events() const noexcept { return events_.get(); }
  const std::vector<std::unique_ptr<connection>>& all() const noexcept { return links_; }
  /// Up to this number, each poll checks all links. Beyond it, polls take turns.
  static constexpr std::size_t most_near = 64;
  [[gnu::always_inline]] const std::unique_ptr<connection>* near_begin() const noexcept { return near_begin_; }
  [[gnu::always_inline]] const std::unique_ptr<connection>* near_end() const noexcept { return near_end_; }
  bool are_several() const noexcept { return several_; }
  /// Moves a link to the end of the list, so a busy sender delays no other link. The link may have been hung up.
  [[gnu::cold, gnu::noinline]] void last_poll_at(const connection& busy) noexcept {
    const auto at = links_.begin() + static_cast<std::ptrdiff_t>(place_of(busy));
    if (at != links_.end()) std::rotate(at, at + 1, links_.end());
  }
  /// Index of the link; of a link that was hung up: the number of links.
  std::size_t place_of(const connection& link) const noexcept {
    return static_cast<std::size_t>(
        std::find_if(links_.begin(), links_.end(), [&link](const auto& each) { return each.get() == &link; }) -
        links_.begin());
  }

  result<connection*> dial(const address_bytes& to, std::uint32_t tag) {
    if (!socket_name::of(to))
      return failure{error(errc::invalid, "dial"),
                     who_ + ": an address to dial has 1 to 107 bytes, this one " + std::to_string(to.size())};
    if (links_.size() >= most_links_)
      return failure{error(errc::invalid, "dial"),
                     who_ + ": more than port_options::links (" + std::to_string(most_links_) + ") at once"};
    auto made = fresh(file(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
    if (!made) return std::move(made).error();
    connection& link = **made;
    link.tag = tag;
    link.dialled = to;
    link.phase = link_phase::dialling;
    add(std::move(made).value());
    call(link);
    return &link;
  }

  /// Ends a link: nothing more is reported for it. Its memory stays until the next poll.
  void hang_up(connection* gone) {
    const auto held =
        std::find_if(links_.begin(), links_.end(), [gone](const auto& each) { return each.get() == gone; });
    if (held == links_.end()) return;
    (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, gone->socket.get(), nullptr);
    gone->phase = link_phase::gone;
    gone->socket = file();
    retired_.push_back(std::move(*held));
    chores_ = true;
    links_.erase(held);
    count_links();
  }
  /// A post found a place beyond the mapped part of its peer's memory.
  void want_growth() noexcept { grows_ = chores_ = true; }
  /// Whether maintenance is due before the next poll.
  bool has_chores() const noexcept { return chores_; }
  [[gnu::cold, gnu::noinline]] void tidy() noexcept {
    chores_ = false;
    retired_.clear();
    if (!std::exchange(grows_, false)) return;
    for (const auto& each : links_)
      if (each->was_established && each->there.wants_growth() && !each->there.grow()) fail(*each);
  }

  /// Reads the sockets: one system call, so it is called now and then.
  void read_all_packets() {
    std::array<epoll_event, 32> came{};
    const int count = ::epoll_wait(events_.get(), came.data(), static_cast<int>(came.size()), 0);
    for (int i = 0; i < count; ++i) {
      auto* link = static_cast<connection*>(came[static_cast<std::size_t>(i)].data.ptr);
      if (link == nullptr) admit();
      else read_packets(*link);
    }
    changes_ = changes_ || count == static_cast<int>(came.size());
  }

  /// Whether a change must be reported or a connect repeated.
  bool has_changes() const noexcept { return changes_; }
  /// The same, or an arrival.
  bool has_changes_or_arrivals() const noexcept {
    return changes_ || grows_ ||
           std::any_of(links_.begin(), links_.end(), [](const auto& each) { return each->has_entry(); });
  }
  void poll() {
    changes_ = false;
    read_all_packets();
    for (const auto& each : links_) {
      if (each->phase == link_phase::dialling) call(*each);
      if (each->phase == link_phase::arrived && std::chrono::steady_clock::now() - each->since > patience)
        each->phase = link_phase::ending;
    }
  }
  /// Reports every change once.
  template <class On>
  void report(On& on) {
    while (connection* link = next_change()) report_one(*link, on);
    const auto unsettled = [](const auto& each) {
      return each->phase == link_phase::dialling || each->phase == link_phase::ending;
    };
    changes_ = changes_ || std::any_of(links_.begin(), links_.end(), unsettled);
  }

  /// Ends a link owner peer violated the protocol.
  void fail(connection& link) noexcept {
    link.phase = link_phase::ending;
    changes_ = true;
  }

 private:
  static constexpr duration patience = std::chrono::seconds(1);
  static constexpr int most_at_once = 64;  ///< Callers, or packets of a link, in one poll.

  /// Keeps a link. There is room for its end already.
  void add(std::unique_ptr<connection> made) {
    retired_.reserve(retired_.size() + links_.size() + 1);
    links_.push_back(std::move(made));
    count_links();
  }
  void count_links() noexcept {
    near_begin_ = links_.data();
    near_end_ = near_begin_ + (links_.size() <= most_near ? links_.size() : 0);
    several_ = links_.size() > 1;
  }
  bool watch(const file& socket, connection* link) noexcept {
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLRDHUP;
    wanted.data.ptr = link;
    return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket.get(), &wanted) == 0;
  }

  /// Makes a link with this side's ring. No peer knows it yet.
  result<std::unique_ptr<connection>> fresh(file socket) {
    if (!socket) return refused_by_system(errno, "socket", who_);
    auto made = std::make_unique<connection>(most_receives_);
    if (auto ring = made->make_ring(payload_, who_); !ring) return std::move(ring).error();
    made->socket = std::move(socket);
    made->through = posts_;
    made->own_memory = own_.start();
    made->since = std::chrono::steady_clock::now();
    if (!watch(made->socket, made.get())) return refused_by_system(errno, "epoll_ctl", who_);
    return made;
  }

  void call(connection& link) noexcept {
    const auto to = socket_name::of(link.dialled);
    if (::connect(link.socket.get(), to->get(), to->size) == 0) {
      link.process = peer_process(link.socket);
      link.phase = link.process != 0 && say_hello(link) ? link_phase::hello_sent : link_phase::ending;
    } else if (errno != EAGAIN && errno != EINTR) {
      link.phase = link_phase::ending;
    }
    changes_ = true;
  }
  bool say_hello(connection& link) noexcept {
    hello_packet mine;
    mine.entries = ring_memory::entries;
    mine.payload = payload_;
    mine.arena = own_.size();
    mine.sleeps = sleeps_ ? 1 : 0;
    const bool said = send_hello(link.socket, mine, own_.memory(), link.own_ring);
    link.own_ring = file();
    return said;
  }

  void admit() {
    for (int i = 0; i < most_at_once; ++i) {
      file socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) return void(spare_.turn_away_from(listener_.get(), errno));
      const pid_t process = peer_process(socket);
      if (process == 0 || links_.size() >= most_links_) continue;
      bool admitted = false;
      const bool had_memory = if_memory([&] {
        auto made = fresh(std::move(socket));
        if (!made) return;
        made.value()->process = process;
        made.value()->phase = link_phase::arrived;
        add(std::move(made).value());
        admitted = true;
      });
      if (had_memory && admitted) read_packets(*links_.back());  // Else the socket is closed: the peer is refused.
    }
  }

  void read_packets(connection& link) noexcept {
    for (int i = 0; i < most_at_once; ++i) {
      packet came = receive_packet(link.socket);
      if (came.what == packet::kind::nothing) return;
      if (came.what == packet::kind::wake) continue;
      if (link.phase == link_phase::dialling) return;  // Not connected yet: sockets report that as an end.
      changes_ = true;
      const bool due = link.phase == link_phase::hello_sent || link.phase == link_phase::arrived;
      if (came.what == packet::kind::end || !due || !link.map_peer(came, who_)) {
        link.phase = link_phase::ending;
        (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, link.socket.get(), nullptr);  // It would be readable for ever.
        return;
      }
      link.phase = link.phase == link_phase::arrived ? link_phase::hello_received : link_phase::established;
    }
  }

  /// A link with a change that the transport does not know yet.
  connection* next_change() const noexcept {
    for (const auto& each : links_) {
      if (each->phase == link_phase::hello_received ||
          (each->phase == link_phase::established && !each->was_established))
        return each.get();
      if (each->phase == link_phase::ending && !each->has_entry()) return each.get();
    }
    return nullptr;
  }
  template <class On>
  [[gnu::cold, gnu::noinline]] void report_one(connection& link, On& on) {
    if (link.phase == link_phase::hello_received) return offer(link, on);
    if (link.phase == link_phase::established) {
      link.was_established = true;
      on(link_change::established, link.tag, &link);
      return;
    }
    const bool known = link.tag != no_tag;
    link.phase = link_phase::gone;
    if (known) on(link.was_established ? link_change::lost : link_change::refused, link.tag, &link);
    else hang_up(&link);
  }
  template <class On>
  void offer(connection& link, On& on) {
    link.phase = link_phase::arrived;  // Reported, with any result.
    const std::uint32_t tag = on(link_change::arrived, no_tag, &link);
    if (link.phase == link_phase::gone) return;  // The handler hung up.
    link.tag = tag;
    if (tag == no_tag) return hang_up(&link);
    link.phase = say_hello(link) ? link_phase::established : link_phase::ending;
  }

  arena& own_;
  std::string who_;
  std::uint32_t most_receives_;
  std::size_t most_links_;
  std::uint64_t payload_;
  bool sleeps_;
  posts* posts_ = nullptr;
  bool changes_ = false;
  bool chores_ = false, grows_ = false, several_ = false;
  address_bytes address_;
  file events_, listener_;
  process::spare_descriptor spare_;
  std::vector<std::unique_ptr<connection>> links_, retired_;
  const std::unique_ptr<connection>*near_begin_ = nullptr, *near_end_ = nullptr;
};

}  // namespace weft::backends::mapped
