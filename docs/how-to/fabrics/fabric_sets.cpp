// SPDX-License-Identifier: Apache-2.0
//
// The code of fabric_sets.md: one transport of two fabrics.
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>
#include <weft/generated/tcp.hpp>

#include <cstdio>
#include <cstring>
#include <string>

using namespace weft;

using near_and_far = fabric_set<fabrics::mapped, fabrics::tcp>;

int main(int argc, char** argv) try {
  auto net = open<near_and_far>({.node = "127.0.0.1", .listens = argc < 2}).value();
  const auto on = [](auto&&) {};
  if (argc < 2) {
    std::printf("%s\n", net.listen_address().c_str());
    std::fflush(stdout);
    const peer caller = net.accept_one(20s, on).value();
    return net.until([&] { return !caller.alive(); }, 20s, on) ? 0 : 1;
  }
  const peer other = net.connect(argv[1], 10s, on).value();
  for (const fabric_verdict& each : net.explain(other))
    std::printf("%s%.*s: %s\n", each.is == fabric_verdict::kind::taken ? "* " : "  ",
                static_cast<int>(each.fabric.size()), each.fabric.data(), each.reason.c_str());
  return net.close(other, 5s, on) ? 0 : 1;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
