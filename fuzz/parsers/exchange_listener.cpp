// SPDX-License-Identifier: Apache-2.0
//
// backends/oob_exchange/tcp.hpp, the listener: the bytes of a client, over a real socket and in two pieces. A client
// gets the address if it sends the magic number, and nothing otherwise.
#include "../../backends/oob_exchange/tcp.hpp"
#include "../target.hpp"

namespace weft::fuzz::exchange_listener {

using backends::oob_exchange::owned_socket;
using backends::oob_exchange::tcp;

constexpr std::size_t magic_bytes = 8;
const address_bytes served(16, std::byte{0x5a});

tcp& listener() {
  static auto one = tcp::serve("", "", served);
  require(bool(one), "the listener opens");
  return **one;
}

sockaddr_in place() {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(listener().service())));
  return at;
}

void say(int socket, const_bytes some) {
  if (!some.empty()) (void)!::send(socket, some.data(), some.size(), MSG_NOSIGNAL);
  listener().progress();
}

void check(const_bytes input) {
  static const sockaddr_in at = place();
  const owned_socket client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const linger at_once{1, 0};  // a reset, so that no port stays in use
  setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  if (connect(client.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return;
  choices from(input);
  const const_bytes first = from.take(from.below(magic_bytes + 4));
  const const_bytes rest = from.take(64);
  say(client.get(), first);
  say(client.get(), rest);
  std::vector<std::byte> said(first.begin(), first.end());
  said.insert(said.end(), rest.begin(), rest.end());
  const bool asked = said.size() >= magic_bytes && std::memcmp(said.data(), "weftadr1", magic_bytes) == 0;
  std::byte answer[64];
  ssize_t got = 0;
  if (asked) {
    // The answer may come in pieces; the listener closes behind it.
    for (ssize_t more = 0;
         (more = recv(client.get(), answer + got, sizeof answer - static_cast<std::size_t>(got), 0)) > 0;)
      got += more;
    require(got == static_cast<ssize_t>(magic_bytes + 4 + served.size()) || got == 0,
            "an answer is the magic number, a length and the address");
    if (got > 0)
      require(same(const_bytes(answer + magic_bytes + 4, served.size()), served), "the address is the listener's");
  } else {
    got = recv(client.get(), answer, sizeof answer, MSG_DONTWAIT);
    require(got <= 0, "a client without the magic number gets no byte");
  }
}

}  // namespace weft::fuzz::exchange_listener
WEFT_FUZZ_TARGET(exchange_listener)
