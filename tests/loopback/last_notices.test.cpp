// SPDX-License-Identifier: Apache-2.0
//
// Notices of a ring that were posted before an orderly close. A goodbye is a message, and may overtake the writes into
// the ring, so it says how many there are. The side that hears it takes them first.
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace weft::test {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

struct counted_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    f.write_immediate_bytes = 0;
    f.remote_counter_counts_writes = f.region_endpoint_binding = true;
    f.order_send_after_write = f.bytes_visible_in_order = f.reports_killed_peer = false;
    f.refused_write = refusal::silent;
    return f;
  }();
  using policies = detail::replaced<
      fabrics::loopback::policies,
      policy_set<answers::endpoint::addressed, answers::receive_pool::shared, answers::notify::remote_counter,
                 answers::write_fault::delivery_confirmed, answers::flush::tracked_writes, answers::liveness::heartbeat,
                 answers::region_binding::endpoint>>::type;
};

/// The notices that arrive of one that nobody waits for, before its poster closes.
std::vector<std::uint32_t> notices_before_a_close(std::uint64_t seed) {
  loopback::faults trouble;
  trouble.loss = 0.3;  // a lost packet comes later: messages overtake writes
  trouble.reorder = 1;
  loopback::world w(seed, trouble);
  std::vector<std::uint32_t> seen;
  bool left = false;
  region_bytes place;
  w.spawn("listener", [&] {
    auto net = open<counted_row>({.node = "listener", .service = "7471"}).value();
    const auto target = net.allocate(64, rights::all).value();
    place = net.export_region(target, owner_polls);
    const auto on = overloaded{[&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); },
                               [&](const notified& n) {
                                 EXPECT_FALSE(left);
                                 seen.push_back(n.immediate);
                               },
                               [&](const lost& l) {
                                 EXPECT_EQ(l.why.code, errc::closed);
                                 left = true;
                               },
                               [](auto&&) {}};
    EXPECT_TRUE(net.until([&] { return left; }, 20s, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(1ms);
    auto net = open<counted_row>({.sleeps = true}).value();
    const auto there = net.connect("listener:7471", 5s).value();
    const auto source = net.allocate(64, rights::none).value();
    const auto at = net.parse_region(place).value().at(0);
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(net.put_notify(there, source.slice(0, 8), at, i));
    EXPECT_TRUE(net.close(there, 5s));
  });
  const auto run = w.run(1min);
  EXPECT_TRUE(run) << run.sentence;
  return seen;
}

TEST(a_goodbye, leaves_no_notice_of_a_ring_behind) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    EXPECT_EQ(notices_before_a_close(seed), (std::vector<std::uint32_t>{0, 1, 2})) << "seed " << seed;
}

}  // namespace
}  // namespace weft::test
