// SPDX-License-Identifier: Apache-2.0
//
// Connections of the loopback begin and end; the answers of a port before and after.
#include "test_side.hpp"

#include <gtest/gtest.h>

namespace weft::test {
namespace {

TEST(connections, connecting_where_nobody_listens_is_refused_in_time) {
  loopback::world w(1);
  w.spawn("client", [] {
    test_side<silent_refusal> me;
    EXPECT_FALSE(me.dial(me.net->resolve("server", "7471").value()));
    EXPECT_TRUE(me.refused);
    std::byte one{};
    EXPECT_EQ(me.net->inject(me.link, {&one, 1}, 0).code, errc::peer_lost);
  });
  const auto run = w.run(10s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(connections, a_listener_can_reject) {
  loopback::world w(2);
  bool over = false;
  w.spawn("server", [&] {
    test_side<consuming> me({.node = {}, .service = "7471", .listens = true});
    me.greets = false;
    EXPECT_TRUE(me.until([&] { return over; }));
  });
  w.spawn("client", [&] {
    test_side<consuming> me;
    loopback::sleep_for(10us);
    EXPECT_FALSE(me.dial(me.net->resolve("server", "7471").value()));
    EXPECT_TRUE(me.refused);
    over = true;
  });
  const auto run = w.run(10s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(connections, a_port_without_a_listener_is_not_found) {
  loopback::world w(3);
  w.spawn("both", [] {
    test_side<silent_refusal> other({.node = {}, .service = "7471", .listens = false});
    test_side<silent_refusal> me;
    EXPECT_FALSE(me.dial(other.net->address()));
  });
  EXPECT_TRUE(w.run(10s));
}

TEST(connections, a_disconnect_arrives_after_the_last_message) {
  loopback::world w(4);
  const auto run = converse<silent_refusal>(
      w,
      [](auto& me) {
        ASSERT_TRUE(me.until([&] { return me.lost; }));
        EXPECT_EQ(me.messages.size(), 10U);
        EXPECT_GE(me.received.size(), std::size_t{me.slots});  // the remaining receives have failed
        EXPECT_EQ(me.received.back().outcome.code, errc::peer_lost);
      },
      [](auto& me) {
        for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(me.say(pattern(20), i));
        me.net->hang_up(me.link);
        me.ended.clear();
        me.idle(10ms);
        EXPECT_TRUE(me.ended.empty()) << "completions after hang_up on a connected fabric";
        EXPECT_EQ(me.say(pattern(2), 1).code, errc::closed);
      });
  EXPECT_TRUE(run) << run.sentence;
}

TEST(connections, posts_before_the_connection_is_up_wait) {
  loopback::world w(5);
  w.spawn("both", [] {
    test_side<silent_refusal> server({.node = {}, .service = "7471", .listens = true});
    test_side<silent_refusal> me;
    me.link = me.net->dial(server.net->address(), 1).value();
    const status said = me.net->send<post_mode::signalled>(me.link, me.staged(0, 4), 0, nullptr);
    EXPECT_TRUE(said.is_again());
    EXPECT_EQ(said.waits_for(), waits_for::connection);
  });
  EXPECT_TRUE(w.run(10s));
}

TEST(connections, a_lazy_fabric_connects_only_while_its_target_polls) {
  loopback::world w(6);
  bool polls = false;
  w.spawn("server", [&] {
    test_side<unordered> me;
    auto side = loopback::oob_exchange::serve("", "9", me.net->address()).value();
    for (const instant end = me.net->now() + 10ms; me.net->now() < end; loopback::sleep_for(10us)) side->progress();
    polls = true;
    EXPECT_TRUE(me.until([&] { return !me.messages.empty(); }));
  });
  w.spawn("client", [&] {
    test_side<unordered> me;
    ASSERT_TRUE(me.dial(loopback::oob_exchange::fetch("server", "9", 1s).value()));
    const auto post = [&] { return me.net->send<post_mode::signalled>(me.link, me.staged(0, 4), 0, nullptr); };
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(post().waits_for(), waits_for::connection);
      me.turn();
    }
    EXPECT_FALSE(polls);
    EXPECT_TRUE(me.insist(post));
    EXPECT_TRUE(polls);
    EXPECT_TRUE(me.until([&] { return me.ended.size() == 1; }));
    me.idle(1ms);
  });
  const auto run = w.run(10s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(connections, an_address_without_a_server_is_refused) {
  loopback::world w(7);
  w.spawn("client", [&] {
    const instant before = w.now();
    const auto fetched = loopback::oob_exchange::fetch("server", "9", 50ms);
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.why().code, errc::unreachable);
    EXPECT_EQ(w.now() - before, 50ms);
  });
  EXPECT_TRUE(w.run(10s));
}

TEST(connections, a_service_has_one_server) {
  loopback::world w(8);
  w.spawn("server", [] {
    using net = loopback::port<shape_of<silent_refusal>>;
    auto first = net::open({.node = {}, .service = "7471", .listens = true}).value();
    const auto second = net::open({.node = {}, .service = "7471", .listens = true});
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().sentence.find("7471 is taken"), std::string::npos);
    first.reset();
    EXPECT_TRUE(net::open({.node = {}, .service = "7471", .listens = true}));
  });
  EXPECT_TRUE(w.run(10s));
}

TEST(connections, two_ports_of_one_thread_connect_without_a_simulated_world) {
  test_side<silent_refusal> server({.node = "127.0.0.1", .service = "7471", .listens = true});
  test_side<silent_refusal> me;
  me.link = me.net->dial(me.net->resolve("::1", "7471").value(), 1).value();
  me.post_receives(me.link);
  for (int i = 0; i < 10'000 && !(me.up && server.up); ++i) {
    me.turn();
    server.turn();
  }
  ASSERT_TRUE(me.up && server.up);
  ASSERT_TRUE(me.net->inject(me.link, pattern(8), 12));
  EXPECT_TRUE(server.until([&] { return !server.messages.empty(); }));
  EXPECT_EQ(server.net->wait(server.net->now() + 1ms).code, errc::deadline);
  EXPECT_EQ(server.net->wait(instant::max()).code, errc::deadline) << "no event can arrive: the wait must not hang";
}

TEST(connections, a_guest_joins_a_world_without_a_fiber) {
  loopback::world w(9);
  {
    const loopback::guest here(w, "watcher");
    test_side<silent_refusal> server({.node = {}, .service = "7471", .listens = true});
    w.spawn("client", [] {
      test_side<silent_refusal> me;
      EXPECT_TRUE(me.dial(me.net->resolve("watcher", "7471").value()));
      EXPECT_TRUE(me.say(pattern(3), 3));
      me.idle(1ms);
    });
    EXPECT_TRUE(server.until([&] { return !server.messages.empty(); }));
  }
  EXPECT_TRUE(w.run(1s));
}

}  // namespace
}  // namespace weft::test
