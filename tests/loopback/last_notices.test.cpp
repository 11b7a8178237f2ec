// SPDX-License-Identifier: Apache-2.0
//
// Notices at both ends of a connection. A goodbye is a message, and may overtake the writes into a ring, so it says how
// many there are. The side that hears it takes them first. And notices may overtake the accept: they wait for it.
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
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

TEST(a_close_by_a_handler, ends_the_notices_of_a_ring) {
  loopback::world w(35);
  bool over = false, posted = false;
  region_bytes place;
  int notices = 0;
  w.spawn("listener", [&] {
    auto net = open<counted_row>({.node = "listener", .service = "7471"}).value();
    const auto target = net.allocate(64, rights::all).value();
    place = net.export_region(target, owner_polls);
    const auto on = overloaded{[&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); },
                               [&](const notified& n) {
                                 ++notices;
                                 EXPECT_TRUE(n.peer.alive());
                                 EXPECT_TRUE(net.close(n.peer, 0s));
                               },
                               [](auto&&) {}};
    while (!posted) {
      net.progress(on);
      loopback::sleep_for(10us);
    }
    loopback::sleep_for(5ms);
    while (!over) {
      net.progress(on);
      loopback::sleep_for(10us);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(1ms);
    auto net = open<counted_row>({.sleeps = true}).value();
    const auto there = net.connect("listener:7471", 5s).value();
    const auto source = net.allocate(64, rights::none).value();
    const auto at = net.parse_region(place).value().at(0);
    posted = true;
    for (std::uint32_t i = 0; i < 5; ++i) EXPECT_TRUE(net.put_notify(there, source.slice(0, 8), at, i));
    (void)net.until([] { return false; }, 20ms, [](auto&&) {});
    over = true;
  });
  const auto run = w.run(1min);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(notices, 1);
}

/// Writes with an immediate that names the connection, and overtakes messages.
struct overtaking_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    f.send_immediate_bytes = f.write_immediate_bytes = 8;
    f.reports_killed_peer = false;
    return f;
  }();
  using policies = detail::replaced<
      fabrics::loopback::policies,
      policy_set<answers::endpoint::addressed, answers::receive_pool::shared, answers::liveness::heartbeat>>::type;
};

struct early_run {
  std::uint32_t seen = 0;
  std::optional<std::string> why;  ///< Of the loss.
};
/// A peer accepts late, and posts this many notices at once.
early_run notices_before_the_accept(std::uint64_t seed, std::uint32_t count) {
  loopback::faults trouble;
  trouble.loss = 0.25;  // a lost packet comes later, and others overtake it
  trouble.retransmission = 150ms;
  trouble.reorder = 1;
  loopback::world w(seed, trouble);
  early_run found;
  region_bytes place;
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<overtaking_row>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto source = net.allocate(64, rights::none).value();
    const peer caller = net.accept_one(10s).value();
    const auto at = net.parse_region(place).value().at(0);
    for (std::uint32_t i = 0; i < count && !over; ++i)
      (void)net.retry([&] { return net.put_notify(caller, source.slice(0, 8), at, i); }, 1s, [](auto&&) {});
    (void)net.until([&] { return over; }, 20s, [](auto&&) {});
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(1ms);
    auto net = open<overtaking_row>({.sleeps = true}).value();
    const auto target = net.allocate(64, rights::all).value();
    place = net.export_region(target, owner_polls);
    const auto on = overloaded{[&](const notified& n) {
                                 EXPECT_LT(n.immediate, count);
                                 ++found.seen;
                               },
                               [&](const lost&) { found.why = std::string(net.reason()); }, [](auto&&) {}};
    EXPECT_TRUE(net.start_connect("listener:7471"));
    EXPECT_TRUE(net.until([&] { return found.seen == count || found.why; }, 20s, on)) << "seed " << seed;
    over = true;
  });
  const auto run = w.run(1min);
  EXPECT_TRUE(run) << run.sentence;
  return found;
}

TEST(notices_that_overtake_the_accept, are_reported_after_it_or_the_connection_ends) {
  int ended = 0;
  for (const std::uint64_t seed : {1U, 9U, 14U}) {  // of 20 seeds, 9 and 14 have an accept that is late enough
    EXPECT_EQ(notices_before_the_accept(seed, 100).seen, 100U) << "seed " << seed;
    const early_run many = notices_before_the_accept(seed, 1500);
    if (!many.why) continue;
    ++ended;
    EXPECT_NE(many.why->find("before the peer's accept"), std::string::npos) << *many.why;
  }
  EXPECT_GT(ended, 0) << "no accept came behind more notices than one side keeps";
}

}  // namespace
}  // namespace weft::test
