// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

#include <cstdio>
#include <cstring>
#include <optional>
using namespace weft;

int main(int argc, char** argv) try {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto text = net.allocate(64, rights::none).value();
  std::strcpy(reinterpret_cast<char*>(text.data()), "hello, world");
  auto peer = net.connect(argc > 1 ? argv[1] : "127.0.0.1:7471", 10s).value();
  auto page = net.receive_region(peer, 10s).value();
  std::optional<status> end;
  const auto on = overloaded{[&](completed) { end = status(); }, [&](failed f) { end = f.why; },
                             [&](lost l) { end = end.value_or(l.why); }, [](auto&&) {}};
  require(net.retry([&] { return net.put_notify(peer, text.first(13), page.at(0), 7, &end); }, 10s, on));
  require(net.until([&] { return end.has_value(); }, 20s, on));
  require(*end);
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
