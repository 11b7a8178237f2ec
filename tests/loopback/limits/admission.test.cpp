// SPDX-License-Identifier: Apache-2.0
//
// Strangers that dial a listener, in virtual time: silent ones keep no place that an honest caller needs, and requests
// beyond the limits cost no place either. Honest callers get a connection, or a sentence.
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

struct connected_row : fabrics::loopback {};
/// Addressed peers: a hello alone makes a connection.
struct addressed_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    return f;
  }();
  using policies =
      policy_set<answers::endpoint::addressed, answers::bootstrap::socket_address, answers::framing::immediate,
                 answers::region_address::offset, answers::region_key::application,
                 answers::local_descriptor::not_needed, answers::region_binding::domain, answers::notify::immediate,
                 answers::write_fault::reported, answers::atomics::provider, answers::progress::polling,
                 answers::wait::yield, answers::threading::one_owner, answers::completion::selective,
                 answers::liveness::heartbeat, answers::receive_buffers::slots, answers::receive_pool::shared,
                 answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one,
                 answers::inject::as_the_row_permits, answers::checks::verified, answers::authentication::none,
                 answers::tagged::none>;
};

using raw_port = connected_row::port<shape_of<connected_row>>;
constexpr auto ignore = [](auto&&) {};

/// A port that dials the listener and says nothing. It polls, so that its links stand.
struct silent_strangers {
  std::unique_ptr<raw_port> port = raw_port::open({.links = 64}).value();
  int refused = 0;
  int lost = 0;

  void dial(int count) {
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(port->dial(port->resolve("listener", "7471").value(), static_cast<std::uint32_t>(i)));
  }
  void step() {
    (void)port->poll(ignore);
    port->poll_links([this](link_change what, std::uint32_t, raw_port::link) -> std::uint32_t {
      refused += int{what == link_change::refused};
      lost += int{what == link_change::lost};
      return no_tag;
    });
    loopback::sleep_for(1ms);
  }
};

/// What a listener saw. It accepts each request.
struct listener_view {
  int requests = 0;
  std::uint64_t turned_away = 0;
  std::uint64_t garbled = 0;
};

template <class F>
listener_view listen_until(const bool& over, transport_options options) {
  options.node = "listener";
  options.service = "7471";
  options.sleeps = true;
  auto net = open<F>(options).value();
  listener_view seen;
  while (!over) {
    net.progress(overloaded{[&](const requested& r) {
                              ++seen.requests;
                              EXPECT_TRUE(net.accept(r.peer));
                            },
                            [](auto&&) {}});
    (void)net.wait(1ms);
  }
  seen.turned_away = net.turned_away();
  seen.garbled = net.garbled();
  return seen;
}

