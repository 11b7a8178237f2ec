// SPDX-License-Identifier: Apache-2.0
//
// Addresses of this backend: socket addresses of a device's interfaces. The connection manager finds device and path by
// them.
// They travel as opaque bytes, so their form is checked before the library reads them.
// Hot path: no. Threads: values.
#pragma once

#include "../../core/port.hpp"
#include "errors.hpp"
#include "owned.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace weft::backends::verbs {

/// A socket address of either family, in the form of the calls.
class socket_address {
 public:
  socket_address() = default;
  explicit socket_address(const sockaddr* from) {
    if (from == nullptr) return;
    if (from->sa_family == AF_INET) std::memcpy(&held_, from, length_ = sizeof(sockaddr_in));
    if (from->sa_family == AF_INET6) std::memcpy(&held_, from, length_ = sizeof(sockaddr_in6));
  }
  /// Nothing unless the bytes are an address of either family.
  static std::optional<socket_address> parse(const address_bytes& from) {
    sa_family_t family{};
    if (from.size() < sizeof family) return std::nullopt;
    std::memcpy(&family, from.data(), sizeof family);
    const std::size_t right = family == AF_INET ? sizeof(sockaddr_in) : family == AF_INET6 ? sizeof(sockaddr_in6) : 0;
    if (right == 0 || from.size() != right) return std::nullopt;
    sockaddr_storage whole{};
    std::memcpy(&whole, from.data(), right);
    return socket_address(reinterpret_cast<const sockaddr*>(&whole));
  }

  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&held_); }
  socklen_t length() const noexcept { return static_cast<socklen_t>(length_); }
  address_bytes bytes_of() const {
    const auto* first = reinterpret_cast<const std::byte*>(&held_);
    return {first, first + length_};
  }
  int family() const noexcept { return held_.ss_family; }
  std::uint16_t port() const noexcept { return ntohs(network_port()); }
  void set_port(std::uint16_t port) noexcept {
    const in_port_t wanted = htons(port);
    std::memcpy(reinterpret_cast<std::byte*>(&held_) + offsetof(sockaddr_in, sin_port), &wanted,
                sizeof wanted);  // The port has the same place in both families.
  }
  bool any() const noexcept {
    sockaddr_storage none{};
    return std::memcmp(host(held_), host(none), held_.ss_family == AF_INET6 ? sizeof(in6_addr) : sizeof(in_addr)) == 0;
  }
  /// An IPv6 address that holds on one interface only (fe80::).
  bool is_link_local() const noexcept {
    return held_.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(static_cast<const in6_addr*>(host(held_)));
  }
  /// "10.0.0.1:7471", "[fe80::1]:7471"
  std::string printable() const {
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(held_.ss_family, host(held_), text, sizeof text);
    const bool wide = held_.ss_family == AF_INET6;
    return (wide ? "[" + std::string(text) + "]" : std::string(text)) + ":" + std::to_string(port());
  }

 private:
  const void* host(const sockaddr_storage& of) const noexcept {
    return reinterpret_cast<const std::byte*>(&of) +
           (held_.ss_family == AF_INET6 ? offsetof(sockaddr_in6, sin6_addr) : offsetof(sockaddr_in, sin_addr));
  }
  in_port_t network_port() const noexcept {
    in_port_t port{};
    std::memcpy(&port, reinterpret_cast<const std::byte*>(&held_) + offsetof(sockaddr_in, sin_port), sizeof port);
    return port;
  }

  sockaddr_storage held_{};
  std::size_t length_ = 0;
};

/// Resolves host and service with the system's resolver. Empty texts: any address, any port.
inline result<socket_address> resolve_address(std::string_view node, std::string_view service, const std::string& who) {
  const std::string host(node), port(service);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = host.empty() ? AI_PASSIVE : 0;
  addrinfo* found = nullptr;
  const int returned =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.empty() ? "0" : port.c_str(), &hints, &found);
  const owned<addrinfo> all(found);
  if (returned != 0)
    return failure{{errc::unreachable, origin::system, 0, "getaddrinfo"},
                   who + ": no address for " + host + ":" + port + ": " + gai_strerror(returned)};
  return socket_address(found->ai_addr);
}

/// The local address from which the system would reach `to`; nothing if it cannot.
inline std::optional<socket_address> source_towards(socket_address to) {
  const int probe = ::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return std::nullopt;
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  // A datagram socket: nothing is sent.
  const bool found = ::connect(probe, to.get(), to.length()) == 0 &&
                     ::getsockname(probe, reinterpret_cast<sockaddr*>(&own), &length) == 0;
  ::close(probe);
  if (!found) return std::nullopt;
  socket_address source(reinterpret_cast<const sockaddr*>(&own));
  source.set_port(0);
  return source;
}

}  // namespace weft::backends::verbs
