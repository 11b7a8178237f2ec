// SPDX-License-Identifier: Apache-2.0
#include <weft/compose/selected.hpp>
#include <weft/compose/transport.hpp>

#include <cstdio>
using namespace weft;

int main() {
  auto net = open<selected>({.node = "127.0.0.1", .service = "7471"}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  auto peer = net.accept_one(30s).value();
  bool heard = false;
  const auto on = overloaded{
      [&](notified n) { heard = std::printf("%s (%u)\n", reinterpret_cast<char*>(page.data()), n.immediate) > 0; },
      [](auto&&) {}};
  if (!net.until([&] { return net.send_region(peer, page, owner_polls); }, 10s, on))
    return 1;  // a full queue says `again`
  return net.until([&] { return heard; }, 30s, on) ? 0 : 1;
}
