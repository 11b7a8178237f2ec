// SPDX-License-Identifier: Apache-2.0
//
// Senders over the simulated network: their shape without a library of std::execution, and their ends in virtual time.
#include "../../event_loops/senders.hpp"
#include "../../backends/loopback/port.hpp"
#include "../../generated/loopback.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <stop_token>
#include <tuple>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;
using dispatcher = event_loops::dispatcher<fabric>;
using senders = event_loops::senders<fabric>;
using event_loops::arrived;

struct stop_env {
  std::stop_token token;
  std::stop_token query(event_loops::execution::get_stop_token_t) const noexcept { return token; }
};

/// Where a receiver writes how its operation ended.
struct ending {
  std::uint32_t values = 0, errors = 0, stops = 0;
  status why;
  arrived message;
  notified notice;
  peer who;
  remote_region region;
  std::uint64_t word = 0;
  bool any() const noexcept { return values + errors + stops > 0; }
};
struct receiver {
  using receiver_concept = event_loops::execution::receiver_t;
  ending* to;
  std::stop_token token{};

  void set_value() && noexcept { ++to->values; }
  void set_value(arrived m) && noexcept { ++to->values, to->message = m; }
  void set_value(notified n) && noexcept { ++to->values, to->notice = n; }
  void set_value(peer p) && noexcept { ++to->values, to->who = p; }
  void set_value(remote_region r) && noexcept { ++to->values, to->region = r; }
  void set_value(std::uint64_t old) && noexcept { ++to->values, to->word = old; }
  void set_error(status s) && noexcept { ++to->errors, to->why = s; }
  void set_stopped() && noexcept { ++to->stops; }
  stop_env get_env() const noexcept { return {token}; }
};
/// Without an environment: no stop token.
struct bare_receiver {
  void set_value() && noexcept {}
  void set_error(status) && noexcept {}
  void set_stopped() && noexcept {}
};

// ---- the shape, as P2300 has it
namespace execution = event_loops::execution;
template <class S>
concept is_sender =
    std::move_constructible<S> && std::same_as<typename S::sender_concept, execution::sender_t> && requires {
  typename S::completion_signatures;
};
template <class S, class R>
using operation_of = decltype(std::declval<const S&>().connect(std::declval<R>()));
template <class S, class R>
concept is_sender_to = is_sender<S> && requires(operation_of<S, R>& started) {
  requires std::same_as<typename operation_of<S, R>::operation_state_concept, execution::operation_state_t>;
  { started.start() }
  noexcept;
};
using put_sender = decltype(std::declval<senders>().put(peer(), local_memory(), remote_place()));
using message_sender = decltype(std::declval<senders>().receive(peer(), bytes()));
static_assert(is_sender_to<put_sender, receiver> && is_sender_to<put_sender, bare_receiver>);
static_assert(is_sender_to<message_sender, receiver>);
static_assert(!is_sender_to<message_sender, bare_receiver>, "it has no set_value(arrived)");
static_assert(
    std::same_as<message_sender::completion_signatures,
                 execution::completion_signatures<execution::set_value_t(arrived), execution::set_error_t(status),
                                                  execution::set_stopped_t()>>);
using put_operation = decltype(std::declval<put_sender>().connect(std::declval<receiver>()));
static_assert(!std::is_copy_constructible_v<put_operation> && !std::is_move_constructible_v<put_operation>);

/// Starts the sender and waits for its end, as sync_wait does.
template <class Sender>
ending wait_for(dispatcher& d, Sender&& sender, std::stop_token token = {}) {
  ending how;
  auto operation = sender.connect(receiver{&how, token});
  operation.start();
  EXPECT_FALSE(how.any()) << "start() told the receiver";
  EXPECT_TRUE(d.until([&] { return how.any(); }, 20s));
  EXPECT_EQ(how.values + how.errors + how.stops, 1U);
  return how;
}

