// SPDX-License-Identifier: Apache-2.0
//
// Addresses in the library's form: bytes of any length. fi_av_insert takes no length and would read past a short
// address, so weft checks each one first.
// Hot path: no. Threads: values.
#pragma once

#include "domain.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>
#include <string>

namespace weft::backends::libfabric {

/// Why a host has no address; empty when it has one.
inline std::string unresolved(const std::string& host) {
  addrinfo* found = nullptr;
  const int wrong = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (wrong != 0) return "host " + host + " does not resolve (" + gai_strerror(wrong) + ")";
  freeaddrinfo(found);
  return {};
}

/// The name of an endpoint, of any length.
inline address_bytes name_of(fid* object) {
  std::size_t length = 0;
  if (fi_getname(object, nullptr, &length) != -FI_ETOOSMALL || length == 0) length = 256;
  address_bytes name(length);
  if (fi_getname(object, name.data(), &length) != 0) return {};
  name.resize(std::min(length, name.size()));
  return name;
}

/// An endpoint whose name the library does not say: no peer could answer it.
inline failure nameless(const std::string& who) {
  return {error(errc::native, "fi_getname"), who + ": the library does not say the endpoint's address"};
}

/// The family of a socket address; nothing unless the size fits the family.
inline std::optional<sa_family_t> socket_family(const address_bytes& address) {
  sa_family_t family{};
  if (address.size() < sizeof family) return std::nullopt;
  std::memcpy(&family, address.data(), sizeof family);
  if (family == AF_INET && address.size() == sizeof(sockaddr_in)) return family;
  if (family == AF_INET6 && address.size() == sizeof(sockaddr_in6)) return family;
  return std::nullopt;
}

inline std::string hexadecimal(const address_bytes& address) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte each : address) {
    text += digits[std::to_integer<unsigned>(each) >> 4];
    text += digits[std::to_integer<unsigned>(each) & 15u];
  }
  return text;
}

