// SPDX-License-Identifier: Apache-2.0
//
// Step 3: every error has a code and a sentence. Only `again` means: try once more.
#include "two_processes.hpp"

#include <weft/weft.hpp>

using namespace weft;

int listener(auto report) {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  report(net.listen_address());
  auto caller = net.accept_one(30s).value();
  bool gone = false;
  const auto on = overloaded{[&](lost l) { gone = l.why.code == errc::closed; }, [](auto&&) {}};
  if (!net.retry([&] { return net.send_region(caller, page, owner_polls); }, 1s, on)) return 1;
  return net.until([&] { return gone; }, 10s, on) ? 0 : 1;
}

int caller(const std::string& address) {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto nobody = net.connect("127.0.0.1:1", 1s);
  if (nobody || nobody.error().sentence.empty()) return 1;
  std::printf("%s\n", nobody.error().sentence.c_str());

  auto there = net.connect(address, 10s).value();
  auto page = net.receive_region(there, 10s).value();
  auto data = net.allocate(8192, rights::none).value();
  status ended{};
  bool done = false;
  const auto on = overloaded{[&](completed) { done = true; }, [&](failed f) { ended = f.why, done = true; },
                             [&](lost l) { ended = l.why, done = true; }, [](auto&&) {}};
  const status large = net.retry([&] { return net.put(there, data.first(8192), page.at(0), &data); }, 1s, on);
  std::printf("%s\n", describe(large).c_str());
  if (large.code != errc::out_of_range) return 1;

  if (!net.retry([&] { return net.put(there, data.first(4096), page.at(0), &data); }, 1s, on)) return 1;
  if (!net.until([&] { return done; }, 10s, on)) return 1;
  std::printf("%s\n", describe(ended).c_str());
  return ended && net.close(there, 1s, on) ? 0 : 1;
}

int main() {
  return two_processes([](auto report) { return listener(report); }, caller);
}
