// SPDX-License-Identifier: Apache-2.0
//
// Step 6: many posts at once, the states of a write, and reading memory of the peer.
#include "two_processes.hpp"

#include <weft/weft.hpp>

#include <cstring>

using namespace weft;

int listener(auto report) {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true}).value();
  auto page = net.allocate(65536, rights::remote_write | rights::remote_read).value();
  report(net.listen_address());
  auto caller = net.accept_one(30s).value();
  if (!net.send_region(caller, page, owner_polls)) return 1;
  bool gone = false;
  const auto on = overloaded{[&](lost) { gone = true; }, [](auto&&) {}};
  return net.until([&] { return gone; }, 10s, on) ? 0 : 1;
}

int caller(const std::string& address) {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto there = net.connect(address, 10s).value();
  auto page = net.receive_region(there, 10s).value();
  auto data = net.allocate(65536, rights::none).value();
  std::memset(data.data(), 7, data.size());

  const auto ignore = [](auto&&) {};
  {
    auto batch = net.batch(there);
    for (std::size_t each = 0; each < 16; ++each)
      if (!batch.put(data.slice(each * 4096, 4096), page.at(each * 4096))) return 1;
    if (!batch.close(nullptr)) return 1;
  }
  if (!net.flush(there, 10s, ignore)) return 1;  // every write above is visible to the peer now

  int ended = 0;
  const auto on = overloaded{[&](completed) { ++ended; }, [](auto&&) {}};
  if (!net.put(there, data.first(64), page.at(0), completes_when<weft::states::visible>(&data))) return 1;
  if (!net.until([&] { return ended == 1; }, 10s, on)) return 1;

  auto copy = net.allocate(65536, rights::none).value();
  if (!net.get(there, copy.first(65536), page.at(0), &copy)) return 1;
  if (!net.until([&] { return ended == 2; }, 10s, on)) return 1;
  const bool same = std::memcmp(copy.data(), data.data(), data.size()) == 0;
  std::printf("read back: %s\n", same ? "equal" : "different");
  return same && net.close(there, 1s, on) ? 0 : 1;
}

int main() {
  return two_processes([](auto report) { return listener(report); }, caller);
}
