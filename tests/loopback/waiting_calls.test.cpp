// SPDX-License-Identifier: Apache-2.0
//
// A waiting call without a handler loses no event unseen: it ends with an error that names the event. retry() repeats
// only `again`, and its deadline says what stayed full.
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <string>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;

/// The listener sends a notice and its region. The caller sleeps meanwhile, so that one poll finds both.
TEST(receive_region, without_a_handler_names_a_notice_of_the_same_poll_and_keeps_the_region) {
  loopback::world w(5);
  bool over = false;
  bool has_connected = false;
  region_bytes of_caller{};
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto page = net.allocate(64, rights::remote_write).value();
    const auto on = overloaded{[](auto&&) {}};
    const peer p = net.accept_one(5s, on).value();
    const remote_region there = net.parse_region(of_caller).value();
    EXPECT_TRUE(net.until([&] { return has_connected; }, 5s, on));
    EXPECT_TRUE(net.retry([&] { return net.put_notify(p, page.first(8), there.at(0), 7); }, 1s, on));
    EXPECT_TRUE(net.retry([&] { return net.send_region(p, page, owner_polls); }, 1s, on));
    EXPECT_TRUE(net.until([&] { return over; }, 5s, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.sleeps = true}).value();
    const auto page = net.allocate(64, rights::remote_write).value();
    of_caller = net.export_region(page, owner_polls);
    const peer p = net.connect("listener:7471", 5s).value();
    has_connected = true;
    loopback::sleep_for(50ms);
    const auto first = net.receive_region(p, 1s);
    EXPECT_FALSE(first) << "the notice was lost without a word";
    if (!first) {
      EXPECT_EQ(first.error().sentence.rfind("a notice arrived", 0), 0U) << first.error().sentence;
    }
    const auto second = net.receive_region(p, 1s);
    over = true;
    ASSERT_TRUE(second) << second.error().sentence;
    EXPECT_EQ(second->size(), 64U);
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// A notice comes with the acceptance: the caller polls late, and finds both at once. No seed may lose it in silence.
TEST(connect, without_a_handler_names_a_notice_that_came_with_the_acceptance) {
  std::uint32_t named = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    loopback::world w(seed);
    region_bytes of_caller{};
    bool over = false;
    w.spawn("listener", [&] {
      auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
      const auto page = net.allocate(64, rights::remote_write).value();
      const auto on = overloaded{[](auto&&) {}};
      const peer p = net.accept_one(5s, on).value();
      const remote_region there = net.parse_region(of_caller).value();
      EXPECT_TRUE(net.retry([&] { return net.put_notify(p, page.first(8), there.at(0), 7); }, 1s, on));
      (void)net.until([&] { return over; }, 5s, on);
    });
    w.spawn("caller", [&] {
      loopback::sleep_for(100us);
      auto net = open<fabric>({.sleeps = true}).value();
      const auto page = net.allocate(64, rights::remote_write).value();
      of_caller = net.export_region(page, owner_polls);
      const auto p = net.connect("listener:7471", 5s);
      if (p) {
        bool came = false;
        const auto on = overloaded{[&](const notified& n) { came = came || n.immediate == 7; }, [](auto&&) {}};
        EXPECT_TRUE(net.until([&] { return came; }, 1s, on)) << "seed " << seed << " lost the notice in silence";
      } else {
        ++named;
        EXPECT_NE(p.error().sentence.find("a notice arrived"), std::string::npos) << p.error().sentence;
      }
      over = true;
    });
    const auto run = w.run(120s);
    EXPECT_TRUE(run) << run.sentence;
  }
  EXPECT_GT(named, 0U) << "no seed had both in one poll: the test shows nothing";
}

struct addressed_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    return f;
  }();
  using policies = detail::replaced<
      fabrics::loopback::policies,
      policy_set<answers::endpoint::addressed, answers::receive_pool::shared, answers::liveness::heartbeat>>::type;
};
struct other_row : addressed_row {
  static constexpr std::string_view name = "other";
};

/// Two callers whose hellos lie in one poll of the listener. Returns how many got their connection.
template <class Net, class Caller = Net>
int two_callers_of_one_poll() {
  loopback::world w(5);
  int met = 0, ended = 0;
  bool over = false;
  std::string where;
  w.spawn("listener", [&] {
    auto net = open<Net>({.node = "listener", .service = "7471"}).value();
    if constexpr (std::same_as<Net, Caller>) where = net.listen_address();
    else where = net.template listen_address<Caller>();
    loopback::sleep_for(5ms);
    for (int i = 0; i < 2; ++i) {
      const auto p = net.accept_one(500ms);
      EXPECT_TRUE(p) << p.error().sentence;
    }
    EXPECT_EQ(net.accept_one(10ms).why().code, errc::deadline) << "a request was taken twice";
    while (ended < 2) {
      net.progress([](auto&&) {});
      loopback::sleep_for(100us);
    }
    over = true;
  });
  for (const char* name : {"a", "b"})
    w.spawn(name, [&] {
      loopback::sleep_for(1ms);
      auto net = open<Caller>({}).value();
      met += net.connect(where, 1s) ? 1 : 0;
      ++ended;
      while (!over) loopback::sleep_for(100us);
    });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  return met;
}

