// SPDX-License-Identifier: Apache-2.0
//
// Coroutines over a transport: the same operations, awaited. The handler of progress() still gets its events. After a
// deadline no later completion touches the frame. Nothing is allocated in steady state. Hot path: no. Threads: one per
// side.
#pragma once

#include "../../coroutines/scheduler.hpp"
#include "allocation_count.hpp"
#include "two_sides.hpp"

#include <cstring>

namespace weft::conformance {

template <class Environment>
class coroutines_of_peers : public suite<Environment> {};
TYPED_TEST_SUITE_P(coroutines_of_peers);

namespace co = weft::coroutines;
inline constexpr co::runner_options roomy{.frames = 16, .frame_bytes = 8192, .operations = 8};

/// A wait inside a coroutine would keep it from its own end.
template <class F>
bool refuses_to_wait(co::scheduler<F>& net) {
  return net.until([] { return false; }, patience).code == errc::invalid;
}

/// Each kind of operation, one after the other. The operation's name says which step failed.
template <class F>
co::task<> each_kind(co::scheduler<F>& net, co::remote<F> there, region mine, remote_region target) {
  if (!refuses_to_wait(net)) co_return error(errc::broken, "until() in a coroutine that spawn() runs");
  paint(mine.memory().first(256), 3);
  if (status s = co_await there.put(mine.first(256), target.at(512)); !s) co_return s;
  if (status s = co_await there.get(mine.slice(1024, 256), target.at(512)); !s) co_return s;
  if (first_unlike(mine.memory().subspan(1024, 256), 3) != 256)
    co_return error(errc::broken, "get brought other bytes");
  for (std::uint64_t i = 0; i < 5; ++i) {
    const co::fetched f = co_await there.fetch_add(target.at(0), 3);
    if (!f) co_return f.why;
    if (f.old != i * 3) co_return error(errc::broken, "fetch_add");
  }
  const co::fetched swapped = co_await there.compare_swap(target.at(0), 15, 99);
  if (!swapped || swapped.old != 15) co_return error(errc::broken, "compare_swap");
  if (status s = co_await there.put_notify(mine.first(64), target.at(256), 77); !s) co_return s;
  if (status s = co_await there.send(mine.first(64)); !s) co_return s;
  const co::message answer = co_await there.next_message(patience);
  if (!answer) co_return answer.why;
  if (answer.bytes.size() != 32 || first_unlike(answer.bytes, 3) != 32) co_return error(errc::broken, "answer");
  co_await net.sleep(1ms);
  if (!refuses_to_wait(net)) co_return error(errc::broken, "until() in a coroutine that a clock wakes");
  co_return status{};
}

/// The other side: a notice, then a message, which it answers.
template <class F>
co::task<> answer_one(co::scheduler<F>& net, co::remote<F> there, region mine) {
  const co::notice n = co_await net.next_notice({.value = 77, .mask = ~0U}, patience);
  if (!n) co_return n.why;
  if (first_unlike(mine.memory().subspan(256, 64), 3) != 64)
    co_return error(errc::broken, "a notice came before its bytes");
  const co::message m = co_await there.next_message(patience);
  if (!m) co_return m.why;
  if (m.bytes.size() != 64) co_return error(errc::broken, "message");
  paint(mine.memory().first(32), 3);
  co_return co_await there.send(mine.first(32));
}

TYPED_TEST_P(coroutines_of_peers, each_kind_of_operation_is_awaited) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        co::scheduler<fabric> net(host.net, roomy);
        status ended = again(waits_for::nothing, "");
        ASSERT_TRUE(net.spawn(answer_one(net, net.with(host.other), host.region), &ended));
        side.at("answering");
        EXPECT_TRUE(net.until([&] { return !ended.is_again(); }, patience));  // an event before its await is kept
        EXPECT_TRUE(ended) << describe(ended);
        EXPECT_EQ(net.unclaimed_events(), 0U);
        side.at("serving");
        EXPECT_TRUE(net.until([&] { return side.has_value(1); }, patience, host.seen));
        side.ready(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        co::scheduler<fabric> net(guest.net, roomy);
        status ended = again(waits_for::nothing, "");
        ASSERT_TRUE(net.spawn(each_kind(net, net.with(guest.other), guest.memory, guest.there), &ended));
        side.at("asking");
        EXPECT_TRUE(net.until([&] { return !ended.is_again(); }, patience));
        EXPECT_TRUE(ended) << describe(ended);
        EXPECT_EQ(net.alive(), 0U);
        EXPECT_EQ(net.in_flight(), 0U);
        EXPECT_EQ(net.frames().left(), roomy.frames);
        side.ready(0);
        EXPECT_TRUE(net.until([&] { return side.has_value(0); }, patience, guest.seen));
      });
}

/// Three puts of its own, and the count of all: more coroutines than operations may be in flight.
template <class F>
co::task<> put_often(co::scheduler<F>& /*frames*/, co::remote<F> there, region mine, remote_region target, int& done) {
  for (int i = 0; i < 3; ++i) {
    if (status s = co_await there.put(mine.first(32), target.at(64)); !s) co_return s;
    ++done;
  }
  co_return status{};
}

