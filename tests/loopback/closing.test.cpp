// SPDX-License-Identifier: Apache-2.0
//
// close() right after accept(), while the queue takes no post: the accept is still unsent. The caller learns that it
// was accepted and that the connection was closed. It never learns of a rejection. And the end of a peer: a handler
// that hears of its failed operations can neither post to it nor release its record, and messages that a handler left
// come before the end of their peer. A close() that meets its deadline reports what it cuts off.
#include <weft/compose/rails/rails.hpp>
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <array>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;

/// Addressed peers, which this side loses by their silence.
struct silent_row : fabrics::loopback {
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

/// A notice is a message, which the transport sends when its write has ended.
using noticing = with<fabrics::loopback, answers::notify::message_after_delivery>;

struct answers {
  int connected = 0;
  int closed = 0;
  int others = 0;
};

/// One caller and one listener that accepts and closes at once. Each post begins a burst of a full queue with
/// probability 0.7; a burst lasts 300 us.
template <class Leave>
answers accept_and_leave(std::uint64_t seed, Leave leave) {
  loopback::faults trouble;
  trouble.full_queue = 0.7;
  trouble.full_queue_time = 300us;
  loopback::world w(seed, trouble);
  answers seen;
  bool over = false;
  w.spawn("listener", [&] {
    auto net = std::make_unique<transport<fabric>>(open<fabric>({.node = "listener", .service = "7471"}).value());
    peer asked;
    const auto on = overloaded{[&](const requested& r) { asked = r.peer; }, [](auto&&) {}};
    EXPECT_TRUE(net->until([&] { return bool(asked); }, 10s, on));
    EXPECT_TRUE(net->accept(asked));
    leave(net, asked, on);
    while (!over) {
      if (net) net->progress(on);
      loopback::sleep_for(10us);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({}).value();
    const auto on =
        overloaded{[&](const connected&) { ++seen.connected; },
                   [&](const lost& l) { ++(l.why.code == errc::closed ? seen.closed : seen.others); }, [](auto&&) {}};
    EXPECT_TRUE(net.start_connect("listener:7471"));
    EXPECT_TRUE(net.until([&] { return seen.closed + seen.others != 0; }, 10s, on));
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
  return seen;
}

void expect_accepted_then_closed(const answers& seen, std::uint64_t seed) {
  EXPECT_EQ(seen.connected, 1) << "seed " << seed;
  EXPECT_EQ(seen.closed, 1) << "seed " << seed;
  EXPECT_EQ(seen.others, 0) << "seed " << seed << ": a rejection, or a loss";
}

TEST(close_right_after_accept, with_a_full_queue_is_no_rejection) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    expect_accepted_then_closed(
        accept_and_leave(seed, [](auto& net, const peer& p, auto& on) { EXPECT_TRUE(net->close(p, 1s, on)); }), seed);
}

TEST(close_right_after_accept, by_the_end_of_the_transport_is_no_rejection) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    expect_accepted_then_closed(accept_and_leave(seed, [](auto& net, const peer&, auto&) { net.reset(); }), seed);
}

/// Another fabric, for a set.
struct second_row : silent_row {
  static constexpr std::string_view name = "second";
};
using pair_of_fabrics = fabric_set<fabric, second_row>;

/// A caller that connects, and then takes another transport in the place of the one that has the connection.
template <class Net, class Open, class Connect>
answers assign_while_connected(Open opens, Connect connects) {
  loopback::world w(34);
  answers seen;
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471"}).value();
    const auto on = overloaded{
        [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); }, [&](const connected&) { ++seen.connected; },
        [&](const lost& l) { ++(l.why.code == errc::closed ? seen.closed : seen.others); }, [](auto&&) {}};
    while (!over) {
      net.progress(on);
      loopback::sleep_for(10us);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    Net net = opens();
    connects(net);
    Net& same = net;
    net = std::move(same);
    loopback::sleep_for(10ms);
    EXPECT_EQ(seen.closed + seen.others, 0) << "an assignment to itself";
    net = opens();
    loopback::sleep_for(50ms);
    connects(net);
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
  return seen;
}

TEST(the_end_of_a_transport, by_an_assignment_says_goodbye) {
  const answers seen = assign_while_connected<transport<fabric>>(
      [] { return open<fabric>({}).value(); }, [](auto& net) { EXPECT_TRUE(net.connect("listener:7471", 5s)); });
  EXPECT_EQ(seen.closed, 1);
  EXPECT_EQ(seen.others, 0);
}

TEST(the_end_of_a_transport, by_an_assignment_of_rails_says_goodbye) {
  const answers seen =
      assign_while_connected<rails<fabric>>([] { return rails<fabric>::open({.nodes = {"127.0.0.1"}}).value(); },
                                            [](auto& net) {
                                              EXPECT_TRUE(net.allocate(4096, rights::all));
                                              EXPECT_TRUE(net.connect("listener:7471", 5s));
                                            });
  EXPECT_EQ(seen.closed, 1);
  EXPECT_EQ(seen.others, 0);
}

TEST(the_end_of_a_transport, by_an_assignment_of_sets_says_goodbye) {
  const answers seen = assign_while_connected<transport<pair_of_fabrics>>(
      [] { return open<pair_of_fabrics>({.fabrics = "loopback"}).value(); },
      [](auto& net) { EXPECT_TRUE(net.connect("loopback@listener:7471", 5s)); });
  EXPECT_EQ(seen.closed, 1);
  EXPECT_EQ(seen.others, 0);
}

TEST(the_end_of_a_transport, waits_for_writes_whose_notices_are_still_to_be_sent) {
  constexpr std::size_t each = 8192;
  constexpr int writes = 8;
  loopback::world w(3);
  int notices = 0, closed = 0;
  w.spawn("listener", [&] {
    auto net = open<noticing>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto on = overloaded{[&](const notified&) { ++notices; },
                               [&](const lost& l) {
                                 EXPECT_EQ(l.why.code, errc::closed);
                                 EXPECT_EQ(notices, writes) << "the goodbye overtook notices";
                                 ++closed;
                               },
                               [](auto&&) {}};
    const peer caller = net.accept_one(1s, on).value();
    const owned_region memory = net.allocate(writes * each, rights::remote_write).value();
    EXPECT_TRUE(net.retry([&] { return net.send_region(caller, memory, owner_polls); }, 1s, on));
    EXPECT_TRUE(net.until([&] { return closed == 1; }, 10s, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    std::vector<std::byte> source(each);
    auto net = std::make_unique<transport<noticing>>(open<noticing>({.sleeps = true}).value());
    const peer there = net->connect("listener:7471", 1s).value();
    const remote_region memory = net->receive_region(there, 1s).value();
    const region from = net->register_region(source, rights::none).value().release();
    for (std::uint32_t i = 0; i < writes; ++i)
      EXPECT_TRUE(net->put_notify(there, from.slice(0, each), memory.at(i * each), i));
    net.reset();
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(closed, 1);
}

TEST(a_handler_that_hears_of_a_lost_peer, can_neither_post_to_it_nor_release_its_record) {
  loopback::world w(5);
  bool connected_once = false;
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<silent_row>({.node = "listener", .service = "7471"}).value();
    const auto on = overloaded{[](auto&&) {}};
    const peer caller = net.accept_one(1s, on).value();
    const owned_region memory = net.allocate(4096, rights::remote_read).value();
    EXPECT_TRUE(net.send_region(caller, memory, owner_polls));
    while (!connected_once) {
      net.progress(on);
      loopback::sleep_for(10us);
    }
    while (!over) loopback::sleep_for(1ms);  // silent from here on
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<silent_row>({.peers = 1, .silence_limit = 20ms}).value();
    const peer there = net.connect("listener:7471", 1s).value();
    const remote_region memory = net.receive_region(there, 1s).value();
    connected_once = true;
    std::vector<std::byte> text(200);
    int failures = 0;
    int losses = 0;
    const auto on = overloaded{[&](const failed& f) {
                                 ++failures;
                                 EXPECT_EQ(f.why.code, errc::peer_lost);
                                 EXPECT_EQ(net.send(there, net.memory(text)).code, errc::peer_lost);
                                 EXPECT_TRUE(net.close(there, 0s));
                                 EXPECT_FALSE(net.start_connect("listener:7471")) << "the record is taken already";
                               },
                               [&](const lost& l) {
                                 ++losses;
                                 EXPECT_EQ(l.peer, there);
                               },
                               [](auto&&) {}};
    loopback::sleep_for(1ms);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(net.get(there, {text.data(), text.size(), nullptr}, memory.at(0), &text));
    EXPECT_TRUE(net.until([&] { return losses == 1; }, 100ms, on));
    EXPECT_EQ(failures, 2);
    EXPECT_EQ(losses, 1);
    over = true;
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_TRUE(connected_once);
}

/// The listener's handler leaves `count` messages. Then the caller closes, and 20 ms later the handler takes
/// messages. Returns what it got: the first byte of each message, and a dot for `closed`.
template <class Row>
std::string what_is_taken_after_the_goodbye(int count) {
  loopback::world w(1);
  std::string taken;
  bool left = false;
  w.spawn("listener", [&] {
    auto net = open<Row>({.node = "listener", .service = "7471"}).value();
    bool takes = false;
    const auto on = overloaded{[&](const received& r) {
                                 if (takes) taken += std::to_integer<char>(r.message[0]);
                                 return takes;
                               },
                               [&](const lost& l) {
                                 EXPECT_EQ(l.why.code, errc::closed);
                                 taken += '.';
                               },
                               [](auto&&) {}};
    EXPECT_TRUE(net.accept_one(1s, on));
    EXPECT_TRUE(net.until([&] { return left; }, 2s, on));
    EXPECT_EQ(net.until([] { return false; }, 20ms, on).code, errc::deadline);
    EXPECT_EQ(taken, "") << "before the handler takes anything";
    takes = true;
    EXPECT_TRUE(net.until([&] { return taken.ends_with('.'); }, 2s, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<Row>({}).value();
    const peer there = net.connect("listener:7471", 1s).value();
    for (char c = 'a'; c < 'a' + count; ++c)
      EXPECT_TRUE(net.send(there, net.memory(std::as_writable_bytes(std::span(&c, 1)))));
    loopback::sleep_for(1ms);
    EXPECT_TRUE(net.close(there, 1s));
    left = true;
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  return taken;
}

TEST(a_peer_that_leaves, ends_after_the_messages_that_a_handler_left) {
  EXPECT_EQ(what_is_taken_after_the_goodbye<fabric>(3), "abc.");
}

TEST(a_peer_that_leaves, ends_after_the_messages_that_a_handler_left_where_peers_have_no_links) {
  EXPECT_EQ(what_is_taken_after_the_goodbye<silent_row>(3), "abc.");
}

/// Puts whose peer no packet reaches any more. Each fails once, before close() returns.
template <class Row>
void close_while_nothing_arrives() {
  loopback::world w(7);
  region_bytes place;
  w.spawn("listener", [&] {
    auto net = open<Row>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const owned_region memory = net.allocate(64, rights::all).value();
    place = net.export_region(memory, owner_polls);
    EXPECT_TRUE(net.accept_one(1s));
    (void)net.until([] { return false; }, 1s, [](auto&&) {});
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<Row>({.sleeps = true}).value();
    const peer there = net.connect("listener:7471", 1s).value();
    const owned_region from = net.allocate(64, rights::none).value();
    w.cut("caller", "listener");
    std::array<int, 3> ends{};
    const auto on = overloaded{[&](const failed& f) {
                                 EXPECT_EQ(f.why.code, errc::closed);
                                 ++*static_cast<int*>(f.context);
                               },
                               [](auto&&) {}};
    for (int& end : ends) EXPECT_TRUE(net.put(there, from.slice(0, 8), net.parse_region(place).value().at(0), &end));
    EXPECT_EQ(net.close(there, 5ms, on).code, errc::deadline);
    EXPECT_EQ(ends, (std::array<int, 3>{1, 1, 1}));
    EXPECT_FALSE(there.alive());
    (void)net.until([] { return false; }, 50ms, on);
    EXPECT_EQ(ends, (std::array<int, 3>{1, 1, 1})) << "an operation ended twice";
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(a_close_that_meets_its_deadline, reports_each_operation_that_had_not_ended) {
  close_while_nothing_arrives<fabric>();
  close_while_nothing_arrives<silent_row>();
}

}  // namespace
}  // namespace weft
