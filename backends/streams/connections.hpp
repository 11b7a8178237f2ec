// SPDX-License-Identifier: Apache-2.0
//
// The links of a port and their sockets: dialled, accepted, reported, hung up. A link is established when both sides
// have said hello. It ends when its stream ends: the kernel ensures that for killed peers too (tcp(7)).
// One epoll set has the links that carry messages, one has those that are being set up, and a third has both, for a
// sleeper: so a poll of messages never wakes for strangers. A socket in a set costs its sender some time with each
// packet. So a link that is alone enters a set only for a sleep, and the third set is filled by the first sleep.
// Hot path: only established(). Threads: one owner.
#pragma once

#include "../../core/if_memory.hpp"
#include "../process/spare_descriptor.hpp"
#include "connection.hpp"
#include "opening_sockets.hpp"
#include "strangers.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::streams {

class connections {
 public:
  connections(const port_options& options, std::uint32_t window, std::string who)
      : who_(std::move(who)),
        window_(window),
        most_receives_(std::max(options.receives, 1U)),
        most_links_(options.links),
        node_(options.node) {}

  result<void> open(const port_options& options) {
    setting_up_ = owned_socket(::epoll_create1(EPOLL_CLOEXEC));
    carrying_ = owned_socket(::epoll_create1(EPOLL_CLOEXEC));
    all_events_ = owned_socket(::epoll_create1(EPOLL_CLOEXEC));
    if (!setting_up_ || !carrying_ || !all_events_) return refused_by_system(errno, "epoll_create1", who_);
    return options.listens ? listen(options) : result<void>{};
  }

  address_bytes address() const { return own_address_ ? own_address_->copied() : address_bytes{}; }
  int events() const noexcept { return all_events_.get(); }
  int carrying_events() const noexcept { return carrying_.get(); }
  /// The only link that carries messages; null: none, or several.
  [[gnu::always_inline]] connection* only() const noexcept { return only_; }
  bool has_established() const noexcept { return established_ != 0; }
  const std::vector<std::unique_ptr<connection>>& all() const noexcept { return links_; }
  std::size_t most() const noexcept { return most_links_ + 1; }  // one more may be offered

  result<connection*> dial(const address_bytes& to, std::uint32_t tag) {
    const auto there = socket_address::of(to);
    if (!there)
      return failure{error(errc::invalid, "dial"), who_ + ": the address to dial (" + std::to_string(to.size()) +
                                                       " bytes) is no IPv4 (16 bytes) or IPv6 (28 bytes) address"};
    const std::string dialling = who_ + ": dialling " + there->printable();
    if (links_.size() >= most_links_)
      return failure{error(errc::invalid, "dial"),
                     dialling + ": more than port_options::links (" + std::to_string(most_links_) + ") at once"};
    auto socket = calling_socket(there->family(), node_, dialling);
    if (!socket) return std::move(socket).error();
    auto made = std::make_unique<connection>(most_receives_);
    made->socket = std::move(socket).value();
    made->socket_number = made->socket.get();
    made->tag = tag;
    if (::connect(made->socket_number, there->get(), there->size) != 0 && errno != EINPROGRESS)
      made->phase = link_phase::ending;  // reported as refused
    else if (!watch(setting_up_, made->socket_number, EPOLLOUT, made.get()))
      return refused_by_system(errno, "epoll_ctl", dialling);
    changes_ = true;
    return &add(std::move(made));
  }

  /// Ends a link: nothing more is reported for it. Its memory stays until the next poll.
  void hang_up(connection* gone) {
    const auto held =
        std::find_if(links_.begin(), links_.end(), [gone](const auto& each) { return each.get() == gone; });
    if (held == links_.end()) return;
    if (gone->is_up()) leave(*gone);
    gone->phase = link_phase::gone;
    read_out(*gone);
    gone->socket = owned_socket();  // leaves the epoll sets with its descriptor
    retired_.push_back(std::move(*held));
    links_.erase(held);
  }
  bool has_retired() const noexcept { return !retired_.empty(); }
  void forget_retired() noexcept { retired_.clear(); }

  /// A link's stream ended, or its peer broke the rules.
  [[gnu::cold, gnu::noinline]] void fail(connection& link) noexcept {
    if (link.is_up()) leave(link);
    link.phase = link_phase::ending;
    changes_ = true;
  }

