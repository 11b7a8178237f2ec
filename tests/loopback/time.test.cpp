// SPDX-License-Identifier: Apache-2.0
//
// Virtual time: a run depends on its seed alone, time jumps to the next event, and a run that cannot continue ends with
// a sentence.
#include "test_side.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <stdexcept>

namespace weft::test {
namespace {

/// A conversation under every fault that a reliable fabric hides.
std::uint64_t troubled_run(std::uint64_t seed) {
  loopback::faults trouble;
  trouble.loss = 0.1;
  trouble.reorder = 0.3;
  trouble.tear = 0.3;
  trouble.full_queue = 0.05;
  trouble.spurious_wake = 0.1;
  trouble.pause = 0.002;
  loopback::world w(seed, trouble);
  using side = test_side<consuming>;
  side* server = nullptr;
  const auto run = converse<consuming>(
      w,
      [&](side& me) {
        server = &me;
        EXPECT_TRUE(me.until([&] { return me.messages.size() == 30 && me.landed.size() == 30; }, 10s));
      },
      [&](side& me) {
        EXPECT_TRUE(me.until([&] { return server != nullptr; }, 10s));
        for (std::uint32_t i = 0; i < 30; ++i) {
          EXPECT_TRUE(me.say(pattern(i), i));
          EXPECT_TRUE(me.insist([&] {
            return me.net->write_immediate<post_mode::signalled>(me.link, me.staged(i * 8, 8), server->spot(i * 8), i,
                                                                 nullptr);
          }));
        }
        EXPECT_TRUE(me.until([&] { return me.ended.size() == 60; }, 10s));
        me.idle(100ms);
      });
  EXPECT_TRUE(run) << run.sentence;
  return w.log().hash();
}

TEST(virtual_time, the_same_seed_gives_the_same_trace) {
  const std::uint64_t first = troubled_run(42);
  for (int i = 1; i < 100; ++i) ASSERT_EQ(troubled_run(42), first) << "run " << i;
  std::printf("trace of seed 42: %016llx\n", static_cast<unsigned long long>(first));
  // The same value under every compiler. A change of the world's behaviour on purpose changes the number here.
  EXPECT_EQ(first, 0x188152b08f48fd0fU);
}

TEST(virtual_time, other_seeds_give_other_traces) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed) seen.insert(troubled_run(seed));
  EXPECT_EQ(seen.size(), 30U);
}

TEST(virtual_time, waiting_jumps_to_the_deadline) {
  loopback::world w(1);
  w.spawn("alone", [&] {
    test_side<silent_refusal> me;
    const instant start = me.net->now();
    EXPECT_EQ(me.net->wait(start + 1h).code, errc::deadline);
    EXPECT_GE(me.net->now(), start + 1h);
    EXPECT_LT(me.net->now(), start + 1h + 1ms);
    EXPECT_EQ(me.net->wait(start).code, errc::deadline) << "a deadline in the past";
  });
  const auto run = w.run(2h);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(virtual_time, waiting_ends_when_something_comes) {
  loopback::world w(2);
  const auto run = converse<silent_refusal>(
      w,
      [](auto& me) {
        const instant start = me.net->now();
        EXPECT_TRUE(me.net->wait(start + 1h));
        EXPECT_LT(me.net->now(), start + 100ms);
        EXPECT_TRUE(me.until([&] { return !me.messages.empty(); }));
      },
      [](auto& me) {
        loopback::sleep_for(50ms);
        EXPECT_TRUE(me.say(pattern(1), 1));
        me.idle(1ms);
      },
      2h);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(virtual_time, a_deadlock_ends_the_run_and_names_the_waiting_fibers) {
  loopback::world w(3);
  const auto run = converse<silent_refusal>(
      w,
      [](auto& me) {
        for (;;) {
          me.turn();
          (void)me.net->wait(instant::max());
        }
      },
      [](auto& me) {
        for (;;) {
          me.turn();
          (void)me.net->wait(instant::max());
        }
      });
  EXPECT_EQ(run.how, loopback::run_outcome::ending::deadlock);
  EXPECT_NE(run.sentence.find("every node sleeps for ever"), std::string::npos) << run.sentence;
  EXPECT_NE(run.sentence.find("'server' waits without a deadline on port 0"), std::string::npos) << run.sentence;
  EXPECT_NE(run.sentence.find("'client' waits without a deadline on port 1"), std::string::npos) << run.sentence;
  EXPECT_NE(run.sentence.find("16 receives posted"), std::string::npos) << run.sentence;
}

TEST(virtual_time, a_run_stops_at_its_limit_and_can_continue) {
  loopback::world w(4);
  int rounds = 0;
  w.spawn("alone", [&] {
    for (; rounds < 10; ++rounds) loopback::sleep_for(1s);
  });
  const auto run = w.run(3'500ms);
  EXPECT_EQ(run.how, loopback::run_outcome::ending::out_of_time);
  EXPECT_NE(run.sentence.find("seed 4"), std::string::npos) << run.sentence;
  EXPECT_EQ(rounds, 3);
  EXPECT_TRUE(w.run(10s));
  EXPECT_EQ(rounds, 10);
}

TEST(virtual_time, endless_polling_stops_at_the_limit) {
  loopback::world w(5);
  w.spawn("alone", [] {
    test_side<silent_refusal> me;
    for (;;) me.turn();
  });
  EXPECT_EQ(w.run(100us).how, loopback::run_outcome::ending::out_of_time);
}

TEST(virtual_time, exceptions_reach_the_caller_of_run) {
  loopback::world w(6);
  w.spawn("careless", [] {
    loopback::sleep_for(1ms);
    throw std::runtime_error("from a fiber");
  });
  w.spawn("careful", [] {
    try {
      throw 1;
    } catch (int) {
      loopback::sleep_for(500us);  // away inside of a handler
    }
    loopback::sleep_for(1s);
  });
  try {
    (void)w.run(10s);
    FAIL() << "no exception was thrown";
  } catch (const std::runtime_error& reported) {
    EXPECT_STREQ(reported.what(), "from a fiber");
  }
  EXPECT_TRUE(w.run(10s));
}

TEST(virtual_time, services_do_not_keep_a_run_alive) {
  loopback::world w(7);
  w.serve("server", [] {
    for (;;) loopback::sleep_for(1ms);
  });
  w.spawn("client", [] { loopback::sleep_for(10ms); });
  EXPECT_TRUE(w.run(10s));
}

}  // namespace
}  // namespace weft::test
