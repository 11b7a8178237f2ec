// SPDX-License-Identifier: Apache-2.0
//
// The work of one event, one sleep and one millisecond does not grow with the number of peers. Records that timers,
// sleeps and searches look at are counted, and no time is measured.
#include "meeting.hpp"

#include <gtest/gtest.h>

namespace weft::test {
namespace {

template <class F>
meeting_result meet(std::uint32_t peers, duration silence = 60s) {
  const meeting_result r = meeting<F>::play({.peers = peers, .silence = silence}, [] {});
  EXPECT_EQ(r.met, peers);
  EXPECT_EQ(r.lost, 0U);
  return r;
}

template <class F>
class many_peers : public testing::Test {};
using rows = testing::Types<connected_peers, addressed_peers>;
TYPED_TEST_SUITE(many_peers, rows, );

TYPED_TEST(many_peers, a_sleep_looks_at_no_idle_peer) {
  for (const std::uint32_t peers : {200U, 3'000U}) EXPECT_EQ(meet<TypeParam>(peers).in_sleeps, 0U) << peers;
}

TYPED_TEST(many_peers, an_idle_second_looks_at_each_peer_as_often_as_its_silence_wants) {
  // A peer has its turn eight times in the silence limit, or four times in a heartbeat, which is a quarter of the
  // limit.
  for (const std::uint32_t peers : {200U, 3'000U}) {
    const meeting_result r = meet<TypeParam>(peers, 16s);
    EXPECT_LE(r.in_idle, peers + 2 * r.idle_polls) << peers;
  }
}

TYPED_TEST(many_peers, a_meeting_looks_at_unfinished_peers_alone) {
  // Four meet at a time, and slowly: the meeting lasts many milliseconds.
  for (const std::uint32_t peers : {1'000U, 3'000U}) {
    const meeting_result r = meeting<TypeParam>::play({.peers = peers, .at_once = 4, .idle = 1ms, .poll = 10us}, [] {});
    const auto ticks = static_cast<std::uint64_t>(r.meeting / 1ms) + 1;
    EXPECT_GE(ticks, 5U);
    EXPECT_LE(r.in_meeting, 3 * peers + 200 * ticks) << "each is looked at once more when it stands";
  }
}

TEST(many_callers, each_is_found_by_its_hello_at_once) {
  for (const std::uint32_t peers : {200U, 3'000U}) {
    const meeting_result r = meet<addressed_peers>(peers);
    EXPECT_LE(r.compared, 8U * peers) << peers << " callers";
  }
}

TEST(many_callers, a_silent_caller_of_many_is_still_found) {
  // The caller's process stops: the listener loses all of its peers within the silence limit and a turn.
  loopback::world world(3);
  constexpr std::uint32_t peers = 300;
  std::uint32_t standing = 0, lost_ones = 0;
  instant began{}, ended{};
  world.spawn("listener", [&] {
    auto net = open<addressed_peers>({.node = "listener",
                                      .service = "7471",
                                      .listens = true,
                                      .sleeps = true,
                                      .receives = 512,
                                      .peers = peers,
                                      .pending = peers,
                                      .silence_limit = 800ms})
                   .value();
    const auto on = overloaded{[&](const requested& r) { standing += std::uint32_t{bool{net.accept(r.peer)}}; },
                               [&](const lost&) { ++lost_ones; }, [](auto&&) {}};
    while (lost_ones < peers && world.now() < instant(60s)) {
      net.progress(on);
      (void)net.wait(1ms);
    }
    ended = world.now();
  });
  world.serve("caller", [&] {
    auto net = open<addressed_peers>(
                   {.node = "caller", .sleeps = true, .receives = 512, .peers = peers, .silence_limit = 800ms})
                   .value();
    std::uint32_t up = 0;
    const auto on = overloaded{[&](const connected&) { ++up; }, [](auto&&) {}};
    std::uint32_t started = 0;
    while (up < peers) {
      if (started < peers && started - up < 64 && net.start_connect("listener:7471")) ++started;
      net.progress(on);
    }
    for (int i = 0; i < 1000; ++i) {
      net.progress(on);
      (void)net.wait(1ms);
    }
    began = world.now();
    loopback::sleep_for(1h);
  });
  EXPECT_TRUE(world.run(120s));
  EXPECT_EQ(standing, peers);
  EXPECT_EQ(lost_ones, peers);
  EXPECT_GT(ended - began, 500ms) << "lost while it still spoke";
  EXPECT_LT(ended - began, 1100ms) << "limit, and a turn of an eighth";
}

}  // namespace
}  // namespace weft::test
