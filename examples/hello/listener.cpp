// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <cstdio>
#include <optional>
using namespace weft;

int main() try {
  auto net = open<selected>({.node = "127.0.0.1", .service = "7471"}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  auto peer = net.accept_one(30s).value();
  std::optional<status> end;
  const auto on = overloaded{[&](notified n) {
                               std::printf("%s (%u)\n", reinterpret_cast<char*>(page.data()), n.immediate);
                               end = status();
                             },
                             [&](lost l) { end = end.value_or(l.why); }, [](auto&&) {}};
  require(net.retry([&] { return net.send_region(peer, page, owner_polls); }, 10s, on));
  require(net.until([&] { return end.has_value(); }, 30s, on));
  require(*end);
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
