// SPDX-License-Identifier: Apache-2.0
//
// Connections that were made and closed leave no memory behind: bytes of operator new, exactly, on both sides together.
// WEFT_ROUNDS sets the number of rounds. Hot path: no. Threads: one.
#include "../../conformance/allocation_count.hpp"
#include "../../conformance/sides/test_side.hpp"

#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;

/// Bytes that both sides keep after `rounds` connections, in addition to what they kept after an eighth of them.
std::int64_t bytes_kept_by(std::size_t rounds) {
  loopback::world w(1);
  std::int64_t grown = -1;
  std::size_t accepted = 0;
  w.serve("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true, .peers = 64}).value();
    const auto on = overloaded{
        [&](const requested& r) { accepted += std::size_t{static_cast<bool>(net.accept(r.peer))}; }, [](auto&&) {}};
    (void)net.until([] { return false; }, 1000h, on);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(1ms);
    auto net = open<fabric>({.sleeps = true, .peers = 64}).value();
    const auto on = overloaded{[](auto&&) {}};
    // Records and receives of ended links are given back by timers of 1 s (progress/timers.hpp).
    const auto kept_when_settled = [&] {
      (void)net.until([] { return false; }, 5s, on);
      return conformance::kept_bytes();
    };
    std::int64_t warm = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
      if (i == rounds / 8) warm = kept_when_settled();
      const auto there = net.connect("listener:7471", 10s);
      ASSERT_TRUE(there) << there.error().sentence;
      ASSERT_TRUE(net.close(*there, 10s, on));
    }
    grown = kept_when_settled() - warm;
  });
  const auto run = w.run(1000h);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(accepted, rounds);
  return grown;
}

TEST(reconnecting, keeps_no_byte_of_an_ended_connection) {
  const std::size_t rounds = conformance::rounds_asked(800);
  const std::int64_t grown = bytes_kept_by(rounds);
  RecordProperty("rounds", std::to_string(rounds));
  RecordProperty("kept_bytes", std::to_string(grown));
  EXPECT_EQ(grown, 0) << rounds << " rounds";
}

}  // namespace
}  // namespace weft
