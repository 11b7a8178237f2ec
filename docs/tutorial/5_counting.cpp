// SPDX-License-Identifier: Apache-2.0
//
// Step 5: count notices instead of trusting the last one, and count words by remote atomics.
#include "two_processes.hpp"

#include <weft/compose/notification_counter.hpp>
#include <weft/weft.hpp>

using namespace weft;

using chunk = immediate_layout<field<"id", 8>, field<"sequence", 16>>;
constexpr std::uint32_t chunks = 64;

int listener(auto report) {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true}).value();
  auto page = net.allocate(chunks * 64, rights::remote_write).value();
  auto sum = net.allocate(64, rights::remote_atomic).value();
  report(net.listen_address());
  auto caller = net.accept_one(30s).value();
  if (!net.send_region(caller, page, owner_polls)) return 1;
  if (!net.send_region(caller, sum, owner_polls)) return 1;

  bool gone = false;
  const auto on = overloaded{[&](lost) { gone = true; }, [](auto&&) {}};
  notification_counter counter(16);
  if (!counter.wait(net, 7, chunks, 10s, counting<chunk, "id">(counter, on))) return 1;
  std::printf("all %u chunks are here\n", chunks);
  return net.until([&] { return gone; }, 10s, on) ? 0 : 1;
}

int caller(const std::string& address) {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto there = net.connect(address, 10s).value();
  auto page = net.receive_region(there, 10s).value();
  auto sum = net.receive_region(there, 10s).value();
  auto data = net.allocate(64, rights::none).value();

  std::uint32_t ended = 0;
  std::uint64_t last = 0;
  const auto on = overloaded{[&](completed c) { ++ended, last = c.old; }, [](auto&&) {}};
  for (std::uint32_t number = 0; number < chunks; ++number) {
    const auto make = [&] {
      return net.put_notify(there, data.first(64), page.at(number * 64), chunk(7, number), &data);
    };
    if (!net.retry(make, 10s, on)) return 1;
  }
  for (int turn = 0; turn < 2; ++turn)
    if (!net.fetch_add(there, sum.at(0), std::uint64_t(5), &data)) return 1;
  if (!net.until([&] { return ended == chunks + 2; }, 10s, on)) return 1;
  std::printf("the word was %llu before the last addition\n", static_cast<unsigned long long>(last));
  return last == 5 && net.close(there, 1s, on) ? 0 : 1;
}

int main() {
  return two_processes([](auto report) { return listener(report); }, caller);
}
