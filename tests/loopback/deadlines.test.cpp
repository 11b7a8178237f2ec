// SPDX-License-Identifier: Apache-2.0
//
// Deadlines in virtual time, where the machine's load does not count. A waiting call ends at its deadline. An operation
// without an end fails at operation_timeout, 10 % and 50 ms later at most.
#include <weft/compose/coalescing.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;
using net_type = transport<fabric>;

constexpr auto ignore = [](auto&&) {};

/// `call` takes at least `limit`, and at most a millisecond more: a call polls up to 2,000 times before its sleep.
template <class Call>
void ends_at(net_type& net, duration limit, std::string_view name, Call&& call) {
  const instant start = net.now();
  EXPECT_FALSE(call()) << name;
  EXPECT_GE(net.now() - start, limit) << name;
  EXPECT_LE(net.now() - start, limit + 1ms) << name;
}

/// The sides of a conversation whose path is cut: no packet arrives any more. Or it stays `whole`, and
/// longer than the time between two ticks.
template <class Body>
void with_a_cut_path(bool sleeps, duration timeout, Body body, duration limit = 1h, bool whole = false) {
  loopback::faults trouble;
  if (whole) trouble.delay_least = 1500us, trouble.delay_most = 1600us;
  loopback::world w(31, trouble);
  bool over = false;
  region_bytes described{};
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true, .silence_limit = 1h}).value();
    const auto page = net.allocate(4096, rights::all).value();
    described = net.export_region(page, owner_polls);
    ASSERT_TRUE(net.accept_one(5s, ignore));
    while (!over) {
      net.progress(ignore);
      loopback::sleep_for(1ms);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.sleeps = sleeps, .operation_timeout = timeout, .silence_limit = 1h}).value();
    const peer p = net.connect("listener:7471", 5s).value();
    if (!whole) w.cut("listener", "caller");
    body(net, p, net.parse_region(described).value());
    w.heal("listener", "caller");
    over = true;
  });
  const auto run = w.run(limit);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(deadlines, each_waiting_call_ends_at_its_deadline) {
  for (const bool sleeps : {true, false})
    with_a_cut_path(
        sleeps, 10s,
        [](net_type& net, peer p, const remote_region&) {
          ends_at(net, 20ms, "until", [&] { return net.until([] { return false; }, 20ms, ignore); });
          ends_at(net, 20ms, "retry",
                  [&] { return net.retry([] { return again(waits_for::queue, "never"); }, 20ms, ignore); });
          ends_at(net, 20ms, "receive_region", [&] { return net.receive_region(p, 20ms); });
          ends_at(net, 20ms, "connect", [&] { return net.connect("listener:7471", 20ms); });
        },
        1s);
}

