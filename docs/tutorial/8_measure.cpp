// SPDX-License-Identifier: Apache-2.0
//
// Step 8: how long a round trip takes here: a put_notify there, and one back.
#include "two_processes.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <array>

using namespace weft;

constexpr std::uint32_t turns = 1000;

/// One side of the game. The caller begins.
struct player {
  std::uint32_t heard = 0;
  void operator()(notified n) { heard = n.immediate; }
  void operator()(auto&&) {}

  template <class Net>
  bool play(Net& net, peer there, local_memory ball, remote_place at, bool begins, auto after_each) {
    for (std::uint32_t turn = 1; turn <= turns; ++turn) {
      if (!begins && !net.until([&] { return heard == turn; }, 10s, *this)) return false;
      if (!net.retry([&] { return net.put_notify(there, ball, at, turn); }, 10s, *this)) return false;
      if (begins && !net.until([&] { return heard == turn; }, 10s, *this)) return false;
      after_each(turn);
    }
    return true;
  }
};

int listener(auto report) {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true}).value();
  auto page = net.allocate(64, rights::remote_write).value();
  report(net.listen_address());
  auto caller = net.accept_one(30s).value();
  if (!net.send_region(caller, page, owner_polls)) return 1;
  player one;
  auto theirs = net.receive_region(caller, 10s, one).value();  // its first notice may come with the region
  if (!one.play(net, caller, page.first(8), theirs.at(0), false, [](std::uint32_t) {})) return 1;
  bool gone = false;
  const auto on = overloaded{[&](lost) { gone = true; }, [](auto&&) {}};
  return net.until([&] { return gone; }, 10s, on) ? 0 : 1;
}

int caller(const std::string& address) {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto there = net.connect(address, 10s).value();
  auto page = net.allocate(64, rights::remote_write).value();
  auto theirs = net.receive_region(there, 10s).value();
  if (!net.send_region(there, page, owner_polls)) return 1;
  std::array<duration, turns> times;
  instant before = net.now();
  const auto keep = [&](std::uint32_t turn) {
    const instant now = net.now();
    times[turn - 1] = now - before;
    before = now;
  };
  if (!player().play(net, there, page.first(8), theirs.at(0), true, keep)) return 1;
  std::sort(times.begin(), times.end());
  std::printf("round trip: median %lld ns\n", static_cast<long long>(times[turns / 2].count()));
  return net.close(there, 1s, [](auto&&) {}) ? 0 : 1;
}

int main() {
  return two_processes([](auto report) { return listener(report); }, caller);
}