/// Runs a listener and a caller as nodes of a simulated world.
template <class Listener, class Caller>
void converse(Listener&& listen, Caller&& call) {
  loopback::faults trouble;
  trouble.full_queue = 0.05;
  loopback::world w(31, trouble);
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
    dispatcher d(net);
    listen(d, senders(d), wait_for(d, senders(d).accept()).who);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.sleeps = true, .operation_timeout = 5s}).value();
    dispatcher d(net);
    const ending met = wait_for(d, senders(d).connect("listener:7471"));
    ASSERT_EQ(met.values, 1U) << d.last_refusal();
    call(d, senders(d), met.who);
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(senders, each_operation_sends_its_value) {
  converse(
      [](dispatcher& d, senders net, peer other) {
        const auto memory = d.net().allocate(64, rights::all).value();
        ASSERT_TRUE(d.net().retry([&] { return d.net().send_region(other, memory, owner_polls); }, 1s, [](auto&&) {}));
        EXPECT_EQ(wait_for(d, net.notice()).notice.immediate, 7U);
        EXPECT_EQ(std::memcmp(memory.data(), "weft", 4), 0);
        std::byte text[16];
        EXPECT_EQ(wait_for(d, net.receive(other, text)).message.bytes, 5U);
        EXPECT_EQ(wait_for(d, net.send(other, memory.first(3))).values, 1U);
        EXPECT_EQ(wait_for(d, net.receive(other, text)).why.code, errc::closed);
      },
      [](dispatcher& d, senders net, peer other) {
        const auto memory = d.net().allocate(64, rights::all).value();
        const ending found = wait_for(d, net.receive_region(other));
        ASSERT_EQ(found.values, 1U);
        std::memcpy(memory.data(), "weft", 4);
        EXPECT_EQ(wait_for(d, net.put(other, memory.first(8), found.region.at(8))).values, 1U);
        EXPECT_EQ(wait_for(d, net.fetch_add(other, found.region.at(16), 3)).values, 1U);
        EXPECT_EQ(wait_for(d, net.fetch_add(other, found.region.at(16), 3)).word, 3U);
        EXPECT_EQ(wait_for(d, net.put_notify(other, memory.first(4), found.region.at(0), 7)).values, 1U);
        EXPECT_EQ(wait_for(d, net.send(other, memory.first(5))).values, 1U);
        std::byte text[2];
        const ending longer = wait_for(d, net.receive({}, text));
        EXPECT_EQ(longer.why.code, errc::truncated);
        EXPECT_TRUE(d.close(other, 1s));
      });
}

TEST(senders, a_stop_request_ends_the_wait) {
  converse(
      [](dispatcher& d, senders net, peer) {
        std::stop_source stop;
        ending how;
        auto waits = net.notice().connect(receiver{&how, stop.get_token()});
        waits.start();
        (void)d.until([] { return false; }, 1ms);
        stop.request_stop();
        EXPECT_FALSE(how.any()) << "a stop request told the receiver";
        d.deliver();
        EXPECT_EQ(how.stops, 1U);
        stop.request_stop();
        std::stop_source before;
        before.request_stop();
        EXPECT_EQ(wait_for(d, net.notice(), before.get_token()).stops, 1U);
      },
      [](dispatcher& d, senders, peer other) {
        const auto memory = d.net().allocate(64, rights::all).value();
        (void)d.until([&] { return !other.alive(); }, 1s);
      });
}

TEST(senders, a_stopped_operation_keeps_its_ticket_until_it_ends) {
  converse([](dispatcher& d, senders, peer other) { (void)d.until([&] { return !other.alive(); }, 10s); },
           [](dispatcher& d, senders net, peer other) {
             const auto memory = d.net().allocate(64, rights::all).value();
             std::stop_source stop;
             ending how;
             auto sends = net.send(other, memory.first(8)).connect(receiver{&how, stop.get_token()});
             sends.start();
             EXPECT_TRUE(d.until([&] { return d.in_flight() == 1 || how.any(); }, 1s));
             stop.request_stop();
             d.deliver();
             EXPECT_EQ(how.stops, 1U);
             EXPECT_EQ(d.in_flight(), 1U);
             EXPECT_TRUE(d.until([&] { return d.in_flight() == 0; }, 1s));
             EXPECT_EQ(how.values, 0U);
             EXPECT_TRUE(d.close(other, 1s));
           });
}

