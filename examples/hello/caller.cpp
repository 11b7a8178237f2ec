// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
using namespace weft;

int main(int argc, char** argv) try {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto text = net.allocate(64, rights::none).value();
  std::strcpy(reinterpret_cast<char*>(text.data()), "hello, world");
  auto peer = net.connect(argc > 1 ? argv[1] : "127.0.0.1:7471", 10s).value();
  auto page = net.receive_region(peer, 10s).value();
  std::optional<status> end;
  const auto on = overloaded{[&](const completed&) { end = status(); }, [&](const failed& f) { end = f.why; },
                             [&](const lost& l) { end = end.value_or(l.why); }, [](auto&&) {}};
  status s = net.retry([&] { return net.put_notify(peer, text.first(13), page.at(0), 7, &end); }, 10s, on);
  if (s) s = net.until([&] { return end.has_value(); }, 10s, on);
  if (s) s = *end;
  if (s) s = net.close(peer, 1s, on);
  if (!s) std::fprintf(stderr, "weft: %s\n", describe(s).c_str());
  return s ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
