// SPDX-License-Identifier: Apache-2.0
//
// The writer of bench/python/run --lists in C++: `lists HOST:PORT`. It reads lines "SIZE WINDOW COUNT" and answers each
// with the nanoseconds for a prepared list of COUNT puts with one notice. bench/python/lists.py is the same in Python.
// Hot path: post and wait. Threads: one owner.
#include <weft/transfers/engine.hpp>
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

using namespace weft;

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "lists: say HOST:PORT\n"), 2;
  constexpr std::size_t largest = 4 << 20;
  auto net = open<selected>({.node = "127.0.0.1", .silence_limit = 300s, .fabrics = "tcp"}).value();
  const auto on =
      overloaded{[](lost) { std::fprintf(stderr, "lists: the target is gone\n"), std::exit(1); }, [](auto&&) {}};
  const peer to = net.connect(argv[1], 20s).value();
  const remote_region there = net.receive_region(to, 20s).value();
  auto here = net.allocate(largest, rights::none).value();
  auto lists = transfers::make_engine(net, {.in_flight_per_peer = 16}).value();
  unsigned long size = 0, window = 0, count = 0;
  while (std::scanf("%lu %lu %lu", &size, &window, &count) == 3) {
    std::vector<transfers::transfer> all;
    for (unsigned long i = 0; i < count; ++i) {
      const std::size_t at = i * size % largest;
      all.push_back({here.slice(at, size), there.at(at)});
    }
    const auto prepared = lists.prepare_put(to, all).value();
    const auto begin = std::chrono::steady_clock::now();
    const transfers::started_list one = lists.post(prepared, transfers::notice{1});
    require(one.why);
    require(lists.wait(one.handle, 60s, on));
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
    require(lists.release(one.handle));
    std::printf("%lld\n", static_cast<long long>(taken.count()));
    std::fflush(stdout);
  }
} catch (const std::exception& e) {
  return std::fprintf(stderr, "lists: %s\n", e.what()), 1;
}
