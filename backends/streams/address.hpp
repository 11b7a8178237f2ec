// SPDX-License-Identifier: Apache-2.0
//
// Addresses of links: IPv4 and IPv6 socket addresses, as ip(7) and ipv6(7) lay them out.
// Bytes of another family or length are refused before the kernel sees them.
// Hot path: no. Threads: values.
#pragma once

#include "../../core/port.hpp"
#include "../oob_exchange/tcp.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cerrno>
#include <cstring>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weft::backends::streams {

using backends::oob_exchange::owned_socket;
using process::refused_by_system;

/// A socket address in the kernel's form.
struct socket_address {
  sockaddr_storage name{};
  socklen_t size = 0;

  static std::optional<socket_address> of(const address_bytes& from) noexcept {
    socket_address made;
    sa_family_t family{};
    if (from.size() < sizeof family || from.size() > sizeof made.name) return {};
    std::memcpy(&family, from.data(), sizeof family);
    if (from.size() != (family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in))) return {};
    if (family != AF_INET && family != AF_INET6) return {};
    std::memcpy(&made.name, from.data(), from.size());
    made.size = static_cast<socklen_t>(from.size());
    return made;
  }
  static socket_address of(const addrinfo& from) noexcept {
    socket_address made;
    made.size = std::min<socklen_t>(from.ai_addrlen, sizeof made.name);
    std::memcpy(&made.name, from.ai_addr, made.size);
    return made;
  }
  /// The socket's own name, or its peer's. Nothing: it is not connected.
  static std::optional<socket_address> of_socket(int socket, bool peer) noexcept {
    socket_address made;
    made.size = sizeof made.name;
    auto* name = reinterpret_cast<sockaddr*>(&made.name);
    if ((peer ? ::getpeername(socket, name, &made.size) : ::getsockname(socket, name, &made.size)) != 0) return {};
    return made;
  }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&name); }
  sa_family_t family() const noexcept { return name.ss_family; }
  bool is_wide() const noexcept { return family() == AF_INET6; }
  in_port_t port() const noexcept {  // The port has the same place in both families.
    in_port_t at{};
    std::memcpy(&at, reinterpret_cast<const char*>(&name) + offsetof(sockaddr_in, sin_port), sizeof at);
    return at;
  }
  void set_port(in_port_t at) noexcept {
    std::memcpy(reinterpret_cast<char*>(&name) + offsetof(sockaddr_in, sin_port), &at, sizeof at);
  }
  address_bytes copied() const {
    const auto* first = reinterpret_cast<const std::byte*>(&name);
    return {first, first + size};
  }
  std::string printable() const {
    char host[INET6_ADDRSTRLEN] = "";
    const auto* first = reinterpret_cast<const char*>(&name);
    ::inet_ntop(family(), first + (is_wide() ? offsetof(sockaddr_in6, sin6_addr) : offsetof(sockaddr_in, sin_addr)),
                host, sizeof host);
    return (is_wide() ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::to_string(ntohs(port()));
  }
  /// A number for the host: the IPv4 address, or the first 64 bits of the IPv6 address, because one host may have as
  /// many addresses as the others hold.
  std::uint64_t host_number() const noexcept {
    constexpr std::uint64_t four = std::uint64_t{1} << 32;  // apart from the numbers of IPv6 hosts
    const auto* first = reinterpret_cast<const unsigned char*>(&name);
    const auto bytes_from = [first](std::size_t at, int count) {
      std::uint64_t number = 0;
      for (int i = 0; i < count; ++i) number = number << 8 | first[at++];
      return number;
    };
    if (!is_wide()) return four | bytes_from(offsetof(sockaddr_in, sin_addr), 4);
    constexpr std::size_t at = offsetof(sockaddr_in6, sin6_addr);
    const std::uint64_t network = bytes_from(at, 8);
    if (network == 0 && bytes_from(at + 8, 4) == 0xffff) return four | bytes_from(at + 12, 4);  // ::ffff:a.b.c.d
    return std::max<std::uint64_t>(network, 1);
  }
  friend bool operator==(const socket_address& a, const socket_address& b) noexcept {
    return a.size == b.size && std::memcmp(&a.name, &b.name, a.size) == 0;
  }
};

/// Resolves host and service (getaddrinfo(3)): the first address of a stream socket. Empty host: the loopback address.
inline result<socket_address> resolved(std::string_view node, std::string_view service, int flags,
                                       const std::string& who) {
  const std::string host(node.empty() ? "127.0.0.1" : node), port(service.empty() ? "0" : service);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int refused = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  if (refused != 0 || found == nullptr)
    return failure{{errc::unreachable, origin::system, refused, "getaddrinfo"},
                   who +
                       (refused == EAI_SERVICE ? ": no port " + port + " at host " + host
                                               : ": host " + host + " does not resolve") +
                       " (" + ::gai_strerror(refused) + ")"};
  return socket_address::of(*found);
}

}  // namespace weft::backends::streams