TEST(accept_one, without_a_handler_leaves_a_further_request_to_the_next_call) {
  EXPECT_EQ(two_callers_of_one_poll<fabric>(), 2);
  EXPECT_EQ(two_callers_of_one_poll<addressed_row>(), 2);
}

TEST(accept_one, of_a_set_without_a_handler_leaves_a_further_request_to_the_next_call) {
  using both = fabric_set<fabric, other_row>;
  EXPECT_EQ((two_callers_of_one_poll<both, other_row>()), 2);
}

/// A request and a notice of another peer come in one poll.
TEST(accept_one, without_a_handler_names_a_notice_of_the_same_poll_and_keeps_the_request) {
  loopback::world w(5);
  region_bytes place{};
  bool met = false, over = false;
  w.spawn("listener", [&] {
    auto net = open<addressed_row>({.node = "listener", .service = "7471"}).value();
    const auto page = net.allocate(64, rights::all).value();
    place = net.export_region(page, owner_polls);
    EXPECT_TRUE(net.accept_one(5s));
    while (!met) {
      net.progress([](auto&&) {});
      loopback::sleep_for(10us);
    }
    loopback::sleep_for(20ms);
    const auto first = net.accept_one(100ms);
    ASSERT_FALSE(first) << "the notice was lost without a word";
    EXPECT_EQ(first.error().sentence.rfind("a notice arrived", 0), 0U) << first.error().sentence;
    EXPECT_TRUE(net.accept_one(100ms));
    while (!over) {
      net.progress([](auto&&) {});
      loopback::sleep_for(10us);
    }
  });
  w.spawn("first", [&] {
    loopback::sleep_for(100us);
    auto net = open<addressed_row>({}).value();
    const peer p = net.connect("listener:7471", 5s).value();
    const auto from = net.allocate(64, rights::none).value();
    met = true;
    EXPECT_TRUE(net.put_notify(p, from.first(8), net.parse_region(place).value().at(0), 7));
    while (!over) {
      net.progress([](auto&&) {});
      loopback::sleep_for(10us);
    }
  });
  w.spawn("second", [&] {
    while (!met) loopback::sleep_for(100us);
    loopback::sleep_for(1ms);
    auto net = open<addressed_row>({}).value();
    EXPECT_TRUE(net.connect("listener:7471", 1s));
    over = true;
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
}

/// A post that is never taken ends by the deadline. The status says that nothing was posted, and what stayed full.
TEST(retry, whose_post_is_never_taken_says_what_stayed_full) {
  loopback::world w(5);
  w.spawn("alone", [&] {
    auto net = open<fabric>({.sleeps = true}).value();
    const auto on = overloaded{[](auto&&) {}};
    const status late = net.retry([] { return again(waits_for::receive_slot, "send"); }, 50ms, on);
    EXPECT_EQ(late.code, errc::deadline);
    EXPECT_EQ(late.waits_for(), waits_for::receive_slot);
    EXPECT_STREQ(late.operation, "send");
    int refusals = 0;
    const status permanent = net.retry([&] { return ++refusals, error(errc::denied, "put"); }, 50ms, on);
    EXPECT_EQ(permanent.code, errc::denied);
    EXPECT_EQ(refusals, 1) << "a permanent error was repeated";
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// duration::max() says that there is no limit. Added to the time, it would be a moment long ago.
TEST(waiting, accepts_the_largest_duration) {
  loopback::world w(5);
  constexpr duration no_limit = duration::max();
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto on = overloaded{[](auto&&) {}};
    const auto p = net.accept_one(no_limit, on);
    ASSERT_TRUE(p) << p.error().sentence;
    EXPECT_TRUE(net.until([&] { return over; }, no_limit, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100ms);
    auto net = open<fabric>({.sleeps = true}).value();
    const auto p = net.connect("listener:7471", no_limit);
    ASSERT_TRUE(p) << p.error().sentence;
    loopback::sleep_for(100ms);
    EXPECT_TRUE(net.close(*p, no_limit));
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

}  // namespace
}  // namespace weft
