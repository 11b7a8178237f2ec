// SPDX-License-Identifier: Apache-2.0
//
// Progress and waiting: any event wakes a sleeping thread, thousands of times at random moments. Without an event it
// wakes by its deadline. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <atomic>
#include <ctime>
#include <optional>

namespace weft::conformance {

template <class Environment>
class waiting : public suite<Environment> {};
TYPED_TEST_SUITE_P(waiting);

/// Whether an event ends a sleep of this transport. Elsewhere a sleep is short steps with a poll after each.
template <class F>
inline constexpr bool events_end_sleeps = F::facts.completion_wait == completion_wait::descriptor;

/// Up to a few microseconds of work, so that a message meets the other side before, in or after its way to sleep.
inline void linger(test_side& side) {
  for (std::uint64_t left = side.below(2000); left > 0; --left) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// A ping for each pong, at random moments. A timer hides a lost wake-up, so missed wake-ups are counted.
template <class F>
void ping_pong(test_side& side, bool sleeps, std::uint32_t rounds) {
  constexpr duration nap = 30s;
  const transport_options o{.listens = side.number() == 0, .sleeps = sleeps, .silence_limit = 20s};
  auto net = opened<F>(side, o);
  observer seen;
  std::uint32_t came = 0;
  seen.on_received = [&](const received&) { ++came; };
  const peer p = side.number() == 0 ? meet_as_listener(side, net, seen) : meet_as_caller(side, net, seen);
  auto memory = net.allocate(64, rights::none).value();
  const auto say = [&] { push(side, net, seen, "send", [&] { return net.send(p, memory.first(8)); }); };
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    if (side.number() == 1) {
      if (side.below(4) == 0) side.rest(duration(side.below(60'000)));
      else linger(side);
      say();
    }
    side.at("asleep until the next message");
    while (came < i && seen.losses == 0) {
      if (sleeps) (void)net.wait(nap);
      net.progress(seen);
    }
    if (net.sleeps().missed_wakes > 10) throw stopped("events do not end the sleeps of this side: timers do");
    if (side.number() != 0) continue;
    linger(side);
    say();
  }
  if (sleeps) {
    EXPECT_GE(net.sleeps().sleeps, rounds / 2) << "the test polls instead of sleeping";
    EXPECT_EQ(net.sleeps().missed_wakes, 0U) << "an event did not end a sleep: a timer did";
    side.note("sleeps_of_side_" + std::to_string(side.number()), static_cast<std::int64_t>(net.sleeps().sleeps));
    side.note("timed_sleeps_of_side_" + std::to_string(side.number()), static_cast<std::int64_t>(net.sleeps().timed));
  }
  side.ready(1 - side.number());
  serve(side, net, seen, 1 - side.number());
  EXPECT_EQ(came, rounds);
}

TYPED_TEST_P(waiting, polling_receives_a_thousand_messages_at_random_times) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.limit = 40s, .once = true}, [](test_side& side) { ping_pong<fabric>(side, false, 1000); },
      [](test_side& side) { ping_pong<fabric>(side, false, 1000); });
}

TYPED_TEST_P(waiting, two_thousand_messages_at_random_times_wake_a_sleeping_thread) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.limit = 40s, .once = true}, [](test_side& side) { ping_pong<fabric>(side, true, 2000); },
      [](test_side& side) { ping_pong<fabric>(side, true, 2000); });
}