  /// Whether poll_links has something to do.
  bool has_changes() const noexcept { return changes_; }
  /// Whether links are being set up: their sockets are read now and then.
  bool sets_up() const noexcept { return listener_ || !strangers_.empty() || links_.size() != established_; }
  /// Reads the sockets of links that are being set up: one system call.
  void poll() {
    changes_ = false;
    std::array<epoll_event, 32> came{};
    const int count = ::epoll_wait(setting_up_.get(), came.data(), static_cast<int>(came.size()), 0);
    bool callers = false;
    for (int i = 0; i < count; ++i) {
      void* const about = came[static_cast<std::size_t>(i)].data.ptr;
      if (about == this) callers = true;
      else if (strangers_.holds(about)) (void)hear(*static_cast<strangers::stranger*>(about));
      else set_up(*static_cast<connection*>(about));
    }
    strangers_.forget();
    if (callers) admit();
    changes_ = changes_ || count == static_cast<int>(came.size());
  }
  /// Reports every change once.
  template <class On>
  void report(On& on) {
    while (connection* link = next_change()) report_one(*link, on);
  }

  /// A sleeper's set has both others from here on.
  void prepare_sleep() noexcept {
    if (std::exchange(sleeps_, true)) return;
    (void)watch(all_events_, setting_up_.get(), EPOLLIN, nullptr);
    (void)watch(all_events_, carrying_.get(), EPOLLIN, nullptr);
  }
  /// What the link waits for: bytes, room in the socket, or an error alone.
  void wait_for(connection& link, std::uint32_t events) noexcept {
    if (link.events == events) return;
    epoll_event wanted{};
    wanted.events = events;
    wanted.data.ptr = &link;
    const int what = std::exchange(link.events, events) == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    (void)::epoll_ctl(carrying_.get(), what, link.socket_number, &wanted);
  }

 private:
  static constexpr int most_accepted = 256;  ///< In one poll.

  result<void> listen(const port_options& options) {
    auto made = listening_socket(options.node, options.service, who_);
    if (!made) return std::move(made).error();
    listener_ = std::move(made).value();
    spare_.keep();
    own_address_ = socket_address::of_socket(listener_.get(), false);
    if (!own_address_ || !watch(setting_up_, listener_.get(), EPOLLIN, this))
      return refused_by_system(errno, "epoll_ctl", who_);
    return {};
  }

  /// Keeps a link. There is room for its end already.
  connection& add(std::unique_ptr<connection> made) {
    retired_.reserve(retired_.size() + links_.size() + 1);
    links_.push_back(std::move(made));
    return *links_.back();
  }

