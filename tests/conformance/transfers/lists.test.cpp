// SPDX-License-Identifier: Apache-2.0
//
// Lists of a transfer engine over a network that delays, loses, reorders and answers `again`: all bytes move, one
// notice comes after them, and each list that cannot end well ends with its reason.
#include "system.hpp"

namespace weft::transfers::test {
namespace {

loopback::faults trouble() {
  loopback::faults f;
  f.reorder = 0.5;
  f.loss = 0.05;
  f.full_queue = 0.05;
  return f;
}

template <class F>
class lists : public testing::Test {};
using rows = testing::Types<unordered, asking>;
TYPED_TEST_SUITE(lists, rows);

TYPED_TEST(lists, one_notice_comes_after_all_bytes) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    play<TypeParam>(seed, trouble(), [](board& shared, loopback::world&) {
      listing_side<TypeParam> me({.in_flight_per_peer = 24, .posts_at_once = 7});
      std::vector<std::uint32_t> whole_at_notice;
      shared.noticed = [&](std::uint32_t round) { whole_at_notice.push_back(pages_there(shared, round)); };
      const auto all = me.whole();
      prepared_list prepared = me.lists->prepare_put(me.to, all).value();
      for (std::uint32_t round = 1; round <= 3; ++round) {
        me.paint(round);
        const started_list one =
            round == 1 ? me.lists->put_list(me.to, all, notice{round}) : me.lists->post(prepared, notice{round});
        ASSERT_TRUE(one) << describe(me.lists->refused());
        EXPECT_LE(me.lists->in_flight(me.to), 24U);
        ASSERT_TRUE(me.lists->wait(one.handle, 60s, me.on));
        const list_status how = me.lists->state(one.handle);
        EXPECT_EQ(how.state, list_state::done);
        EXPECT_EQ(how.done, pages);
        EXPECT_EQ(how.bytes_done, std::uint64_t{pages} * page);
        EXPECT_TRUE(me.lists->release(one.handle));
        ASSERT_TRUE(me.lists->until([&] { return shared.notices.size() == round; }, 60s, me.on));
      }
      EXPECT_EQ(shared.notices, (std::vector<std::uint32_t>{1, 2, 3}));
      EXPECT_EQ(whole_at_notice, (std::vector<std::uint32_t>{pages, pages, pages}));
      EXPECT_GT(me.lists->agains(), 0U);
      EXPECT_EQ(me.others, 0U);
      prepared_list kept = me.lists->prepare_put(me.to, all).value();
      kept = std::move(prepared);
      EXPECT_FALSE(me.lists->post(prepared, notice{4}));  // NOLINT(bugprone-use-after-move): a user's mistake
      EXPECT_EQ(me.lists->refused().reason, refused_for::nobody);
    });
}

TYPED_TEST(lists, a_list_of_gets_brings_every_page) {
  play<TypeParam>(3, trouble(), [](board& shared, loopback::world&) {
    listing_side<TypeParam> me;
    for (std::uint32_t p = 0; p < pages; ++p)
      for (std::uint32_t i = 0; i < page; ++i) shared.target[std::size_t{pages - 1 - p} * page + i] = content(9, p, i);
    const auto all = me.whole();
    const started_list one = me.lists->get_list(me.to, all);
    ASSERT_TRUE(me.lists->wait(one.handle, 60s, me.on));
    for (std::uint32_t p = 0; p < pages; ++p)
      for (std::uint32_t i = 0; i < page; ++i) ASSERT_EQ(me.memory.data()[p * page + i], content(9, p, i));
  });
}

TYPED_TEST(lists, a_cancelled_list_posts_nothing_more_and_sends_no_notice) {
  play<TypeParam>(4, {}, [](board& shared, loopback::world&) {
    listing_side<TypeParam> me({.in_flight_per_peer = 8, .posts_at_once = 8});
    me.paint(1);
    const auto all = me.whole();
    const started_list one = me.lists->put_list(me.to, all, notice{1});
    ASSERT_TRUE(me.lists->until([&] { return me.lists->state(one.handle).done >= 16; }, 10s, me.on));
    ASSERT_TRUE(me.lists->cancel(one.handle));
    EXPECT_EQ(me.lists->state(one.handle).state, list_state::stopping);
    EXPECT_FALSE(me.lists->release(one.handle));
    EXPECT_EQ(me.lists->refused().reason, refused_for::not_ended);
    EXPECT_EQ(me.lists->wait(one.handle, 10s, me.on).code, errc::closed);
    const list_status how = me.lists->state(one.handle);
    EXPECT_EQ(how.state, list_state::cancelled);
    EXPECT_LE(how.done, 16U + 2 * 8);
    const started_list after = me.lists->put_list(me.to, std::span(all).first(1), notice{2});
    ASSERT_TRUE(me.lists->wait(after.handle, 10s, me.on));
    ASSERT_TRUE(me.lists->until([&] { return !shared.notices.empty(); }, 10s, me.on));
    EXPECT_EQ(shared.notices, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(pages_there(shared, 1), how.done);
  });
}

TYPED_TEST(lists, a_list_ends_at_its_deadline) {
  play<TypeParam>(5, {}, [](board& shared, loopback::world& w) {
    listing_side<TypeParam> me({.in_flight_per_peer = 8}, {.sleeps = true, .operation_timeout = 2s});
    const auto all = me.whole();
    w.cut("initiator", "target");
    const instant begun = me.net.now();
    const started_list one = me.lists->put_list(me.to, all, notice{1}, {.timeout = 50ms});
    ASSERT_TRUE(me.lists->until([&] { return me.lists->state(one.handle).state != list_state::pending; }, 1s, me.on));
    EXPECT_GE(me.net.now() - begun, 50ms);
    EXPECT_EQ(me.lists->state(one.handle).why.code, errc::deadline);
    EXPECT_EQ(me.lists->state(one.handle).failed_transfer, no_transfer);
    EXPECT_EQ(me.lists->wait(one.handle, 10s, me.on).code, errc::deadline);
    EXPECT_EQ(me.lists->state(one.handle).state, list_state::failed);
    EXPECT_EQ(me.lists->in_flight(me.to), 0U);
    w.heal("initiator", "target");
    EXPECT_TRUE(shared.notices.empty());
  });
}

TYPED_TEST(lists, lists_to_a_killed_peer_fail_and_the_others_go_on) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    play<TypeParam>(seed, trouble(), [seed](board& shared, loopback::world& w) {
      board second;
      w.serve("second", [&] { be_target<TypeParam>(second, "second"); });
      listing_side<TypeParam> me({.in_flight_per_peer = 8, .posts_at_once = 4});
      const peer other = me.net.connect("second:7471", 5s, me.on).value();
      const remote_region elsewhere = me.net.receive_region(other, 5s, me.on).value();
      std::vector<transfer> there;
      for (std::uint32_t i = 0; i < pages; ++i) there.push_back({me.memory.slice(0, page), elsewhere.at(0)});
      const auto all = me.whole();
      const started_list dies = me.lists->put_list(me.to, all, notice{1});
      const started_list waits = me.lists->put_list(me.to, all, notice{2}, {.priority = priority::background});
      const started_list lives = me.lists->put_list(other, there);
      ASSERT_TRUE(me.lists->until([&] { return me.lists->state(dies.handle).done >= seed * 3; }, 60s, me.on));
      w.crash("target");
      EXPECT_FALSE(me.lists->wait(dies.handle, 60s, me.on));
      EXPECT_FALSE(me.lists->wait(waits.handle, 60s, me.on));
      EXPECT_EQ(me.lists->state(waits.handle).why.code, errc::peer_lost);
      EXPECT_EQ(me.lists->state(dies.handle).state, list_state::failed);
      EXPECT_TRUE(me.lists->wait(lives.handle, 60s, me.on));
      EXPECT_TRUE(shared.notices.empty());
      ASSERT_TRUE(me.lists->until([&] { return !me.to.alive(); }, 60s, me.on));
      const started_list late = me.lists->put_list(me.to, all);
      EXPECT_EQ(late.why.code, errc::peer_lost);
      EXPECT_EQ(me.lists->refused().reason, refused_for::nobody);
    });
}

}  // namespace
}  // namespace weft::transfers::test
