// SPDX-License-Identifier: Apache-2.0
//
// Step 1: one message from one process to another.
#include "two_processes.hpp"

#include <weft/weft.hpp>

#include <cstring>

using namespace weft;

int listener(auto report) {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true}).value();
  report(net.listen_address());
  auto caller = net.accept_one(30s).value();
  bool done = false;
  const auto on =
      overloaded{[&](received r) {
                   std::printf("%.*s\n", int(r.message.size()), reinterpret_cast<const char*>(r.message.data()));
                   done = true;
                 },
                 [](auto&&) {}};
  return net.until([&] { return done; }, 10s, on) && net.close(caller, 1s, on) ? 0 : 1;
}

int caller(const std::string& address) {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto there = net.connect(address, 10s).value();
  auto text = net.allocate(64, rights::none).value();
  std::memcpy(text.data(), "hello", 5);
  bool done = false;
  const auto on = overloaded{[&](completed) { done = true; }, [](auto&&) {}};
  if (!net.send(there, text.first(5), &done)) return 1;
  return net.until([&] { return done; }, 10s, on) && net.close(there, 1s, on) ? 0 : 1;
}

int main() {
  return two_processes([](auto report) { return listener(report); }, caller);
}
