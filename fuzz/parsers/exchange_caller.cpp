// SPDX-License-Identifier: Apache-2.0
//
// backends/oob_exchange/tcp.hpp, the caller: the bytes of a program that answers at the listener's place. The caller
// gets an address of the announced length, or one sentence.
#include "../../backends/oob_exchange/tcp.hpp"
#include "../target.hpp"

#include <chrono>
#include <thread>

namespace weft::fuzz::exchange_caller {

using backends::oob_exchange::owned_socket;
using backends::oob_exchange::tcp;

/// A listening socket that the process keeps.
struct impostor {
  owned_socket socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string service;

  impostor() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    require(bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), size) == 0 && listen(socket.get(), 8) == 0 &&
                getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0,
            "the impostor listens");
    service = std::to_string(ntohs(at.sin_port));
  }
  void answer(const_bytes with) const {
    const owned_socket caller(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::byte question[8];
    (void)!recv(caller.get(), question, sizeof question, MSG_WAITALL);
    if (!with.empty()) (void)!send(caller.get(), with.data(), with.size(), MSG_NOSIGNAL);
  }
};

void check(const_bytes input) {
  static const impostor one;
  std::jthread other([input] { one.answer(input); });
  const auto got = tcp::fetch("127.0.0.1", one.service, std::chrono::seconds(20));
  other.join();
  constexpr std::size_t head = 12;
  std::uint32_t length = 0;
  if (input.size() >= head) std::memcpy(&length, input.data() + 8, sizeof length);
  const bool honest = input.size() >= head && std::memcmp(input.data(), "weftadr1", 8) == 0 && length > 0 &&
                      length <= tcp::longest_address && input.size() >= head + length;
  require(bool(got) == honest, "an address is taken if it is whole");
  if (got) require(same(*got, input.subspan(head, length)), "the address has the announced bytes");
  else require(!got.error().sentence.empty(), "a refusal has a sentence");
}

}  // namespace weft::fuzz::exchange_caller
WEFT_FUZZ_TARGET(exchange_caller)
