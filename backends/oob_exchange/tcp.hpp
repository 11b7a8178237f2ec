// SPDX-License-Identifier: Apache-2.0
//
// The side channel for fabrics whose addresses no resolver can make: a listener serves its opaque address at
// host:service.
// The client sends 8 bytes of magic. The server replies with the same magic, a 32-bit little-endian length and the
// address.
// It uses plain POSIX sockets, at the loopback address unless a node is given; progress() never blocks.
// A client whose question has arrived gets its reply in the same step. Others get a place for 250 ms while they are
// silent, and for a second in all. When all places are taken, the oldest silent client is dropped: strangers cannot
// delay the clients after them.
// Hot path: no. Threads: one owner.
#pragma once

#include "../../core/port.hpp"
#include "../process/owned_descriptor.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::backends::oob_exchange {

using owned_socket = process::owned_descriptor;

class tcp {
 public:
  static constexpr std::size_t most_pending = 128;  ///< Clients that have not asked yet, or not read their reply.
  static constexpr int most_accepted = 256;         ///< In one step.
  static constexpr int backlog = 1024;              ///< Of the kernel, between two steps.
  static constexpr std::uint32_t longest_address = 4096;
  static constexpr duration silence = std::chrono::milliseconds(250);  ///< For the first byte of a question.
  static constexpr duration patience = std::chrono::seconds(1);        ///< For the question and the reply.

