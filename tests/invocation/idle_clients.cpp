// SPDX-License-Identifier: Apache-2.0
//
// invocation.idle_clients.<fabric> ADDRESS COUNT: connects as so many clients, asks for nothing, prints "ready" when
// each has an answer, and stays until standard input ends. Exit codes: 0, 1 (a sentence), 2 usage.
#include <invocation/protocol.hpp>

#include <weft/compose/selected.hpp>
#include <weft/compose/transport.hpp>

#include <poll.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using namespace weft;
  using namespace std::chrono_literals;
  if (argc != 3) {
    std::fputs("usage: invocation.idle_clients ADDRESS COUNT\n", stderr);
    return 2;
  }
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  auto net = open<selected>({.node = "127.0.0.1", .peers = count + 8, .silence_limit = 60s});
  if (!net) {
    std::fprintf(stderr, "invocation.idle_clients: %s\n", net.error().sentence.c_str());
    return 1;
  }
  std::uint32_t answered = 0;
  const auto on = overloaded{[&](const connected&) { ++answered; }, [&](const lost&) { ++answered; }, [](auto&&) {}};
  const auto hello = invocation::encode(invocation::greeting{invocation::role::client, 0, {}});
  std::uint32_t begun = 0;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  bool said = false;
  while (::poll(&input, 1, 1) == 0) {
    for (int i = 0; i < 16 && begun < count; ++i, ++begun)
      if (const auto p = net->start_connect(argv[1], hello); !p) ++answered;
    for (int i = 0; i < 64; ++i) net->progress(on);
    if (said || begun < count || answered < count) continue;
    said = true;
    std::puts("ready");
    std::fflush(stdout);
  }
  return 0;
}