TEST(senders, stop_of_the_dispatcher_ends_all_operations_under_way) {
  converse([](dispatcher& d, senders, peer other) { (void)d.until([&] { return !other.alive(); }, 10s); },
           [](dispatcher& d, senders net, peer other) {
             const auto memory = d.net().allocate(64, rights::all).value();
             ending how;
             std::byte text[8];
             auto one = net.send(other, memory.first(8)).connect(receiver{&how});
             auto two = net.receive(other, text).connect(receiver{&how});
             auto three = net.notice().connect(receiver{&how});
             auto four = net.accept().connect(receiver{&how});
             auto five = net.receive_region(other).connect(receiver{&how});
             five.start(), four.start(), three.start(), two.start(), one.start();
             d.stop();
             d.deliver();
             EXPECT_EQ(how.errors, 5U);
             EXPECT_EQ(how.why.code, errc::closed);
             EXPECT_EQ(wait_for(d, net.notice()).why.code, errc::closed);
           });
}

enum class gives_up : std::uint8_t { by_token, by_stop };

/// The listener polls only after the caller gave up, and accepts what has come by then.
void gives_a_connect_up(gives_up how_so) {
  loopback::world w(33);
  bool given_up = false, over = false;
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471"}).value();
    while (!given_up) loopback::sleep_for(100us);
    peer asked;
    const auto on = overloaded{[&](const requested& r) {
                                 asked = r.peer;
                                 EXPECT_TRUE(net.accept(r.peer));
                               },
                               [](auto&&) {}};
    while (!over) {
      net.progress(on);
      loopback::sleep_for(10us);
    }
    EXPECT_FALSE(asked.alive());
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.peers = 1, .operation_timeout = 5s}).value();
    dispatcher d(net);
    std::stop_source stop;
    ending how;
    auto connects = senders(d).connect("listener:7471").connect(receiver{&how, stop.get_token()});
    connects.start();
    (void)d.until([] { return false; }, 5ms);
    if (how_so == gives_up::by_token) stop.request_stop();
    else d.stop();
    d.deliver();
    EXPECT_EQ(how.stops, how_so == gives_up::by_token ? 1U : 0U);
    EXPECT_EQ(how.errors, how_so == gives_up::by_stop ? 1U : 0U);
    given_up = true;
    (void)d.until([] { return false; }, 50ms);
    over = true;
    (void)d.until([] { return false; }, 5ms);
    EXPECT_TRUE(net.start_connect("listener:7471")) << "the only record is taken";
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(senders, a_connect_that_was_given_up_leaves_no_connection) { gives_a_connect_up(gives_up::by_token); }
TEST(senders, a_dispatcher_that_stops_leaves_no_connection) { gives_a_connect_up(gives_up::by_stop); }

/// Room for no operation would let a post wait for ever.
TEST(senders, a_dispatcher_has_room_for_one_operation_at_least) {
  loopback::world w(34);
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471"}).value();
    dispatcher d(net);
    const peer other = wait_for(d, senders(d).accept()).who;
    std::byte text[8];
    EXPECT_EQ(wait_for(d, senders(d).receive(other, text)).message.bytes, sizeof text);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.operation_timeout = 5s}).value();
    dispatcher d(net, {.operations = 0});
    const senders all(d);
    auto memory = net.allocate(8, rights::none).value();
    const peer other = wait_for(d, all.connect("listener:7471")).who;
    EXPECT_EQ(wait_for(d, all.send(other, memory.first(8))).values, 1U);
    EXPECT_TRUE(net.close(other, 1s));
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(senders, a_dead_peer_ends_the_waits_for_it) {
  loopback::world w(33);
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
    dispatcher d(net);
    (void)wait_for(d, senders(d).accept());
    (void)d.until([] { return false; }, 1h);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto opened = open<fabric>({.sleeps = true, .operation_timeout = 5s, .silence_limit = 500ms}).value();
    dispatcher d(opened);
    const senders net(d);
    const peer other = wait_for(d, net.connect("listener:7471")).who;
    std::uint32_t told = 0;
    d.on_lost([&](const lost&) { ++told; });
    w.crash("listener");
    std::byte text[8];
    EXPECT_EQ(wait_for(d, net.receive(other, text)).why.code, errc::peer_lost);
    EXPECT_EQ(told, 1U);
    EXPECT_EQ(wait_for(d, net.receive(other, text)).why.code, errc::peer_lost);
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

}  // namespace
}  // namespace weft
