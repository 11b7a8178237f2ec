// SPDX-License-Identifier: Apache-2.0
//
// Sockets as links need them: to listen with, to call with, and in epoll sets.
// Hot path: no. Threads: any.
#pragma once

#include "address.hpp"

#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <string>
#include <string_view>
#include <utility>

namespace weft::backends::streams {

/// Small frames leave at once (TCP_NODELAY), and the kernel asks a silent host whether it lives (tcp(7)).
inline void tune(int socket) noexcept {
  const auto set = [socket](int level, int which, int value) {
    (void)::setsockopt(socket, level, which, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

/// Listens at node:service. Empty node: the loopback address, so that nobody listens to a network unasked. Empty
/// service: any port. Errors: no such address, or it is in use.
inline result<owned_socket> listening_socket(std::string_view node, std::string_view service, const std::string& who) {
  constexpr int backlog = 1024;  // callers that the kernel keeps between two polls
  auto found = resolved(node, service, AI_PASSIVE, who);
  if (!found) return std::move(found).error();
  const std::string listening = who + ": listening at " + found->printable();
  owned_socket made(::socket(found->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return refused_by_system(errno, "socket", listening);
  const int on = 1;
  (void)::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(made.get(), found->get(), found->size) != 0) return refused_by_system(errno, "bind", listening);
  if (::listen(made.get(), backlog) != 0) return refused_by_system(errno, "listen", listening);
  return made;
}

/// A socket to call with. A node that was given is also where calls come from.
inline result<owned_socket> calling_socket(sa_family_t family, std::string_view node, const std::string& who) {
  owned_socket made(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return refused_by_system(errno, "socket", who);
  tune(made.get());
  if (node.empty()) return made;
  auto own = resolved(node, "0", 0, who);
  if (!own) return std::move(own).error();
  if (own->family() == family && ::bind(made.get(), own->get(), own->size) != 0)
    return refused_by_system(errno, "bind", who + ", from " + own->printable());
  return made;
}

/// Puts a socket into an epoll set, or takes it out. `about` comes with its events.
inline bool watch(const owned_socket& set, int socket, std::uint32_t events, void* about) noexcept {
  epoll_event wanted{};
  wanted.events = events;
  wanted.data.ptr = about;
  return ::epoll_ctl(set.get(), EPOLL_CTL_ADD, socket, &wanted) == 0;
}
inline void forget(const owned_socket& set, int socket) noexcept {
  (void)::epoll_ctl(set.get(), EPOLL_CTL_DEL, socket, nullptr);
}

}  // namespace weft::backends::streams