  // ---- being set up
  void admit() {
    for (int i = 0; i < most_accepted; ++i) {
      owned_socket socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) return void(spare_.turn_away_from(listener_.get(), errno));
      tune(socket.get());
      strangers::stranger* made = nullptr;
      if (!if_memory([&] { made = &strangers_.admit(std::move(socket)); })) continue;
      if (!hear(*made) && !watch(setting_up_, made->socket.get(), EPOLLIN, made)) made->leaves = true;
    }
    changes_ = true;  // there may be more callers
  }
  /// True: the stranger is no stranger any more.
  bool hear(strangers::stranger& one) {
    const auto heard = one.said.read(one.socket.get());
    if (heard == heard_hello::state::missing) return false;
    one.leaves = true;
    if (heard == heard_hello::state::ended || !hello::of(one.said.bytes) || links_.size() > most_links_) return true;
    forget(setting_up_, one.socket.get());
    (void)if_memory([&] {
      auto made = std::make_unique<connection>(most_receives_);
      made->socket = std::move(one.socket);
      made->socket_number = made->socket.get();
      made->said = one.said;
      made->phase = link_phase::hello_received;
      if (const auto from = socket_address::of_socket(made->socket_number, true)) made->host = from->host_number();
      add(std::move(made));
    });
    changes_ = true;
    return true;
  }
  /// An event of a link that this side dialled.
  void set_up(connection& link) noexcept {
    changes_ = true;
    if (link.phase == link_phase::connecting && !say_first(link)) {
      link.phase = link_phase::ending;
    } else if (link.phase == link_phase::hello_sent) {
      const auto heard = link.said.read(link.socket_number);
      if (heard == heard_hello::state::missing) return;
      link.phase = heard == heard_hello::state::whole && establish(link) ? link_phase::established : link_phase::ending;
    }
    if (link.phase == link_phase::ending) forget(setting_up_, link.socket_number);
  }
  bool say_first(connection& link) noexcept {
    int why = 0;
    socklen_t size = sizeof why;
    if (::getsockopt(link.socket_number, SOL_SOCKET, SO_ERROR, &why, &size) != 0 || why != 0) return false;
    // A call to a free port of this host can meet itself.
    const auto here = socket_address::of_socket(link.socket_number, false);
    const auto there = socket_address::of_socket(link.socket_number, true);
    if (!here || !there || *here == *there || !say_hello(link)) return false;
    link.phase = link_phase::hello_sent;
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.ptr = &link;
    return ::epoll_ctl(setting_up_.get(), EPOLL_CTL_MOD, link.socket_number, &wanted) == 0;
  }
  bool say_hello(const connection& link) const noexcept {
    const auto mine = hello{window_}.bytes();
    return ::send(link.socket_number, mine.data(), mine.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(mine.size());
  }
  /// Both sides have said hello: the link carries messages from here on.
  bool establish(connection& link) noexcept {
    const auto theirs = hello::of(link.said.bytes);
    if (!theirs || !if_memory([&] { link.make_room(window_, theirs->window); })) return false;
    forget(setting_up_, link.socket_number);
    ++established_;
    if (established_ > 1) {
      if (only_ != nullptr) wait_for(*only_, EPOLLIN);
      wait_for(link, EPOLLIN);
    }
    only_ = established_ == 1 ? &link : nullptr;
    return true;
  }
  /// An established link carries nothing any more.
  void leave(connection& link) noexcept {
    if (link.events != 0) forget(carrying_, link.socket_number);
    --established_;
    only_ = nullptr;
    if (established_ != 1) return;
    for (const auto& each : links_)
      if (each->is_up() && each.get() != &link) only_ = each.get();
  }
  /// Unread bytes at the close would make the kernel throw away what the peer has not read yet (RFC 2525, 2.17).
  static void read_out(const connection& link) noexcept {
    if (link.socket_number < 0) return;
    std::array<std::byte, 4096> any;
    for (int i = 0; i < 64; ++i)
      if (::recv(link.socket_number, any.data(), any.size(), MSG_DONTWAIT) <= 0) return;
  }

  // ---- reports
  /// A link with a change that the transport does not know yet.
  connection* next_change() const noexcept {
    for (const auto& each : links_)
      if (each->phase == link_phase::hello_received || each->phase == link_phase::ending ||
          (each->is_up() && !each->was_established))
        return each.get();
    return nullptr;
  }
  template <class On>
  [[gnu::cold, gnu::noinline]] void report_one(connection& link, On& on) {
    if (link.phase == link_phase::hello_received) return offer(link, on);
    if (link.is_up()) {
      link.was_established = true;
      on(link_change::established, link.tag, &link);
      return;
    }
    link.phase = link_phase::gone;
    if (link.tag == no_tag) return hang_up(&link);
    on(link.was_established ? link_change::lost : link_change::refused, link.tag, &link);
  }
  template <class On>
  void offer(connection& link, On& on) {
    link.phase = link_phase::connecting;  // reported, with any result
    const std::uint32_t tag = on(link_change::arrived, no_tag, &link);
    if (link.phase == link_phase::gone) return;  // The handler hung up.
    link.tag = tag;
    if (tag == no_tag) return hang_up(&link);
    // The transport holds the link from here on, so it must hear of a refusal too.
    const bool stays = links_.size() <= most_links_ && say_hello(link) && establish(link);
    link.phase = stays ? link_phase::established : link_phase::ending;
  }

  std::string who_;
  std::uint32_t window_, most_receives_;
  std::size_t most_links_;
  std::string node_;
  bool changes_ = false, sleeps_ = false;
  std::size_t established_ = 0;
  connection* only_ = nullptr;
  std::optional<socket_address> own_address_;
  owned_socket setting_up_, carrying_, all_events_, listener_;
  process::spare_descriptor spare_;
  strangers strangers_;
  std::vector<std::unique_ptr<connection>> links_, retired_;
};

}  // namespace weft::backends::streams