TEST(admission, silent_callers_leave_their_places_to_honest_ones) {
  loopback::world w(41);
  bool over = false;
  listener_view seen;
  w.spawn("listener", [&] { seen = listen_until<connected_row>(over, {.peers = 8, .handshake_limit = 1h}); });
  w.spawn("strangers", [&] {
    loopback::sleep_for(1ms);
    silent_strangers all;
    all.dial(20);
    while (!over) all.step();
    EXPECT_EQ(all.refused, 12) << "of 20; the table has 8 places";
    EXPECT_EQ(all.lost, 3) << "one for each honest caller";
  });
  w.spawn("honest", [&] {
    loopback::sleep_for(500ms);
    std::vector<transport<connected_row>> nets;
    for (int i = 0; i < 3; ++i) {
      nets.push_back(open<connected_row>({.sleeps = true}).value());
      const auto met = nets.back().connect("listener:7471", 5s);
      EXPECT_TRUE(met) << met.error().sentence;
    }
    loopback::sleep_for(5ms);  // until the strangers know
    over = true;
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(seen.requests, 3);
  EXPECT_EQ(seen.turned_away, 15U);
}

TEST(admission, a_silent_caller_is_dropped_at_the_limit) {
  loopback::world w(42);
  bool over = false;
  listener_view seen;
  w.spawn("listener", [&] { seen = listen_until<connected_row>(over, {.handshake_limit = 50ms}); });
  w.spawn("strangers", [&] {
    loopback::sleep_for(1ms);
    silent_strangers all;
    all.dial(3);
    for (int i = 0; i < 30; ++i) all.step();
    EXPECT_EQ(all.lost, 0) << "before the limit";
    for (int i = 0; i < 60; ++i) all.step();
    EXPECT_EQ(all.lost, 3) << "after the limit";
    over = true;
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(seen.turned_away, 3U);
}

TEST(admission, callers_that_come_at_once_are_all_served) {
  loopback::world w(43);
  bool over = false;
  int served = 0;
  w.spawn("listener", [&] { (void)listen_until<connected_row>(over, {.peers = 8}); });
  for (int i = 0; i < 8; ++i)
    w.spawn("caller" + std::to_string(i), [&] {
      loopback::sleep_for(1ms);
      auto net = open<connected_row>({.sleeps = true}).value();
      const auto met = net.connect("listener:7471", 5s);
      EXPECT_TRUE(met) << met.error().sentence;
      over = ++served == 8;
      while (!over) {
        net.progress(ignore);
        loopback::sleep_for(1ms);
      }
    });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(admission, a_table_full_of_silent_callers_leaves_room_for_an_own_connection) {
  loopback::world w(44);
  bool over = false;
  w.spawn("server", [&] {
    auto net = open<connected_row>({.node = "server", .service = "7472", .sleeps = true}).value();
    EXPECT_TRUE(net.accept_one(5s, ignore));
    while (!over) {
      net.progress(ignore);
      loopback::sleep_for(1ms);
    }
  });
  w.spawn("listener", [&] {
    auto net = open<connected_row>({.node = "listener", .service = "7471", .sleeps = true, .peers = 4}).value();
    for (const instant end = net.now() + 100ms; net.now() < end;) {
      net.progress(ignore);
      (void)net.wait(1ms);
    }
    const auto met = net.connect("server:7472", 5s);
    EXPECT_TRUE(met) << met.error().sentence;
    over = true;
  });
  w.spawn("strangers", [&] {
    loopback::sleep_for(1ms);
    silent_strangers all;
    all.dial(6);
    while (!over) all.step();
    EXPECT_EQ(all.refused, 2) << "of 6; the table has 4 places";
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

/// Callers of one node, each a transport. Counts their ends.
template <class F>
struct callers {
  std::vector<transport<F>> nets;
  int met = 0;
  int refused = 0;
  int busy = 0;

  explicit callers(int count) {
    for (int i = 0; i < count; ++i) {
      nets.push_back(open<F>({.sleeps = true, .silence_limit = 1h}).value());
      EXPECT_TRUE(nets.back().start_connect("listener:7471"));
    }
  }
  int ended() const noexcept { return met + refused; }
  void step() {
    for (transport<F>& net : nets)
      net.progress(overloaded{[&](const connected&) { ++met; },
                              [&](const lost&) {
                                ++refused;
                                busy += int{net.reason().find("busy, try later") != std::string::npos};
                              },
                              [](auto&&) {}});
    loopback::sleep_for(1ms);
  }
};

TEST(admission, requests_beyond_the_limit_get_no_entry_in_the_table_of_addresses) {
  loopback::world w(45);
  bool over = false;
  std::size_t most_dialled = 0;
  int requests = 0;
  w.spawn("listener", [&] {
    auto net =
        open<addressed_row>(
            {.node = "listener", .service = "7471", .sleeps = true, .peers = 16, .pending = 2, .silence_limit = 1h})
            .value();
    const std::size_t own = w.inside().endpoints.size() - 1;
    while (!over) {  // nobody answers
      net.progress(overloaded{[&](const requested&) { ++requests; }, [](auto&&) {}});
      std::size_t dialled = 0;
      for (const auto& each : w.inside().endpoints[own]->links)
        dialled += std::size_t{each->phase != loopback::link_phase::unused};
      most_dialled = std::max(most_dialled, dialled);
      (void)net.wait(1ms);
    }
    EXPECT_EQ(net.garbled(), 0U) << "a hello without a place is a good hello";
    EXPECT_GT(net.turned_away(), 0U);
  });
  w.spawn("callers", [&] {
    loopback::sleep_for(1ms);
    callers<addressed_row> all(12);
    for (int i = 0; i < 8000 && all.ended() < 10; ++i) all.step();
    EXPECT_EQ(all.met, 0);
    EXPECT_EQ(all.refused, 10) << "each but the two that wait for an answer";
    EXPECT_EQ(all.busy, 10) << "with a sentence";
    over = true;
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(requests, 2);
  EXPECT_LE(most_dialled, 6U) << "two requests and four refusals at a time";
}

template <class F>
void one_host_takes_its_share_only() {
  loopback::world w(46);
  bool over = false;
  w.spawn("listener", [&] { (void)listen_until<F>(over, {.peers = 8, .peers_per_host = 2, .silence_limit = 1h}); });
  w.spawn("many", [&] {
    loopback::sleep_for(1ms);
    callers<F> all(7);
    for (int i = 0; i < 3000 && all.ended() < 7; ++i) all.step();
    EXPECT_EQ(all.met, 2);
    EXPECT_EQ(all.refused, 5);
    EXPECT_GT(all.busy, 0) << "at least one refusal has a sentence";
    while (!over) all.step();
  });
  w.spawn("other", [&] {
    loopback::sleep_for(50ms);
    auto net = open<F>({.sleeps = true, .silence_limit = 1h}).value();
    const auto met = net.connect("listener:7471", 5s);
    EXPECT_TRUE(met) << met.error().sentence;
    for (int i = 0; i < 5000; ++i) {
      net.progress(ignore);
      loopback::sleep_for(1ms);
    }
    over = true;
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}
TEST(admission, one_host_takes_its_share_only_where_callers_have_links) {
  one_host_takes_its_share_only<connected_row>();
}
TEST(admission, one_host_takes_its_share_only_where_callers_have_addresses) {
  one_host_takes_its_share_only<addressed_row>();
}

TEST(admission, limits_that_admit_nobody_are_refused_at_open) {
  const auto no_place = open<connected_row>({.listens = true, .pending = 0});
  ASSERT_FALSE(no_place);
  EXPECT_NE(no_place.error().sentence.find("pending is 0"), std::string::npos) << no_place.error().sentence;
  const auto no_time = open<connected_row>({.listens = true, .handshake_limit = 0ms});
  ASSERT_FALSE(no_time);
  EXPECT_NE(no_time.error().sentence.find("handshake_limit"), std::string::npos) << no_time.error().sentence;
}

}  // namespace
}  // namespace weft
