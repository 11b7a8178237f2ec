// SPDX-License-Identifier: Apache-2.0
//
// What an engine keeps apart from the fabric: priorities, the limit in flight, handles, its own handler, sentences for
// wrong calls, and pools of registered memory.
#include <weft/transfers/region_pool.hpp>

#include "system.hpp"

namespace weft::transfers::test {
namespace {

using fabric = unordered;

TEST(engine, a_higher_class_goes_first_and_lists_of_a_class_in_their_order) {
  play<fabric>(1, {}, [](board&, loopback::world&) {
    listing_side<fabric> me({.in_flight_per_peer = 4, .posts_at_once = 4});
    const auto all = me.whole();
    std::vector<std::uint32_t> ends;
    struct note {
      std::vector<std::uint32_t>* ends;
      std::uint32_t number;
      std::uint32_t done_of_first = 0;
    };
    note notes[] = {{&ends, 0}, {&ends, 1}, {&ends, 2}, {&ends, 3}};
    const auto ended = [](void* context, list_handle, const list_status& how) {
      auto& n = *static_cast<note*>(context);
      EXPECT_EQ(how.state, list_state::done);
      n.ends->push_back(n.number);
    };
    const auto start = [&](std::uint32_t number, priority p) {
      return me.lists->put_list(me.to, all, {.priority = p, .ended = ended, .context = &notes[number]}).handle;
    };
    const list_handle first = start(0, priority::background);
    start(1, priority::normal);
    start(2, priority::normal);
    start(3, priority::urgent);
    ASSERT_TRUE(me.lists->until([&] { return !ends.empty(); }, 60s, me.on));
    EXPECT_LE(me.lists->state(first).done, 4U);
    ASSERT_TRUE(me.lists->until(
        [&] {
          EXPECT_LE(me.lists->in_flight(me.to), 4U);
          return ends.size() == 4;
        },
        60s, me.on));
    EXPECT_EQ(ends, (std::vector<std::uint32_t>{3, 1, 2, 0}));
  });
}

TEST(engine, a_wait_sleeps_while_a_list_is_at_the_limit_in_flight) {
  play<fabric>(5, {.delay_least = 5ms, .delay_most = 5ms}, [](board&, loopback::world&) {
    listing_side<fabric> me({.in_flight_per_peer = 1});
    const std::uint64_t before = me.net.sleeps().sleeps;
    constexpr std::uint32_t puts = 8;
    EXPECT_TRUE(me.lists->wait(me.lists->put_list(me.to, me.whole(0, puts)).handle, 60s, me.on));
    EXPECT_GE(me.net.sleeps().sleeps - before, puts) << "each end is 10 ms after its post";
  });
}

struct chain {
  listing_side<fabric>* me;
  const std::vector<transfer>* all;
  std::uint32_t left = 5;
  static void next(void* context, list_handle which, const list_status& how) {
    auto& c = *static_cast<chain*>(context);
    EXPECT_EQ(how.state, list_state::done);
    EXPECT_TRUE(c.me->lists->release(which));
    EXPECT_EQ(c.me->lists->until([] { return true; }, 1s, c.me->on).code, errc::invalid);
    if (--c.left > 0)
      EXPECT_TRUE(c.me->lists->put_list(c.me->to, *c.all, notice{c.left}, {.ended = next, .context = context}));
  }
};

TEST(engine, an_ended_function_may_release_its_list_and_start_the_next) {
  play<fabric>(2, {}, [](board& shared, loopback::world&) {
    listing_side<fabric> me({.lists = 1});
    const auto all = me.whole(0, 3);
    chain links{&me, &all};
    ASSERT_TRUE(me.lists->put_list(me.to, all, notice{5}, {.ended = chain::next, .context = &links}));
    ASSERT_TRUE(me.lists->until([&] { return shared.notices.size() == 5 && links.left == 0; }, 60s, me.on));
    EXPECT_EQ(shared.notices, (std::vector<std::uint32_t>{5, 4, 3, 2, 1}));
  });
}

TEST(engine, wrong_lists_move_nothing_and_have_a_sentence) {
  play<fabric>(
      3, {},
      [](board& shared, loopback::world&) {
        listing_side<fabric> me({.lists = 2});
        engine<fabric>& lists = *me.lists;
        const auto refused = [&](const started_list& s, errc code, std::string_view sentence) {
          EXPECT_EQ(s.why.code, code);
          EXPECT_FALSE(s.handle);
          EXPECT_NE(describe(lists.refused()).find(sentence), std::string::npos) << describe(lists.refused());
        };
        auto all = me.whole();
        refused(lists.put_list(me.to, {}, notice{1}), errc::invalid, "the list is empty");
        refused(lists.put_list(me.to, {all.data(), std::size_t{1} << 32}, notice{1}), errc::invalid,
                "the list has 4294967296 transfers; the most are 4294967294");
        refused(lists.put_list({}, all), errc::peer_lost, "the peer is not connected");
        refused(lists.get_list(me.to, all), errc::denied, "transfer 0 needs rights::remote_read");
        all[17].here = me.memory.slice(std::size_t{page} * pages - 1, 2);
        refused(lists.put_list(me.to, all), errc::out_of_range, "transfer 17 has a slice that ends after its own");
        all[17] = {me.memory.first(page), me.there.at(std::uint64_t{page} * pages - 8)};
        refused(lists.put_list(me.to, all), errc::out_of_range,
                "transfer 17 has 64 bytes, and the peer's region has 8 from its place on");
        EXPECT_EQ(lists.prepare_put(me.to, all).why().code, errc::out_of_range);
        EXPECT_NE(lists.prepare_put(me.to, all).error().sentence.find("transfer 17"), std::string::npos);
        all.resize(4);
        for (transfer& each : all) each.there.granted = rights::all;  // only the peer knows better
        refused(lists.post(lists.prepare_get(me.to, all).value(), notice{1}), errc::invalid,
                "a list of gets carries no");
        const started_list one = lists.put_list(me.to, all), two = lists.put_list(me.to, all);
        refused(lists.put_list(me.to, all), errc::again, "all 2 lists are in use");
        ASSERT_TRUE(lists.wait(one.handle, 10s, me.on));
        ASSERT_TRUE(lists.wait(two.handle, 10s, me.on));
        ASSERT_TRUE(lists.release(one.handle));
        const started_list three = lists.put_list(me.to, all);
        EXPECT_EQ(three.handle.index(), one.handle.index());
        EXPECT_EQ(lists.state(one.handle).state, list_state::released);
        EXPECT_EQ(lists.cancel(one.handle).code, errc::invalid);
        EXPECT_EQ(lists.release(list_handle()).code, errc::invalid);
        EXPECT_NE(describe(lists.refused()).find("this handle names no list"), std::string::npos);
        EXPECT_EQ(lists.wait(one.handle, 1s, me.on).code, errc::invalid);
        ASSERT_TRUE(lists.wait(three.handle, 10s, me.on));
        EXPECT_TRUE(shared.notices.empty());
        EXPECT_EQ(make_engine(me.net, {.lists = 0}).error().sentence, "engine_options::lists is 0; it is at least 1");
      },
      rights::remote_write);
}

TEST(engine, a_refusal_of_the_target_names_its_transfer_and_no_notice_comes) {
  play<fabric>(4, {}, [](board& shared, loopback::world&) {
    listing_side<fabric> me;
    auto all = me.whole(0, 40);
    all[23].there.key += 1000;  // a region that the target has not: only the target can know
    const started_list one = me.lists->put_list(me.to, all, notice{1});
    EXPECT_FALSE(me.lists->wait(one.handle, 60s, me.on));
    const list_status how = me.lists->state(one.handle);
    EXPECT_EQ(how.state, list_state::failed);
    EXPECT_EQ(how.failed_transfer, 23U);
    EXPECT_LE(how.done, 38U);
    (void)me.lists->until([] { return false; }, 10ms, me.on);
    EXPECT_TRUE(shared.notices.empty());
  });
}

TEST(region_pool, hands_out_each_piece_once) {
  play<fabric>(5, {}, [](board&, loopback::world&) {
    listing_side<fabric> me;
    auto pool = region_pool::over(me.net.allocate(1000, rights::all).value(), 300).value();
    EXPECT_EQ(pool.pieces(), 3U);
    std::array<piece, 3> taken{};
    for (piece& each : taken) each = pool.take();
    EXPECT_EQ(pool.left(), 0U);
    EXPECT_FALSE(pool.take());
    EXPECT_EQ(pool.memory(taken[1]).data - pool.region().data(), 300);
    EXPECT_EQ(pool.offset_of(taken[2]), 600U);
    EXPECT_EQ(pool.memory(taken[0], 200, 100).size, 100U);
    EXPECT_EQ(pool.memory(taken[0], 201, 100).size, no_slice);
    EXPECT_TRUE(pool.give(taken[1]));
    EXPECT_EQ(pool.give(taken[1]).code, errc::invalid);
    EXPECT_EQ(pool.give(piece{}).code, errc::invalid);
    EXPECT_EQ(pool.take().number, taken[1].number);
    EXPECT_EQ(region_pool::over(me.net.allocate(100, rights::none).value(), 300).error().sentence,
              "a pool of pieces of 300 bytes needs a region of at least one piece; this one has 100 bytes");
  });
}

}  // namespace
}  // namespace weft::transfers::test
