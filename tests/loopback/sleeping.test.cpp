// SPDX-License-Identifier: Apache-2.0
//
// Sleeping owners: each event ends the sleep of its owner, and an owner without events sleeps. A timer hides a lost
// wake-up, so the counts of transport::sleeps() are judged, and no time.
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;

constexpr std::uint32_t rounds = 50'000;

/// Each side sends a message for each message. Both sleep in between, 100,000 times together.
void answer_each(transport<fabric>& net, peer other, bool begins, sleep_counts& counted) {
  const auto memory = net.allocate(64, rights::none).value();
  std::uint32_t came = 0;
  const auto on = overloaded{[&](const received&) { ++came; }, [](auto&&) {}};
  const auto say = [&] { ASSERT_TRUE(net.retry([&] { return net.send(other, memory.first(8)); }, 1s, on)); };
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    if (begins) say();
    while (came < i) {
      (void)net.wait(1h);
      net.progress(on);
    }
    if (!begins) say();
  }
  counted = net.sleeps();
  if (!begins) (void)net.until([] { return false; }, 10ms, on);  // the last message is still on its way
}

struct both {
  sleep_counts listener, caller;
};
both slept(loopback::planted_bug bug) {
  loopback::faults trouble;
  trouble.bug = bug;
  loopback::world w(21, trouble);
  both counted;
  w.spawn("listener", [&] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
    answer_each(net, net.accept_one(5s, [](auto&&) {}).value(), false, counted.listener);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.sleeps = true}).value();
    answer_each(net, net.connect("listener:7471", 5s).value(), true, counted.caller);
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
  return counted;
}

TEST(sleeping, a_hundred_thousand_sleeps_miss_no_wake_up) {
  const both counted = slept(loopback::planted_bug::none);
  EXPECT_GE(counted.listener.sleeps, rounds);
  EXPECT_GE(counted.caller.sleeps, rounds);
  EXPECT_EQ(counted.listener.missed_wakes + counted.caller.missed_wakes, 0U);
}

TEST(sleeping, one_lost_wake_up_in_a_hundred_thousand_sleeps_is_counted) {
  const both counted = slept(loopback::planted_bug::lost_wake_up);
  EXPECT_EQ(counted.listener.missed_wakes + counted.caller.missed_wakes, 1U);
}

duration late{};     ///< How long the machine stands still after each timer.
int ended_late = 0;  ///< Sleeps in whose late time an entry came.

/// A port whose timers end late. An entry that came since is there.
template <class Shape>
class late_port : public loopback::port<Shape> {
  using base = loopback::port<Shape>;

 public:
  static result<std::unique_ptr<late_port>> open(const port_options& options) {
    loopback::simulation& sim = loopback::here();
    auto made = loopback::open_endpoint(sim, options, loopback::behaviour_of<Shape>(), Shape::name);
    if (!made) return made.error();
    return std::unique_ptr<late_port>(new late_port(sim, std::move(made).value()));
  }
  status wait(instant until) noexcept {
    const status s = base::wait(until);
    if (s.code != errc::deadline) return s;
    loopback::sleep_for(late);
    if (base::wait(base::now())) ++ended_late;
    return s;
  }

 private:
  late_port(loopback::simulation& sim, std::shared_ptr<loopback::endpoint> at) : base(sim, std::move(at)) {}
};
struct with_late_timers : fabrics::loopback {
  static constexpr std::string_view name = "with_late_timers";
  template <class Shape>
  using port = late_port<Shape>;
};

sleep_counts slept_beside_timers_late_by(duration each) {
  late = each;
  ended_late = 0;
  sleep_counts counted;
  loopback::world w(23);
  w.spawn("listener", [&] {
    auto net = open<with_late_timers>({.node = "listener", .service = "7471", .sleeps = true}).value();
    std::uint32_t came = 0;
    const auto on = overloaded{[&](const received&) { ++came; }, [](auto&&) {}};
    (void)net.accept_one(5s, on).value();
    while (came < 200) {
      (void)net.wait(1ms);
      net.progress(on);
    }
    counted = net.sleeps();
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.sleeps = true}).value();
    const peer to = net.connect("listener:7471", 5s).value();
    const auto memory = net.allocate(64, rights::none).value();
    const auto on = [](auto&&) {};
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(net.retry([&] { return net.send(to, memory.first(8)); }, 1s, on));
      (void)net.until([] { return false; }, 1ms + late / 2, on);  // in the late time after the other side's timer
    }
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
  return counted;
}

TEST(sleeping, an_entry_that_came_after_a_late_timer_is_no_missed_wake_up) {
  EXPECT_GT(slept_beside_timers_late_by(900us).missed_wakes, 10U) << "a timer in time is judged";
  EXPECT_GT(ended_late, 10);
  EXPECT_EQ(slept_beside_timers_late_by(2ms).missed_wakes, 0U);
  EXPECT_GT(ended_late, 10) << "no entry came while the machine stood still, so nothing was judged";
}

/// Ten seconds without an event: each sleep lasts until a timer is due, 5 ms at the shortest.
TEST(sleeping, an_owner_without_events_sleeps_instead_of_polling) {
  loopback::world w(22);
  w.spawn("alone", [&] {
    auto net = open<fabric>({.node = "alone", .service = "7471", .sleeps = true}).value();
    std::uint32_t calls = 0;
    for (const instant end = net.now() + 10s; net.now() < end; ++calls) {
      (void)net.wait(1h);
      net.progress([](auto&&) {});
    }
    EXPECT_LE(calls, 2000U) << "wait() returns without a sleep";
    EXPECT_EQ(net.sleeps().sleeps, calls);
    EXPECT_EQ(net.sleeps().timed, calls);
    std::uint32_t polls = 0;
    EXPECT_EQ(net.until([&] { return ++polls, false; }, 10s, [](auto&&) {}).code, errc::deadline);
    EXPECT_LE(polls, 10'000U) << "until() polls instead of sleeping";
    EXPECT_GT(net.sleeps().sleeps, calls) << "until() does not sleep";
  });
  const auto run = w.run(1h);
  EXPECT_TRUE(run) << run.sentence;
}

}  // namespace
}  // namespace weft