TYPED_TEST_P(coroutines_of_peers, coroutines_work_with_handlers_and_resume_in_order) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        co::scheduler<fabric> net(guest.net, roomy);
        int done = 0;
        const auto there = net.with(guest.other);
        for (std::uint32_t i = 0; i < roomy.frames; ++i)
          ASSERT_TRUE(net.spawn(put_often(net, there, guest.memory, guest.there, done)));
        EXPECT_TRUE(net.spawn(put_often(net, there, guest.memory, guest.there, done)).is_again())
            << "one coroutine more than the pool has frames";
        std::uint64_t own = 0;
        guest.seen.on_completed = [&](const completed& e) { own += std::uint64_t{e.context == &own}; };
        status put = again(waits_for::nothing, "");
        const auto put_beside = [&] {
          if (put.is_again()) put = guest.net.put(guest.other, guest.memory.first(8), guest.there.at(8), &own);
          return !put.is_again();
        };
        EXPECT_TRUE(net.until([&] { return put_beside() && net.alive() == 0 && own == 1; }, patience, guest.seen));
        EXPECT_TRUE(put) << describe(put);
        EXPECT_EQ(done, 3 * static_cast<int>(roomy.frames));
        EXPECT_EQ(net.ended_badly(), 0U) << describe(net.last_bad_end());
        (void)side.wait_for_value(0);
        side.ready(0);
      });
}

/// Waits for a message that does not arrive. Then gets bytes from a peer that makes no progress.
template <class F>
co::task<> give_up(co::scheduler<F>& net, co::remote<F> there, region mine, remote_region target, bool& late) {
  const co::message m = co_await there.next_message(20ms);
  if (m.why.code != errc::deadline) co_return error(errc::broken, "a message that nobody sent");
  const co::notice n = co_await net.next_notice(5ms);
  if (n.why.code != errc::deadline) co_return error(errc::broken, "a notice that nobody sent");
  const status s = co_await there.get(mine.first(1024), target.at(0)).within(1ms);
  late = s.code == errc::deadline;
  co_return late ? status{} : s;
}

TYPED_TEST_P(coroutines_of_peers, a_deadline_ends_the_wait_and_a_later_completion_is_dropped) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        serve(side, host.net, host.seen, 1);
        (void)side.wait_for_value(1);
        (void)side.wait_for_value(1);  // no progress until the other side sends a value
        serve(side, host.net, host.seen, 1);
        side.ready(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        co::scheduler<fabric> net(guest.net, roomy);
        status ended = again(waits_for::nothing, "");
        bool late = false;
        side.ready(0);
        ASSERT_TRUE(net.spawn(give_up(net, net.with(guest.other), guest.memory, guest.there, late), &ended));
        side.at("giving up");
        EXPECT_TRUE(net.until([&] { return !ended.is_again(); }, patience, guest.seen));
        EXPECT_TRUE(ended) << describe(ended);
        EXPECT_EQ(net.in_flight(), std::uint32_t{late})
            << "the coroutine is gone, and its operation is still in flight";
        EXPECT_EQ(net.frames().left(), roomy.frames);
        side.ready(0);
        EXPECT_TRUE(net.until([&] { return net.in_flight() == 0; }, patience, guest.seen));
        side.ready(0);
        EXPECT_TRUE(net.until([&] { return side.has_value(0); }, patience, guest.seen));
      });
}

TYPED_TEST_P(coroutines_of_peers, a_closing_peer_ends_the_wait_for_its_messages) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        serve(side, host.net, host.seen, 1);
        EXPECT_TRUE(host.net.close(host.other, patience, host.seen));
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        co::scheduler<fabric> net(guest.net, roomy);
        status ended = again(waits_for::nothing, "");
        const auto wait = [](co::scheduler<fabric>& /*frames*/, co::remote<fabric> there) -> co::task<> {
          const co::message m = co_await there.next_message(patience);
          co_return m.why;
        };
        ASSERT_TRUE(net.spawn(wait(net, net.with(guest.other)), &ended));
        side.ready(0);
        EXPECT_TRUE(net.until([&] { return !ended.is_again(); }, patience, guest.seen));
        EXPECT_EQ(ended.code, errc::closed) << describe(ended);
      });
}

/// Steady state: each round is a coroutine that awaits another.
template <class F>
co::task<> one_put(co::scheduler<F>& /*frames*/, co::remote<F> there, local_memory from, remote_place at) {
  co_return co_await there.put_notify(from, at, 5);
}
template <class F>
co::task<> one_round(co::scheduler<F>& net, co::remote<F> there, local_memory from, remote_place at) {
  if (status s = co_await one_put(net, there, from, at); !s) co_return s;
  if (status s = co_await there.send(from); !s) co_return s;
  const co::fetched f = co_await there.fetch_add(at, 1);
  co_return f.why;
}

TYPED_TEST_P(coroutines_of_peers, allocate_nothing_in_steady_state) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        host.seen.on_received = [](const received&) {};
        host.seen.on_notified = [](const notified&) {};
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        co::scheduler<fabric> net(guest.net, roomy);
        std::uint64_t before = 0;
        for (int round = 0; round < 200; ++round) {
          if (round == 100) before = allocation_count();
          EXPECT_TRUE(net.spawn(one_round(net, net.with(guest.other), guest.memory.first(32), guest.there.at(64))));
          const instant end = net.now() + patience;
          while (net.alive() > 0 && net.now() < end) net.progress();
        }
        EXPECT_EQ(allocation_count() - before, 0U) << "in 100 rounds of three operations and two coroutines";
        EXPECT_EQ(net.ended_badly(), 0U) << describe(net.last_bad_end());
        EXPECT_LE(net.frames().largest_asked(), roomy.frame_bytes);
        (void)side.wait_for_value(0);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(coroutines_of_peers, each_kind_of_operation_is_awaited,
                            coroutines_work_with_handlers_and_resume_in_order,
                            a_deadline_ends_the_wait_and_a_later_completion_is_dropped,
                            a_closing_peer_ends_the_wait_for_its_messages, allocate_nothing_in_steady_state);

}  // namespace weft::conformance
