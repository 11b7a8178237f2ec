// SPDX-License-Identifier: Apache-2.0
//
// How two processes of a host get each other's memory. Over a Unix socket each sends one packet with two files: its
// arena, and the ring that the peer sends into.
// The socket then stays open. Its end shows that the peer is gone, also when it was killed. A packet of one byte wakes
// a sleeping peer.
// Addresses are abstract socket names (unix(7)), so nothing remains in the file system; each port draws its own. A port
// talks only to processes of the same user.
// Hot path: only wake(). Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "sealed_memory.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdio>
#include <optional>
#include <random>
#include <string>

namespace weft::backends::mapped {

/// The first packet of each side.
struct hello_packet {
  std::array<char, 8> magic{'w', 'e', 'f', 't', 'm', 'a', 'p', '3'};
  std::uint64_t entries = 0;  ///< Of the ring; a build with another number has another layout.
  std::uint64_t payload = 0;  ///< Bytes after the ring's entries.
  std::uint64_t arena = 0;    ///< Bytes of the arena's file.
  std::uint64_t sleeps = 0;   ///< The sender may sleep, and wants to be woken.
};

/// A packet from a socket.
struct packet {
  enum class kind : std::uint8_t { nothing, wake, hello, end } what = kind::nothing;
  hello_packet hello{};
  file arena{}, ring{};
};

/// The process at the other end, if it has the same user; otherwise 0.
inline pid_t peer_process(const file& socket) noexcept {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != ::geteuid()) return 0;
  return who.pid;
}

inline address_bytes drawn_address() {
  std::random_device draw;
  std::array<char, 32> name{};
  const int size = std::snprintf(name.data(), name.size(), "weft-%08x%08x%08x", draw(), draw(), draw());
  const auto* first = reinterpret_cast<const std::byte*>(name.data());
  return {first, first + size};
}

/// The name in the system's form. Nothing for an invalid address.
struct socket_name {
  sockaddr_un name{};
  socklen_t size = 0;

  static std::optional<socket_name> of(const address_bytes& address) {
    socket_name made;
    if (address.empty() || address.size() >= sizeof made.name.sun_path) return {};
    made.name.sun_family = AF_UNIX;
    std::memcpy(made.name.sun_path + 1, address.data(), address.size());
    made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + address.size());
    return made;
  }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&name); }
};

inline bool send_hello(const file& socket, hello_packet hello, const file& arena, const file& ring) noexcept {
  iovec text{&hello, sizeof hello};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const std::array<int, 2> files{arena.get(), ring.get()};
  std::memcpy(CMSG_DATA(head), files.data(), sizeof files);
  return ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(sizeof hello);
}

/// Takes the files of a packet. Their descriptors must be closed here.
inline void keep_files(msghdr& message, packet& into) noexcept {
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (head->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int each = -1;
      std::memcpy(&each, CMSG_DATA(head) + i * sizeof each, sizeof each);
      if (i == 0) into.arena = file(each);
      else if (i == 1) into.ring = file(each);
      else (void)::close(each);
    }
  }
}

/// Receives the next packet. `end`: the peer is gone, or sent what no port of this build sends.
inline packet receive_packet(const file& socket) noexcept {
  packet came;
  std::array<char, sizeof(hello_packet) + 1> said{};
  iovec text{said.data(), said.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  const ssize_t got = ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return came;
  came.what = packet::kind::end;
  if (got < 0) return came;
  keep_files(message, came);  // also of a packet without bytes, so that no descriptor stays open
  if (got == 1) came.what = packet::kind::wake;
  if (got != sizeof(hello_packet) || !came.arena || !came.ring) return came;
  std::memcpy(&came.hello, said.data(), sizeof came.hello);
  if (came.hello.magic == hello_packet{}.magic) came.what = packet::kind::hello;
  return came;
}

/// Wakes a sleeper. A full socket needs no packet: it is readable.
[[gnu::cold, gnu::noinline]] inline void wake(const file& socket) noexcept {
  const char any = 1;
  (void)!::send(socket.get(), &any, sizeof any, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace weft::backends::mapped
