// SPDX-License-Identifier: Apache-2.0
//
// Two listeners that dial each other at the same time, on a fabric whose addresses travel over a side channel. A side
// channel answers only while its owner polls, and an owner that asks the other one does not poll.
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::test {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

struct opaque_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    f.address_resolution = address_resolution::opaque;
    return f;
  }();
  using policies = detail::replaced<
      fabrics::loopback::policies,
      policy_set<answers::endpoint::addressed, answers::bootstrap::exchange, answers::liveness::heartbeat,
                 answers::receive_pool::shared, answers::flush::message_behind_writes>>::type;
};

TEST(listeners, that_dial_each_other_at_once_both_meet) {
  loopback::world w(1);
  std::string places[2];
  int met = 0;
  int requests = 0;
  for (const int self : {0, 1})
    w.spawn("node" + std::to_string(self), [&, self] {
      auto net = open<opaque_row>({.node = "node" + std::to_string(self), .service = "7471", .sleeps = true}).value();
      places[self] = net.listen_address();
      const auto on = overloaded{[&](const requested& r) {
                                   ++requests;
                                   EXPECT_TRUE(net.accept(r.peer));
                                 },
                                 [&](const connected&) { ++met; },
                                 [](const lost& l) { ADD_FAILURE() << int(l.why.code); }, [](auto&&) {}};
      loopback::sleep_for(1ms);
      const instant from = net.now();
      const auto dialled = net.start_connect(places[1 - self]);
      ASSERT_TRUE(dialled) << dialled.error().sentence;
      (void)net.until([&] { return met == 2 && requests == 2; }, 2s, on);
      EXPECT_LE(net.now() - from, 1s);
      EXPECT_EQ(met, 2);
      loopback::sleep_for(1ms);  // both look before one closes
    });
  const auto run = w.run(1min);
  EXPECT_TRUE(run) << run.sentence;
}

}  // namespace
}  // namespace weft::test
