// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <cstdio>
#include <exception>
#include <optional>
using namespace weft;

int main() try {
  auto net = open<selected>({.node = "127.0.0.1", .service = "7471"}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  auto peer = net.accept_one(30s).value();
  std::optional<status> end;
  const auto on = overloaded{[&](const notified& n) {
                               std::printf("%s (%u)\n", reinterpret_cast<char*>(page.data()), n.immediate);
                               end = status();
                             },
                             [&](const lost& l) { end = end.value_or(l.why); }, [](auto&&) {}};
  status s = net.retry([&] { return net.send_region(peer, page, owner_polls); }, 10s, on);
  if (s) s = net.until([&] { return end.has_value(); }, 30s, on);
  if (s) s = *end;
  if (!s) std::fprintf(stderr, "weft: %s\n", describe(s).c_str());
  return s ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
