// SPDX-License-Identifier: Apache-2.0
//
// Step 4: a target that sleeps between events, and a target whose loop runs in a thread of weft's.
#include "two_processes.hpp"

#include <weft/compose/progress_thread.hpp>
#include <weft/weft.hpp>

#include <atomic>

using namespace weft;

int listener(auto report) {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true, .sleeps = true}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  report(net.listen_address());
  auto caller = net.accept_one(30s).value();
  if (!net.send_region(caller, page, owner_polls)) return 1;

  int notices = 0;
  const auto on = overloaded{[&](notified) { ++notices; }, [](auto&&) {}};
  const instant end = net.now() + 10s;
  while (notices < 1 && net.now() < end) {
    if (net.progress(on) == 0) (void)net.wait(100ms);
  }

  std::atomic<int> more = 0;
  progress_thread loop(std::move(net), overloaded{[&](notified) {
                                                    more.fetch_add(1);
                                                    more.notify_one();
                                                  },
                                                  [](auto&&) {}});
  more.wait(0);
  auto back = loop.stop();
  return notices == 1 && more == 1 && back.close(caller, 1s, on) ? 0 : 1;
}

int caller(const std::string& address) {
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  auto there = net.connect(address, 10s).value();
  auto page = net.receive_region(there, 10s).value();
  auto word = net.allocate(64, rights::none).value();
  std::uint32_t ended = 0;
  bool gone = false;
  const auto on = overloaded{[&](completed) { ++ended; }, [&](lost) { gone = true; }, [](auto&&) {}};
  for (std::uint32_t turn = 1; turn <= 2; ++turn) {
    (void)net.until([] { return false; }, 200ms, on);  // the listener sleeps meanwhile
    if (!net.put_notify(there, word.first(8), page.at(0), turn, &word)) return 1;
    if (!net.until([&] { return ended == turn; }, 10s, on)) return 1;
  }
  return net.until([&] { return gone; }, 10s, on) ? 0 : 1;
}

int main() {
  return two_processes([](auto report) { return listener(report); }, caller);
}