/// Rounds of a question and an answer, in three parts. First side 0 sleeps and side 1 polls, then the sides swap: the
/// answer comes while the sleeper is on its way to sleep. A wrong order of arming and polling loses wake-ups there. In
/// the last half both sides sleep.
template <class F>
void sleep_in_three_parts(test_side& side, std::uint32_t rounds) {
  auto net = opened<F>(side, {.listens = side.number() == 0, .sleeps = true, .silence_limit = 20s});
  observer seen;
  seen.on_received = [](const received&) {};
  const peer p = side.number() == 0 ? meet_as_listener(side, net, seen) : meet_as_caller(side, net, seen);
  auto memory = net.allocate(64, rights::none).value();
  const auto say = [&] { push(side, net, seen, "send", [&] { return net.send(p, memory.first(8)); }); };
  const sleep_counts before = net.sleeps();
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    const bool both = i > rounds / 2;
    const bool sleeps = both || (side.number() == 0) == (i <= rounds / 4);
    const bool asks = both ? side.number() == 1 : sleeps;
    if (both && asks) {
      if (side.below(512) == 0) side.rest(duration(side.below(60'000)));
      else linger(side);
    }
    if (asks) say();
    side.at("waiting for the next message");
    for (std::uint32_t idle = 0; seen.messages < i && seen.losses == 0;) {
      if (sleeps) (void)net.wait(30s);
      net.progress(seen);
      if (++idle % 4096 == 0 && !sleeps) side.rest(1us);  // the sleeper may need this processor
    }
    if (net.sleeps().missed_wakes > before.missed_wakes + 10)
      throw stopped("events do not end the sleeps of this side: timers do");
    if (asks) continue;
    linger(side);
    say();
  }
  EXPECT_GE(net.sleeps().sleeps - before.sleeps, rounds / 2) << "the test polls instead of sleeping";
  EXPECT_EQ(net.sleeps().missed_wakes, before.missed_wakes) << "an event did not end a sleep: a timer did";
  side.note("timed_sleeps_of_side_" + std::to_string(side.number()), static_cast<std::int64_t>(net.sleeps().timed));
  side.ready(1 - side.number());
  serve(side, net, seen, 1 - side.number());
  EXPECT_EQ(seen.messages, rounds);
}

TYPED_TEST_P(waiting, a_hundred_thousand_sleeps_miss_no_wake_up) {
  using fabric = typename TestFixture::tested_fabric;
  if (!events_end_sleeps<fabric>)
    GTEST_SKIP() << "row " << fabric::name << ", completion_wait: a sleep is short steps, and no event ends a step";
  static const auto rounds = static_cast<std::uint32_t>((TypeParam::simulated ? 2'000 : 80'000) / slowness());
  TestFixture::play(
      {.limit = 40s, .once = true}, [](test_side& side) { sleep_in_three_parts<fabric>(side, rounds); },
      [](test_side& side) { sleep_in_three_parts<fabric>(side, rounds); });
}

/// Processor time of the calling thread.
inline duration processor_time() noexcept {
  timespec at{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
}

/// Each sleep takes time: a millisecond in steps, more on a descriptor. So the number of sleeps has a bound that a busy
/// machine only lowers. The share of the processor is compared in the same run.
TYPED_TEST_P(waiting, a_side_without_events_sleeps_instead_of_polling) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr duration span = 500ms;
  TestFixture::play({.once = true}, [](test_side& side) {
    auto net = opened<fabric>(side, {.listens = true, .sleeps = true});
    observer seen;
    const auto judge = [&](std::string_view what, const auto& rest) {
      const instant start = net.now();
      const duration busy = processor_time();
      const std::uint64_t before = net.sleeps().sleeps;
      std::uint64_t polls = 0;
      rest(start + span, polls);
      const duration took = net.now() - start;
      const auto most = static_cast<std::uint64_t>(took / 500us + 200);
      const std::uint64_t sleeps = net.sleeps().sleeps - before;
      EXPECT_GE(sleeps, 1U) << what << " never sleeps";
      EXPECT_LE(sleeps, most) << what << " returns without a sleep";
      EXPECT_LE(polls, 2 * most + 5000) << what << " polls instead of sleeping";
      if (side.simulated() || slowness() != 1) return;
      EXPECT_LE((processor_time() - busy).count(), took.count() / 2) << what << " burns processor time";
    };
    judge("wait()", [&](instant end, std::uint64_t& polls) {
      for (; net.now() < end; ++polls) {
        EXPECT_TRUE(net.wait(end - net.now()));
        net.progress(seen);
      }
    });
    // Its first sleep comes after many polls, and a busy machine gives them little time.
    judge("until()", [&](instant end, std::uint64_t& polls) {
      const std::uint64_t before = net.sleeps().sleeps;
      const auto slept = [&] { return ++polls, net.now() >= end && net.sleeps().sleeps > before; };
      EXPECT_TRUE(net.until(slept, patience, seen));
    });
  });
}

TYPED_TEST_P(waiting, a_wait_for_nothing_ends_and_until_keeps_its_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, [](test_side& side) {
    for (const bool sleeps : {true, false}) {
      auto net = opened<fabric>(side, {.listens = true, .sleeps = sleeps});
      observer seen;
      const instant start = net.now();
      const std::uint64_t nap = side.book.posted(history::work::wait, 0, start, start + 100ms);
      EXPECT_TRUE(net.wait(100ms));
      side.book.ended(nap, net.now(), errc::ok);
      net.progress(seen);
      const std::uint64_t wait = side.book.posted(history::work::wait, 0, net.now(), net.now() + 200ms);
      EXPECT_EQ(net.until([] { return false; }, 200ms, seen).code, errc::deadline);
      side.book.ended(wait, net.now(), errc::deadline);
      EXPECT_GE(net.now() - start, 200ms) << "until() returned early";
      EXPECT_LT(net.now() - start, 10s);
      EXPECT_TRUE(net.until([] { return true; }, duration(0), seen)) << "a condition that already holds takes no time";
    }
  });
}

TYPED_TEST_P(waiting, waiting_inside_a_handler_is_refused) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        std::optional<status> said;
        host.seen.on_received = [&](const received&) {
          observer inner;
          said = host.net.until([] { return false; }, 10s, inner);
          EXPECT_FALSE(host.net.connect("127.0.0.1:1", 1s, inner));
        };
        await(side, host.net, host.seen, "the message", [&] { return said.has_value(); });
        EXPECT_EQ(said->code, errc::invalid);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        push(side, guest.net, guest.seen, "send",
             [&] { return guest.net.send(guest.other, guest.memory.first(8), &guest); });
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(waiting, polling_receives_a_thousand_messages_at_random_times,
                            two_thousand_messages_at_random_times_wake_a_sleeping_thread,
                            a_hundred_thousand_sleeps_miss_no_wake_up, a_side_without_events_sleeps_instead_of_polling,
                            a_wait_for_nothing_ends_and_until_keeps_its_deadline, waiting_inside_a_handler_is_refused);

}  // namespace weft::conformance