  /// Serves `address` at node:service. Empty node: the loopback address. Empty service: any port, see service().
  static result<std::unique_ptr<tcp>> serve(std::string_view node, std::string_view service,
                                            const address_bytes& address) {
    const std::string where = place(node.empty() ? "127.0.0.1" : node, service.empty() ? "0" : service);
    if (address.empty() || address.size() > longest_address)
      return failure{error(errc::invalid, "serve"), "out-of-band exchange at " + where +
                                                        ": an address has 1 to 4096 bytes; this one has " +
                                                        std::to_string(address.size())};
    auto found = resolve(node.empty() ? "127.0.0.1" : node, service.empty() ? "0" : service, AI_PASSIVE);
    if (!found) return std::move(found).error();
    int why = EADDRNOTAVAIL;
    for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next)
      if (owned_socket socket = listening(*each, why)) {
        std::unique_ptr<tcp> made(new tcp(std::move(socket), address));
        if (!made->service().empty()) return made;
        why = errno;
      }
    return system_failure(why, "bind", "out-of-band exchange cannot listen at " + where);
  }

  /// The port that is in use.
  std::string service() const {
    sockaddr_storage name{};
    socklen_t length = sizeof name;
    if (getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name), &length) != 0) return {};
    in_port_t port{};  // The port has the same place in both families.
    std::memcpy(&port, reinterpret_cast<const char*>(&name) + offsetof(sockaddr_in, sin_port), sizeof port);
    return std::to_string(ntohs(port));
  }

  /// Answers clients; never blocks.
  void progress() {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(clients_, [&](client& each) { return !advance(each) || is_late(each, now); });
    for (int i = 0; i < most_accepted; ++i) {
      client next{
          owned_socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)), 0, 0, {}, now};
      if (!next.socket) break;
      if (!advance(next)) continue;
      if (clients_.size() == most_pending) clients_.erase(first_to_leave());
      clients_.push_back(std::move(next));
    }
  }

  /// Asks node:service for its address. Meanwhile `own` answers its clients, if there is one: two listeners may ask
  /// each other. Errors: unreachable, deadline, incompatible, invalid host or port.
  static result<address_bytes> fetch(std::string_view node, std::string_view service, duration limit,
                                     tcp* own = nullptr) {
    const wait_limit until{after(std::chrono::steady_clock::now(), limit), limit, own};
    const std::string where = place(node, service);
    auto found = resolve(node, service, 0);
    if (!found) return std::move(found).error();
    int why = ECONNREFUSED;
    for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
      owned_socket socket(::socket(each->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      if (!socket) why = errno;
      else if ((why = connected(socket.get(), *each, until)) == 0) return ask(socket.get(), where, until);
    }
    if (why == ETIMEDOUT) return late(where, limit);
    return failure{{errc::unreachable, origin::system, why, "connect"},
                   "out-of-band exchange: no listener answers at " + where + ": start the listener first (" +
                       std::strerror(why) + ")"};
  }

 private:
  using magic_bytes = std::array<char, 8>;
  static constexpr magic_bytes magic{'w', 'e', 'f', 't', 'a', 'd', 'r', '1'};
  /// Until when a question waits, and whose clients are answered meanwhile.
  struct wait_limit {
    instant end{};
    duration whole{};
    tcp* own = nullptr;
  };
  static constexpr duration turn = std::chrono::milliseconds(2);  ///< Between two answers of `own`.
  struct list_closer {
    void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
  };
  using address_list = std::unique_ptr<addrinfo, list_closer>;
  struct client {
    owned_socket socket;
    std::size_t received = 0;  ///< Bytes of the magic that arrived.
    std::size_t sent = 0;      ///< Bytes of the reply that were sent.
    magic_bytes question{};
    instant since{};
  };

  tcp(owned_socket listener, const address_bytes& address)
      : listener_(std::move(listener)), answer_(magic.size() + 4 + address.size()) {
    const auto length = static_cast<std::uint32_t>(address.size());
    std::memcpy(answer_.data(), magic.data(), magic.size());
    for (unsigned i = 0; i < 4; ++i) answer_[magic.size() + i] = static_cast<std::byte>(length >> (8 * i));
    std::copy(address.begin(), address.end(), answer_.begin() + magic.size() + 4);
    clients_.reserve(most_pending);  // progress() allocates nothing
  }

  static std::string place(std::string_view node, std::string_view service) {
    return std::string(node) + ":" + std::string(service);
  }
  static failure system_failure(int number, const char* call, const std::string& sentence) {
    return {{errc::native, origin::system, number, call}, sentence + " (" + std::strerror(number) + ")"};
  }
  static failure late(const std::string& where, duration limit) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
    const std::string time =
        milliseconds % 1000 == 0 ? std::to_string(milliseconds / 1000) + " s" : std::to_string(milliseconds) + " ms";
    return {error(errc::deadline, "fetch"), "out-of-band exchange: " + where + " sent no address within " + time +
                                                ": another program listens there, or "
                                                "the listener does not call progress()"};
  }

  static result<address_list> resolve(std::string_view node, std::string_view service, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    const int wrong = getaddrinfo(std::string(node).c_str(), std::string(service).c_str(), &hints, &found);
    if (wrong == 0) return address_list(found);
    const bool of_host = wrong == EAI_NONAME || wrong == EAI_AGAIN || wrong == EAI_FAIL;
    return failure{{errc::unreachable, origin::system, wrong, "getaddrinfo"},
                   of_host ? "host " + std::string(node) + " does not resolve (" + gai_strerror(wrong) + ")"
                           : "out-of-band exchange: " + place(node, service) + " is no valid host and port (" +
                                 gai_strerror(wrong) + ")"};
  }

  static owned_socket listening(const addrinfo& at, int& why) {
    owned_socket socket(::socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (socket) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (socket && bind(socket.get(), at.ai_addr, at.ai_addrlen) == 0 && listen(socket.get(), backlog) == 0)
      return socket;
    why = errno;
    return {};
  }

  static bool is_late(const client& one, instant now) noexcept {
    return now - one.since >= (one.received == 0 ? silence : patience);
  }
  /// The oldest client without a whole question; without such clients the oldest. Requires: a client.
  std::vector<client>::iterator first_to_leave() noexcept {
    auto found = clients_.begin();
    while (found != clients_.end() && found->received == magic.size()) ++found;
    return found == clients_.end() ? clients_.begin() : found;
  }

  /// Serves one client. False when it is done or failed.
  bool advance(client& one) const {
    while (one.received < magic.size()) {
      const ssize_t got = recv(one.socket.get(), one.question.data() + one.received, magic.size() - one.received, 0);
      if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
      one.received += static_cast<std::size_t>(got);
    }
    if (one.question != magic) return false;
    while (one.sent < answer_.size()) {
      const ssize_t sent = send(one.socket.get(), answer_.data() + one.sent, answer_.size() - one.sent, MSG_NOSIGNAL);
      if (sent <= 0) return sent < 0 && (errno == EAGAIN || errno == EINTR);
      one.sent += static_cast<std::size_t>(sent);
    }
    return false;
  }

  /// Returns 0 when the socket is ready, ETIMEDOUT after the deadline, or errno.
  static int ready(int socket, short events, wait_limit until) {
    for (;;) {
      duration left = std::max(duration::zero(), duration(until.end - std::chrono::steady_clock::now()));
      if (until.own != nullptr) left = std::min(left, turn);
      pollfd one{socket, events, 0};
      const int milliseconds =
          static_cast<int>(std::min<long long>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 60'000));
      const int came = ::poll(&one, 1, milliseconds);
      if (came > 0) return 0;
      if (came < 0 && errno != EINTR) return errno;
      if (until.own != nullptr) until.own->progress();
      if (std::chrono::steady_clock::now() >= until.end) return ETIMEDOUT;
    }
  }

  static int connected(int socket, const addrinfo& to, wait_limit until) {
    if (connect(socket, to.ai_addr, to.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    if (const int why = ready(socket, POLLOUT, until); why != 0) return why;
    int why = 0;
    socklen_t length = sizeof why;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &why, &length);
    return why;
  }

  /// Reads exactly `size` bytes. Returns 0, ETIMEDOUT, or errno.
  static int receive_all(int socket, std::byte* into, std::size_t size, wait_limit until) {
    while (size > 0) {
      if (const int why = ready(socket, POLLIN, until); why != 0) return why;
      const ssize_t got = recv(socket, into, size, 0);
      if (got == 0) return ECONNRESET;
      if (got < 0 && errno != EAGAIN && errno != EINTR) return errno;
      if (got < 0) continue;
      into += got;
      size -= static_cast<std::size_t>(got);
    }
    return 0;
  }

  static result<address_bytes> ask(int socket, const std::string& where, wait_limit until) {
    ssize_t sent = 0;
    do sent = send(socket, magic.data(), magic.size(), MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != static_cast<ssize_t>(magic.size()))
      return system_failure(errno, "send", "out-of-band exchange: " + where + " does not listen");
    std::array<std::byte, 12> head{};
    int why = receive_all(socket, head.data(), head.size(), until);
    std::uint32_t length = 0;
    for (unsigned i = 0; i < 4; ++i) length |= std::to_integer<std::uint32_t>(head[magic.size() + i]) << (8 * i);
    if (why == 0 &&
        (std::memcmp(head.data(), magic.data(), magic.size()) != 0 || length == 0 || length > longest_address))
      return failure{error(errc::incompatible, "fetch"),
                     "out-of-band exchange: the program that answers at " + where + " is no weft listener"};
    address_bytes address(length);
    if (why == 0) why = receive_all(socket, address.data(), address.size(), until);
    if (why == 0) return address;
    return why == ETIMEDOUT
               ? late(where, until.whole)
               : system_failure(why, "recv",
                                "out-of-band exchange: " + where + " closed the connection before it sent its address");
  }

  owned_socket listener_;
  std::vector<std::byte> answer_;
  std::vector<client> clients_;
};

static_assert(oob_exchange_channel<tcp>);

}  // namespace weft::backends::oob_exchange
