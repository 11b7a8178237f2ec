// SPDX-License-Identifier: Apache-2.0
//
// bad_listener open NODE SERVICE: opens a transport there, prints its address, and waits for the end of its input.
// bad_listener MODE: a listener for the hello world's caller that does one thing wrong. It prints its address, then
// accepts one peer. Modes: small (its region is shorter than the text), key (it deregisters the region after it
// described it), killed (it accepts, and ends by SIGKILL before it describes a region).
#include <weft/weft.hpp>

#include <csignal>
#include <cstdio>
#include <string_view>
using namespace weft;

int main(int argc, char** argv) try {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "open" && argc == 4) {
    auto net = open<selected>({.node = argv[2], .service = argv[3]}).value();
    std::printf("%s\n", net.listen_address().c_str());
    (void)std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return 0;
  }
  if (mode != "small" && mode != "key" && mode != "killed")
    throw std::invalid_argument("bad_listener small|key|killed, or bad_listener open NODE SERVICE");
  auto net = open<selected>({.node = "127.0.0.1", .listens = true}).value();
  auto page = net.allocate(mode == "small" ? 8 : 4096, rights::remote_write).value();
  std::printf("%s\n", net.listen_address().c_str());
  (void)std::fflush(stdout);
  auto peer = net.accept_one(30s).value();
  bool over = false;
  const auto on = overloaded{[&](const lost&) { over = true; }, [](auto&&) {}};
  if (mode == "killed") {
    (void)net.until([&] { return over; }, 300ms, on);
    (void)std::raise(SIGKILL);
  }
  require(net.retry([&] { return net.send_region(peer, page, owner_polls); }, 10s, on));
  if (mode == "key") page.reset();
  (void)net.until([&] { return over; }, 20s, on);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
