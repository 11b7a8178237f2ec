// SPDX-License-Identifier: Apache-2.0
//
// What survivors learn of a killed process: every outstanding operation fails where the row reports deaths; elsewhere
// there is silence.
#include "test_side.hpp"

#include <gtest/gtest.h>

namespace weft::test {
namespace {

/// The server dies during the client's operations. `judge` checks the client after a second.
template <class Row, class Judge>
void survive(Judge judge) {
  using side = test_side<Row>;
  loopback::world w(11);
  bool serving = false;
  bool judged = false;
  w.after(5ms, [&] { w.crash("server"); });
  const auto run = converse<Row>(
      w,
      [&](side& me) {
        serving = true;
        me.idle(1h);
        ADD_FAILURE() << "the server survived its crash";
      },
      [&](side& me) {
        EXPECT_TRUE(me.until([&] { return serving; }));
        (void)me.say(pattern(4), 0);
        EXPECT_TRUE(me.until([&] { return !me.ended.empty(); }));
        me.ended.clear();
        loopback::sleep_for(6ms);
        for (int i = 0; i < 8; ++i)
          (void)me.insist([&] { return me.net->read(me.link, me.staged(0, 8), {0, 77}, nullptr); }, 1us);
        me.idle(1s);
        judge(me);
        judged = true;
      },
      10s);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_TRUE(judged);
}

TEST(crash, a_row_that_reports_death_fails_every_operation_and_reports_lost) {
  survive<silent_refusal>([](auto& me) {
    EXPECT_TRUE(me.lost);
    EXPECT_EQ(me.ended.size(), 8U);
    for (const auto& each : me.ended) EXPECT_EQ(each.outcome.code, errc::peer_lost);
    EXPECT_EQ(me.received.size(), std::size_t{me.slots});
    EXPECT_EQ(me.net->inject(me.link, pattern(3), 0).code, errc::peer_lost);
  });
}

TEST(crash, an_addressed_row_that_reports_death_keeps_its_receives) {
  survive<counting>([](auto& me) {
    EXPECT_TRUE(me.lost);
    EXPECT_EQ(me.ended.size(), 8U);
    for (const auto& each : me.ended) EXPECT_FALSE(each.outcome);
    EXPECT_TRUE(me.received.empty());
  });
}

TEST(crash, a_row_without_death_reports_stays_silent) {
  survive<deathless>([](auto& me) {
    EXPECT_FALSE(me.lost);
    EXPECT_TRUE(me.ended.empty());
    me.net->hang_up(me.link);  // the disconnect ends its operations
    me.idle(1s);
    EXPECT_TRUE(me.ended.empty());
  });
}

TEST(crash, after_a_silent_death_the_survivor_fills_its_queue_and_no_more) {
  loopback::world w(12);
  w.after(5ms, [&] { w.crash("server"); });
  const auto run = converse<deathless>(
      w, [](auto& me) { me.idle(1h); },
      [](auto& me) {
        loopback::sleep_for(10ms);
        int posted = 0;
        while (me.net->read(me.link, me.staged(0, 8), {0, 77}, nullptr)) ++posted;
        EXPECT_EQ(posted, 256);
        me.idle(1s);
        EXPECT_EQ(me.net->read(me.link, me.staged(0, 8), {0, 77}, nullptr).waits_for(), waits_for::queue);
      });
  EXPECT_TRUE(run) << run.sentence;
}

TEST(crash, connecting_to_a_dead_node_is_refused_until_it_restarts) {
  loopback::world w(13);
  int served = 0;
  const auto serve = [&] {
    test_side<silent_refusal> me({.node = {}, .service = "7471", .listens = true});
    (void)me.until([&] { return !me.messages.empty(); }, 1h);
    ++served;
    me.idle(1h);
  };
  w.serve("server", serve);
  w.after(10ms, [&] { w.crash("server"); });
  w.after(100ms, [&] { w.serve("server", serve); });
  w.spawn("client", [] {
    test_side<silent_refusal> me;
    const auto there = me.net->resolve("server", "7471").value();
    loopback::sleep_for(1ms);
    ASSERT_TRUE(me.dial(there));
    ASSERT_TRUE(me.say(pattern(1), 1));
    ASSERT_TRUE(me.until([&] { return me.lost; }));
    EXPECT_EQ(me.say(pattern(1), 1).code, errc::peer_lost);
    me.net->hang_up(me.link);
    me.up = me.refused = false;
    EXPECT_FALSE(me.dial(there)) << "no listener yet";
    me.net->hang_up(me.link);
    loopback::sleep_for(200ms);
    me.up = me.refused = false;
    ASSERT_TRUE(me.dial(there));
    ASSERT_TRUE(me.say(pattern(1), 1));
    me.idle(10ms);
  });
  const auto run = w.run(10s);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(served, 2);
}

TEST(crash, a_node_can_end_itself) {
  loopback::world w(14);
  w.spawn("doomed", [&] {
    const std::vector<int> owned(1000, 1);  // never released: a killed process runs no destructors
    w.crash("doomed");
    ADD_FAILURE() << "continued after its death with " << owned.size();
  });
  w.spawn("other", [] { loopback::sleep_for(1ms); });
  EXPECT_TRUE(w.run(1s));
}

}  // namespace
}  // namespace weft::test
