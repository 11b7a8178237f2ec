// SPDX-License-Identifier: Apache-2.0
//
// When a client asks its manager, and when it gives it up. Time is a number here, so nothing depends on the machine.
// Addresses of members too: anything may stand in etcd.
#include <invocation/membership/manager_watch.hpp>
#include <invocation/membership/member_address.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace weft::invocation;
using weft::duration;
using weft::instant;
using namespace std::chrono_literals;
using finding = manager_watch::finding;

constexpr instant begin = instant{} + 1h;

/// Looks each millisecond of (from, to]. Returns how often it asks; the first silence ends it.
struct looked {
  int asked = 0;
  duration silent_after{};  ///< Zero: never.
};
looked look(manager_watch& watch, duration from, duration to) {
  looked found;
  for (duration at = from + 1ms; at <= to; at += 1ms) switch (watch.look(begin + at)) {
      case finding::calm:
        break;
      case finding::ask:
        ++found.asked;
        break;
      case finding::silent:
        found.silent_after = at;
        return found;
    }
  return found;
}

TEST(manager_watches, ask_at_their_pace_and_give_up_after_the_silence) {
  manager_watch watch(100ms, 1s, begin);
  const looked found = look(watch, 0ms, 5s);
  EXPECT_EQ(found.asked, 10);
  EXPECT_EQ(found.silent_after, 1001ms);
}

TEST(manager_watches, never_give_up_a_manager_that_answers) {
  manager_watch watch(100ms, 1s, begin);
  for (int second = 0; second < 60; ++second) {
    EXPECT_EQ(look(watch, second * 1s, (second + 1) * 1s).silent_after, duration()) << second;
    watch.heard();
  }
}

TEST(manager_watches, do_not_count_their_own_absence_as_silence) {
  manager_watch watch(100ms, 1s, begin);
  EXPECT_EQ(watch.look(begin + 1h), finding::ask) << "one absence counts as one question";
  EXPECT_EQ(look(watch, 1h, 1h + 850ms).silent_after, duration());
  watch.heard();
  instant now = begin + 2h;
  for (int i = 0; i < 10; ++i) EXPECT_NE(watch.look(now += 1min), finding::silent) << "ten questions fit in the limit";
  EXPECT_EQ(watch.look(now += 1min), finding::silent) << "ten were not answered";
}

TEST(manager_watches, a_doubt_shortens_the_silence_and_is_over_with_an_answer) {
  manager_watch watch(100ms, 10s, begin);
  EXPECT_EQ(look(watch, 0ms, 1s).silent_after, duration());
  watch.heard();
  watch.doubt();
  EXPECT_EQ(watch.limit(), 200ms);
  watch.heard();
  EXPECT_EQ(watch.limit(), 10s) << "it answers: the other witness is wrong";
  watch.doubt();
  EXPECT_EQ(look(watch, 1s, 5s).silent_after, 1201ms);
}

TEST(manager_watches, leave_time_for_an_answer_and_may_be_off) {
  EXPECT_EQ(manager_watch(100ms, 1ms, begin).limit(), 200ms);
  manager_watch off;
  EXPECT_FALSE(off.on());
  EXPECT_EQ(off.look(begin), finding::calm);
  EXPECT_EQ(off.look(begin + 1h), finding::calm);
}

TEST(addresses_of_members, are_a_host_and_a_service_on_one_line) {
  for (const char* good : {"10.7.0.1:7471", "n1:x", "[fe80::1]:7471"}) EXPECT_TRUE(is_address(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("invocation manager"), std::string("n1"), std::string(":7471"), std::string("n1:"),
        std::string("n1:7471\n"), std::string("n 1:7471"), std::string("n1:\x80"), std::string("n1:\0", 4),
        std::string("n1:1\0--x", 8), std::string("--x:1"), std::string(255, 'a') + ":1"})
    EXPECT_FALSE(is_address(bad)) << bad;
}

}  // namespace
