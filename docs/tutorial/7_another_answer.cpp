// SPDX-License-Identifier: Apache-2.0
//
// Step 7: the program of step 2 with another answer than the row chose.
#include "two_processes.hpp"

#include <weft/compose/with.hpp>
#include <weft/weft.hpp>

#include <cstring>

using namespace weft;

using by_message = with<selected, answers::notify::message_after_delivery>;

int listener(auto report) {
  auto net = open<by_message>({.node = "127.0.0.1", .listens = true}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  report(net.listen_address());
  auto caller = net.accept_one(30s).value();
  if (!net.send_region(caller, page, owner_polls)) return 1;
  std::uint32_t number = 0;
  const auto on = overloaded{[&](notified n) { number = n.immediate; }, [](auto&&) {}};
  if (!net.until([&] { return number != 0; }, 10s, on)) return 1;
  std::printf("%s (%u)\n", reinterpret_cast<const char*>(page.data()), number);
  return net.close(caller, 1s, on) ? 0 : 1;
}

int caller(const std::string& address) {
  auto net = open<by_message>({.node = "127.0.0.1"}).value();
  auto there = net.connect(address, 10s).value();
  auto page = net.receive_region(there, 10s).value();
  auto text = net.allocate(64, rights::none).value();
  std::memcpy(text.data(), "written, then a message says so", 32);
  bool done = false;
  const auto on = overloaded{[&](completed) { done = true; }, [](auto&&) {}};
  if (!net.put_notify(there, text.first(32), page.at(0), 7, &done)) return 1;
  return net.until([&] { return done; }, 10s, on) && net.close(there, 1s, on) ? 0 : 1;
}

int main() {
  return two_processes([](auto report) { return listener(report); }, caller);
}