/// For messages: host and port of a socket address, the text of a text address, else hexadecimal.
inline std::string printable_address(const address_bytes& address, bool socket_addresses) {
  if (const auto family = socket_addresses ? socket_family(address) : std::nullopt) {
    char host[INET6_ADDRSTRLEN] = "";
    in_port_t port{};
    const bool wide = *family == AF_INET6;
    const std::size_t at = wide ? offsetof(sockaddr_in6, sin6_addr) : offsetof(sockaddr_in, sin_addr);
    inet_ntop(*family, address.data() + at, host, sizeof host);
    std::memcpy(&port, address.data() + offsetof(sockaddr_in, sin_port), sizeof port);
    return (wide ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::to_string(ntohs(port));
  }
  std::string text;
  for (const std::byte each : address) {
    if (each == std::byte{0}) break;
    if (std::to_integer<int>(each) < 32 || std::to_integer<int>(each) > 126) return hexadecimal(address);
    text += static_cast<char>(each);
  }
  return text.empty() ? hexadecimal(address) : text;
}

/// A number for the host of a socket address: the IPv4 address, or the first 64 bits of the IPv6 address, because one
/// host may have as many addresses as the others hold. 0: no socket address.
inline std::uint64_t host_number(const address_bytes& address) {
  const auto family = socket_family(address);
  if (!family) return 0;
  const auto bytes_from = [&](std::size_t at, int count) {
    std::uint64_t number = 0;
    for (int i = 0; i < count; ++i) number = number << 8 | std::to_integer<std::uint64_t>(address[at++]);
    return number;
  };
  constexpr std::uint64_t four = std::uint64_t{1} << 32;  // apart from the numbers of IPv6 hosts
  if (*family == AF_INET) return four | bytes_from(offsetof(sockaddr_in, sin_addr), 4);
  constexpr std::size_t at = offsetof(sockaddr_in6, sin6_addr);
  const std::uint64_t network = bytes_from(at, 8);
  if (network == 0 && bytes_from(at + 8, 4) == 0xffff) return four | bytes_from(at + 12, 4);  // ::ffff:a.b.c.d
  return std::max<std::uint64_t>(network, 1);
}

/// Why these bytes cannot be dialled; nothing if they can. `own` is an address of the same fabric, for the length.
template <class Shape>
std::optional<failure> unusable_address(const address_bytes& address, const fi_info& info, const address_bytes& own) {
  const std::string who =
      "fabric " + std::string(Shape::name) + ": the address to dial (" + std::to_string(address.size()) + " bytes) ";
  if constexpr (request<Shape>::socket_addresses) {
    const auto family = socket_family(address);
    if (!family)
      return failure{error(errc::invalid, "dial"), who + "is no IPv4 (16 bytes) or IPv6 (28 bytes) socket address"};
    if (!request<Shape>::connected && socket_family(own) && *family != *socket_family(own))
      return failure{error(errc::invalid, "dial"),
                     who + "has another IP version than this port's own address, " + printable_address(own, true)};
    return std::nullopt;
  }
  if (info.addr_format == FI_ADDR_STR) {
    if (address.empty() || std::memchr(address.data(), 0, address.size()) == nullptr)
      return failure{error(errc::invalid, "dial"), who + "is no text that ends with a zero byte"};
  } else if (!own.empty() && address.size() != own.size()) {
    return failure{error(errc::invalid, "dial"), who + "should have " + std::to_string(own.size()) + " bytes"};
  }
  return std::nullopt;
}

/// A numeric address; nothing for a name, or for numbers of another format (FI_SOCKADDR_IN, FI_SOCKADDR_IN6, or any).
inline std::optional<address_bytes> numeric_address(const std::string& host, const std::string& port,
                                                    std::uint32_t format) {
  addrinfo hints{};
  hints.ai_family = format == FI_SOCKADDR_IN ? AF_INET : format == FI_SOCKADDR_IN6 ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return std::nullopt;
  const auto* first = reinterpret_cast<const std::byte*>(found->ai_addr);
  address_bytes address(first, first + found->ai_addrlen);
  freeaddrinfo(found);
  return address;
}

/// Resolves host and service of a listener, in the address format of `own`.
template <class Shape>
result<address_bytes> resolve_address(const fi_info& own, std::string_view node, std::string_view service) {
  const std::string host(node), port(service);
  const std::string who = "fabric " + std::string(Shape::name) + ": no address for " + host + ":" + port;
  if constexpr (!request<Shape>::socket_addresses)
    return failure{error(errc::unsupported, "resolve"),
                   who + ": addresses of this fabric are opaque, exchange them over the out-of-band exchange"};
  // Numbers bypass fi_getinfo, which takes rxm 0.2 to 0.6 ms: longer than a connect. Names are worth that time.
  if constexpr (!request<Shape>::connected)
    if (auto numbers = numeric_address(host, port, own.addr_format)) return *std::move(numbers);
  owned_info hints = make_hints<Shape>({});
  if (!hints) return failure{error(errc::no_memory, "fi_allocinfo"), who + ": out of memory"};
  hints->addr_format = request<Shape>::connected ? address_format(node) : own.addr_format;
  fi_info* found = nullptr;
  const int returned = fi_getinfo(asked_version, host.c_str(), port.c_str(), 0, hints.get(), &found);
  const owned_info all(found);
  if (returned != 0 || found->dest_addr == nullptr) {
    const std::string no = unresolved(host);
    return failure{{errc::unreachable, origin::libfabric, returned < 0 ? -returned : returned, "fi_getinfo"},
                   no.empty() ? who : "fabric " + std::string(Shape::name) + ": " + no};
  }
  const auto* first = static_cast<const std::byte*>(found->dest_addr);
  return address_bytes(first, first + found->dest_addrlen);
}

}  // namespace weft::backends::libfabric
