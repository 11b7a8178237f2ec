// SPDX-License-Identifier: Apache-2.0
#include <weft/compose/selected.hpp>
#include <weft/compose/transport.hpp>

#include <cstring>
using namespace weft;

int main() {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto text = net.allocate(64, rights::none).value();
  std::strcpy(reinterpret_cast<char*>(text.data()), "hello, world");
  auto peer = net.connect("127.0.0.1:7471", 10s).value();
  auto page = net.receive_region(peer, 10s).value();
  bool done = false;
  const auto on = overloaded{[&](completed) { done = true; }, [](auto&&) {}};
  if (!net.until([&] { return net.put_notify(peer, text.first(13), page.at(0), 7, &done); }, 10s, on)) return 1;
  return net.until([&] { return done; }, 10s, on) && net.close(peer, 1s) ? 0 : 1;
}
