// SPDX-License-Identifier: Apache-2.0
//
// Sockets of a job's store: addresses, connecting and listening, each wait with an end. Ranks meet over plain TCP/IP
// before any fabric is open, because no fabric can be reached without an address of the peer.
// Hot path: no. Threads: values; one owner per descriptor.
#pragma once

#include "../core/error.hpp"
#include "../core/time.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::jobs {

/// Owns a file descriptor and closes it.
class owned_descriptor {
 public:
  owned_descriptor() = default;
  explicit owned_descriptor(int number) noexcept : number_(number) {}
  owned_descriptor(owned_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~owned_descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }  ///< The caller closes it.
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// A descriptor or list, and where there is none, the reason.
template <class Value, class Reason>
struct found_or {
  Value value{};
  Reason why{};
};

/// Where a store may be.
struct endpoint {
  std::string host{};
  std::uint16_t port = 0;
  friend bool operator==(const endpoint&, const endpoint&) = default;
};
/// "10.7.0.1:7470", "[::1]:7470".
inline std::string in_words(const endpoint& at) {
  const bool six = at.host.find(':') != std::string::npos;
  return (six ? "[" + at.host + "]" : at.host) + ":" + std::to_string(at.port);
}

/// A whole decimal number that `most` bounds, or nothing.
inline std::optional<std::uint32_t> number_of(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || why != std::errc() || end != text.data() + text.size() || value > most) return {};
  return value;
}

/// Reads "host:port" or "[address]:port". Nothing: it is neither.
inline std::optional<endpoint> endpoint_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  std::string_view host = text.substr(0, colon);
  const auto port = number_of(text.substr(colon + 1), 65535);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  else if (host.find_first_of(":[]") != std::string_view::npos) return {};
  if (host.empty() || host.size() > 253 || !port || *port == 0) return {};
  return endpoint{std::string(host), static_cast<std::uint16_t>(*port)};
}

struct list_closer {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};
using address_list = std::unique_ptr<addrinfo, list_closer>;

/// The addresses of an endpoint. Null and a reason where there is none.
inline found_or<address_list, std::string> resolve(const endpoint& at) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int wrong = getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found);
  if (wrong != 0) return {nullptr, "host " + at.host + " does not resolve: " + gai_strerror(wrong)};
  return {address_list(found), {}};
}

/// Waits for events of a descriptor. 0: they came; ETIMEDOUT; or another errno.
inline int wait_for(int descriptor, short events, instant end) {
  for (;;) {
    const auto left = std::max(duration::zero(), duration(end - std::chrono::steady_clock::now()));
    pollfd one{descriptor, events, 0};
    const auto ms = std::min<long long>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 60'000);
    const int came = ::poll(&one, 1, static_cast<int>(ms));
    if (came > 0) return 0;
    if (came < 0 && errno != EINTR) return errno;
    if (std::chrono::steady_clock::now() >= end) return ETIMEDOUT;
  }
}

/// Connects to the first address of an endpoint that answers. A socket, or the reason.
inline found_or<owned_descriptor, std::string> connected_to(const endpoint& at, instant end) {
  auto [list, reason] = resolve(at);
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    owned_descriptor socket(::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int why = socket ? 0 : errno;
    if (socket && ::connect(socket.get(), each->ai_addr, each->ai_addrlen) != 0) why = errno;
    if (why == EINPROGRESS) why = wait_for(socket.get(), POLLOUT, end);
    socklen_t size = sizeof why;
    if (why == 0) getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &why, &size);
    if (why == 0) return {std::move(socket), {}};
    reason = std::strerror(why);  // NOLINT(concurrency-mt-unsafe): glibc's is safe per thread
  }
  return {owned_descriptor(), reason};
}

/// A listening socket at an address, or an errno. Any port where the address has none.
inline found_or<owned_descriptor, int> listening_at(const sockaddr* address, socklen_t size) {
  owned_descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (socket) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!socket || ::bind(socket.get(), address, size) != 0 || ::listen(socket.get(), 1024) != 0)
    return {owned_descriptor(), errno};
  return {std::move(socket), 0};
}
/// Listens at every IPv4 address of this machine, or only at the one for itself.
inline found_or<owned_descriptor, int> listening_everywhere(std::uint16_t port, bool only_here) {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  any.sin_addr.s_addr = htonl(only_here ? INADDR_LOOPBACK : INADDR_ANY);
  return listening_at(reinterpret_cast<const sockaddr*>(&any), sizeof any);
}

/// The own address of a socket. Port 0: it has none.
inline endpoint address_of(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "0";
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return {};
  getnameinfo(reinterpret_cast<const sockaddr*>(&name), size, host, sizeof host, port, sizeof port,
              NI_NUMERICHOST | NI_NUMERICSERV);
  return {host, static_cast<std::uint16_t>(number_of(port, 65535).value_or(0))};
}

/// IPv4 addresses by which other machines may reach this one. At most eight.
inline std::vector<std::string> addresses_of_this_host() {
  std::vector<std::string> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* each = list; each != nullptr && found.size() < 8; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    char text[INET_ADDRSTRLEN] = "";
    const auto* four = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    if (inet_ntop(AF_INET, &four->sin_addr, text, sizeof text) != nullptr) found.emplace_back(text);
  }
  freeifaddrs(list);
  return found;
}

}  // namespace weft::jobs