TEST(deadlines, accept_one_ends_at_its_deadline_where_nobody_connects) {
  loopback::world w(32);
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
    ends_at(net, 20ms, "accept_one", [&] { return net.accept_one(20ms, ignore); });
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(deadlines, a_sleep_ends_at_its_limit) {
  with_a_cut_path(true, 10s, [](net_type& net, peer, const remote_region&) {
    (void)net.wait(1ms);
    net.progress(ignore);
    const instant start = net.now();
    EXPECT_TRUE(net.wait(5ms));
    EXPECT_GE(net.now() - start, 5ms);
    EXPECT_LE(net.now() - start, 6ms);
  });
}

/// Four operations that never end by themselves.
struct pending {
  std::array<std::uint64_t, 4> contexts{};
  std::uint32_t ended = 0;

  void post(net_type& net, peer p, const remote_region& there, const local_memory& mine) {
    EXPECT_TRUE(net.get(p, mine, there.at(0), &contexts[0]));
    EXPECT_TRUE(net.put(p, mine, there.at(64), &contexts[1]));
    EXPECT_TRUE(net.put_notify(p, mine, there.at(128), 5, &contexts[2]));
    EXPECT_TRUE(net.fetch_add(p, there.at(256), 1, &contexts[3]));
  }
  auto handler() {
    return overloaded{[this](const failed& f) {
                        EXPECT_EQ(f.why.code, errc::deadline);
                        ++ended;
                      },
                      [this](const completed&) { ++ended; }, [](auto&&) {}};
  }
};

TEST(deadlines, an_operation_without_an_end_fails_in_time_while_its_owner_polls_or_sleeps) {
  for (const bool sleeps : {true, false})
    for (const duration timeout : {duration(100ms), duration(1s), duration(4s)})
      with_a_cut_path(sleeps, timeout, [&](net_type& net, peer p, const remote_region& there) {
        const auto mine = net.allocate(64, rights::none).value();
        pending four;
        const auto on = four.handler();
        const instant start = net.now();
        four.post(net, p, there, mine.first(8));
        while (four.ended < 4 && net.now() < start + 20 * timeout) {
          if (sleeps) (void)net.wait(1h);
          else loopback::sleep_for(std::max<duration>(100us, timeout / 1000));
          const std::uint32_t before = four.ended;
          net.progress(on);
          if (four.ended == before) continue;
          EXPECT_GE(net.now() - start, timeout) << "failed before its deadline";
          EXPECT_LE(net.now() - start, timeout + timeout / 10 + 50ms) << "failed long after its deadline";
        }
        EXPECT_EQ(four.ended, 4U) << "of four operations";
      });
}

TEST(deadlines, operations_whose_deadline_passed_end_soon_after_their_owner_is_back) {
  with_a_cut_path(true, 1s, [](net_type& net, peer p, const remote_region& there) {
    const auto mine = net.allocate(64, rights::none).value();
    pending four;
    const auto on = four.handler();
    four.post(net, p, there, mine.first(8));
    loopback::sleep_for(1100ms);  // away: nobody polls
    const instant back = net.now();
    (void)net.until([&] { return four.ended == 4; }, 1s, on);
    EXPECT_EQ(four.ended, 4U) << "of four operations";
    EXPECT_LE(net.now() - back, 150ms) << "a tenth of the limit and 50 ms";
  });
}

TEST(deadlines, an_owner_that_only_polls_ends_them_within_the_polls_between_two_runs_of_the_timers) {
  with_a_cut_path(false, 1s, [](net_type& net, peer p, const remote_region& there) {
    const auto mine = net.allocate(64, rights::none).value();
    pending four;
    const auto on = four.handler();
    four.post(net, p, there, mine.first(8));
    loopback::sleep_for(1100ms);
    // They were posted before the absence or after it: no clock was read. So they have a sixteenth of the limit more.
    for (int polls = 0; polls < 32; ++polls) net.progress(on);
    EXPECT_EQ(four.ended, 0U) << "they may be new";
    loopback::sleep_for(70ms);
    for (int polls = 0; polls < 32; ++polls) net.progress(on);
    EXPECT_EQ(four.ended, 4U) << "of four operations";
  });
}

/// The owner computes for longer than the timeout, and then posts: its operations are new, and the path is whole.
void post_after_a_pause(bool dials) {
  for (const bool sleeps : {true, false}) {
    with_a_cut_path(
        sleeps, 1s,
        [dials](net_type& net, peer p, const remote_region& there) {
          const auto mine = net.allocate(64, rights::none).value();
          for (int i = 0; i < 64; ++i) net.progress(ignore);
          loopback::sleep_for(5s);
          pending four;
          std::uint32_t completions = 0;
          const auto on =
              overloaded{[&](const completed&) { ++completions; },
                         [](const failed& f) { ADD_FAILURE() << name_of(f.what) << " failed"; }, [](auto&&) {}};
          four.post(net, p, there, mine.first(8));
          EXPECT_TRUE(!dials || net.start_connect("listener:7471"));
          EXPECT_TRUE(net.until([&] { return completions == 4; }, 1s, on));
        },
        1h, true);
  }
}

TEST(deadlines, operations_posted_after_a_long_pause_without_polls_are_not_late) { post_after_a_pause(false); }

TEST(deadlines, a_dial_after_a_long_pause_hides_it_from_no_operation) { post_after_a_pause(true); }

/// 2^32 milliseconds are 49.7 days; four more would be a limit of 4 ms.
TEST(deadlines, a_limit_of_months_is_no_limit_of_milliseconds) {
  with_a_cut_path(true, 4'294'967'300ms, [](net_type& net, peer p, const remote_region& there) {
    const auto mine = net.allocate(64, rights::none).value();
    pending four;
    const auto on = four.handler();
    four.post(net, p, there, mine.first(8));
    EXPECT_EQ(net.until([&] { return four.ended != 0; }, 10s, on).code, errc::deadline);
    EXPECT_EQ(four.ended, 0U);
  });
  using engine_type = detail::engine<fabric>;
  static_assert(engine_type::ticks(4'294'967'300ms) == engine_type::most_ticks);
  static_assert(engine_type::ticks(duration::max()) == engine_type::most_ticks);
  static_assert(engine_type::ticks(1500us) == 1);
}

/// Three members in a group that nobody closes. `before`: a post whose slot the group takes then.
template <class F, class Before>
void leave_a_group_open(Before before) {
  loopback::world w(33);
  bool over = false;
  region_bytes described{};
  w.spawn("listener", [&] {
    auto net = open<F>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto page = net.allocate(4096, rights::all).value();
    std::memset(page.data(), 0x40, 8);
    described = net.export_region(page, owner_polls);
    ASSERT_TRUE(net.accept_one(5s, ignore));
    while (!over) {
      net.progress(ignore);
      loopback::sleep_for(10us);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<F>({.sleeps = true, .operations = 16, .operation_timeout = 50ms}).value();
    const peer p = net.connect("listener:7471", 5s).value();
    const auto mine = net.allocate(64, rights::none).value();
    before(net, p, net.parse_region(described).value());
    int failures = 0;
    const auto on = overloaded{[&](const failed& f) {
                                 ++failures;
                                 EXPECT_EQ(f.what, operation::send);
                                 EXPECT_EQ(f.why.code, errc::deadline);
                                 EXPECT_EQ(f.context, nullptr);
                               },
                               [](auto&&) {}};
    auto g = net.coalesce(p);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(g.send(mine.first(8)));
    (void)net.until([] { return false; }, 200ms, on);
    EXPECT_EQ(failures, 3);
    EXPECT_EQ(g.close().code, errc::deadline);
    over = true;
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

constexpr auto posts_nothing = [](auto&, peer, const remote_region&) {};
constexpr auto adds_to_a_word = [](auto& net, peer p, const remote_region& there) {
  std::uint64_t old = 0;
  bool done = false;
  const auto on = overloaded{[&](const completed&) { done = true; }, [](auto&&) {}};
  EXPECT_TRUE(net.fetch_add(p, there.at(0), 1, &old));
  EXPECT_TRUE(net.until([&] { return done; }, 1s, on));
};

TEST(deadlines, each_member_of_an_open_group_fails_at_its_deadline) {
  leave_a_group_open<fabric>(posts_nothing);
  leave_a_group_open<fabric>(adds_to_a_word);
}

TEST(deadlines, each_member_of_an_open_group_of_any_size_fails_at_its_deadline) {
  using gathering = with<fabric, answers::coalesce::up_to<16, 128>>;
  leave_a_group_open<gathering>(posts_nothing);
  leave_a_group_open<gathering>(adds_to_a_word);
}

}  // namespace
}  // namespace weft
