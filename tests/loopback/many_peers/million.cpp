// SPDX-License-Identifier: Apache-2.0
//
// loopback.million_peers: so many peers of one listener meet in virtual time. Prints, as one line of JSON, the bytes
// that weft keeps for a peer of one side, counted in the allocator, and the records that it looks at. The simulated
// network keeps memory too. It is measured alone first, with as many links of two bare ports, and subtracted.
#include "meeting.hpp"

#include <malloc.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <exception>

namespace {

using namespace weft;
using test::addressed_peers;

std::uint64_t held() {
  const auto all = ::mallinfo2();
  return all.uordblks + all.hblkhd;
}
double processor_seconds() {
  timespec at{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) / 1e9;
}

/// Bytes of two ports with so many links each, and no weft.
std::uint64_t network_bytes(std::uint32_t links) {
  using raw_port = addressed_peers::port<shape_of<addressed_peers>>;
  const std::uint64_t before = held();
  test::loopback::world world(7);
  std::uint64_t after = 0;
  world.spawn("listener", [&] {
    const port_options o{.operations = 256, .receives = 512, .links = links};
    auto one = raw_port::open(o).value(), other = raw_port::open(o).value();
    for (auto* port : {one.get(), other.get()})
      for (std::uint32_t i = 0; i < links; ++i) {
        (void)port->dial(port == one.get() ? other->address() : one->address(), i);
        if (i % 64 == 63) port->poll_links([](auto...) { return no_tag; });
      }
    after = held();
  });
  if (!world.run(std::chrono::hours(1))) throw std::runtime_error("the bare ports did not end");
  return after - before;
}

/// Bytes of a world with two transports: the most until so many peers have met.
std::uint64_t met_bytes(std::uint32_t peers, test::meeting_plan plan, test::meeting_result& seen) {
  plan.peers = peers;
  const std::uint64_t before = held();
  std::uint64_t after = 0;
  seen = test::meeting<addressed_peers>::play(plan, [&] { after = std::max(after, held()); });
  return after - before;
}

}  // namespace

int main(int argc, char** argv) try {
  test::meeting_plan plan;
  plan.peers = 1'000'000;
  plan.parts = false;
  CLI::App app("Peers of one listener that meet in virtual time: bytes and looks of each.");
  app.add_option("--peers", plan.peers, "Of the listener")->check(CLI::Range(1000, 1'000'000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  constexpr std::uint32_t few = 100;
  test::meeting_result seen;
  const std::uint64_t bare_few = network_bytes(few), bare = network_bytes(plan.peers);
  const std::uint64_t base = met_bytes(few, plan, seen);
  const double began = processor_seconds();
  const std::uint64_t all = met_bytes(plan.peers, plan, seen);
  const double took = processor_seconds() - began;
  const double sides = 2.0 * (plan.peers - few);
  const double network = static_cast<double>(bare - bare_few) / sides;
  const double each = static_cast<double>(all - base) / sides - network;
  std::printf(
      "{\"peers\": %u, \"at_once\": %u, \"met\": %u, \"lost\": %u, \"record_bytes\": %zu, \"bytes_a_peer\": %.1f, "
      "\"network_bytes_a_peer\": %.1f, \"compared_a_hello\": %.2f, \"looks_in_meeting\": %" PRIu64
      ", \"looks_in_1000_sleeps\": %" PRIu64 ", \"looks_in_an_idle_second\": %" PRIu64
      ", \"processor_us_a_peer\": %.2f, \"virtual_ms\": %lld}\n",
      plan.peers, plan.at_once, seen.met, seen.lost, sizeof(detail::engine<addressed_peers>::record), each, network,
      static_cast<double>(seen.compared) / plan.peers, seen.in_meeting, seen.in_sleeps, seen.in_idle,
      took * 1e6 / plan.peers, static_cast<long long>(seen.meeting / std::chrono::milliseconds(1)));
  std::fflush(stdout);
  // Both transports stand: nobody says a million goodbyes.
  std::_Exit(seen.met == plan.peers && seen.lost == 0 ? 0 : 1);
} catch (const std::exception& e) {
  return std::fprintf(stderr, "loopback.million_peers: %s\n", e.what()), 1;
}
