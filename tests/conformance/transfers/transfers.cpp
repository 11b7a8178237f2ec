// SPDX-License-Identifier: Apache-2.0
//
// Lists of a transfer engine: every page arrives, one notice comes after all of them, lists to a dead peer end, and
// nothing is allocated in steady state. The same on every fabric and on sets. Hot path: no. Threads: one per side.
#include "../../../transfers/engine.hpp"
#include "../allocation_count.hpp"
#include "../environment.hpp"
#include "../two_sides.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::conformance {

template <class Environment>
class transfers_of_peers : public suite<Environment> {};
TYPED_TEST_SUITE_P(transfers_of_peers);

inline constexpr std::uint32_t list_pages = 96;
inline constexpr std::size_t list_page = 4096;

/// Side 1: memory, the target's region, and an engine over its transport.
template <class F>
struct list_side : initiator_side<F> {
  using base = initiator_side<F>;
  transfers::engine<F> lists;
  std::vector<transfers::transfer> all;

  explicit list_side(test_side& side, const transfers::engine_options& o = {})
      : base(side, list_pages * list_page), lists(transfers::make_engine(base::net, o).value()) {
    for (std::uint32_t i = 0; i < list_pages; ++i)
      all.push_back({base::memory.slice(i * list_page, list_page), base::there.at((list_pages - 1 - i) * list_page)});
  }
  void paint_all(std::uint64_t round) {
    for (std::uint32_t i = 0; i < list_pages; ++i)
      paint(base::memory.memory().subspan(i * list_page, list_page), round * 1000 + i);
  }
  /// The limit begins again while transfers end, so a busy machine does not end the wait.
  void ended(test_side& side, transfers::list_handle h, std::string_view what) {
    std::uint32_t before = 0;
    do {
      side.at(what);
      before = lists.state(h).done;
      (void)lists.wait(h, patience, base::seen);
    } while (!has_ended(lists.state(h).state) && lists.state(h).done != before);
    side.moves();
  }
};
/// Pages of the round that are whole in the target's memory.
inline std::uint32_t whole_pages(const_bytes memory, std::uint64_t round) {
  std::uint32_t whole = 0;
  for (std::uint32_t i = 0; i < list_pages; ++i)
    whole += std::uint32_t{
        first_unlike(memory.subspan((list_pages - 1 - i) * list_page, list_page), round * 1000 + i) == list_page};
  return whole;
}

TYPED_TEST_P(transfers_of_peers, one_notice_comes_after_every_page) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t rounds = 3;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, list_pages * list_page, rights::all);
        std::uint32_t last = 0;
        host.seen.on_notified = [&](const notified& n) {
          EXPECT_EQ(n.immediate, ++last);
          EXPECT_EQ(whole_pages(host.region.memory(), n.immediate), list_pages) << "round " << n.immediate;
          side.ready(1);
        };
        await(side, host.net, host.seen, "notices", [&] { return last == rounds; });
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(last, rounds);
      },
      [](test_side& side) {
        list_side<fabric> guest(side, {.in_flight_per_peer = 32});
        const auto prepared = guest.lists.prepare_put(guest.other, guest.all).value();
        for (std::uint32_t round = 1; round <= rounds; ++round) {
          guest.paint_all(round);
          const auto one = round == 1 ? guest.lists.put_list(guest.other, guest.all, transfers::notice{round})
                                      : guest.lists.post(prepared, transfers::notice{round});
          ASSERT_TRUE(one) << describe(guest.lists.refused());
          guest.ended(side, one.handle, "a list of puts");
          const transfers::list_status how = guest.lists.state(one.handle);
          EXPECT_EQ(how.state, transfers::list_state::done) << describe(how.why);
          EXPECT_EQ(how.bytes_done, list_pages * list_page);
          EXPECT_TRUE(guest.lists.release(one.handle));
          serve(side, guest.net, guest.seen, 0);
          (void)side.wait_for_value(0);
        }
        paint(guest.memory.memory(), 7);
        const auto back = guest.lists.get_list(guest.other, guest.all);
        guest.ended(side, back.handle, "a list of gets");
        for (std::uint32_t i = 0; i < list_pages; ++i)
          ASSERT_EQ(first_unlike(guest.memory.memory().subspan(i * list_page, list_page), rounds * 1000 + i),
                    list_page);
        side.ready(0);
      });
}

TYPED_TEST_P(transfers_of_peers, lists_to_a_dead_peer_end) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {
        target_side<fabric> host(side, list_pages * list_page, rights::all);
        host.seen.on_notified = [](const notified&) {};
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        list_side<fabric> guest(side, {.in_flight_per_peer = 8, .posts_at_once = 4});
        guest.seen.on_failed = [](const failed&) {};
        guest.seen.on_lost = [](const lost&) {};
        const auto one = guest.lists.put_list(guest.other, guest.all, transfers::notice{1});
        const auto two = guest.lists.get_list(guest.other, guest.all, {.priority = transfers::priority::background});
        side.kill(0);
        guest.ended(side, one.handle, "the list to a dead peer");
        guest.ended(side, two.handle, "the waiting list to a dead peer");
        // mapped memory outlives its process: until the loss is noticed, gets from it succeed
        for (const auto h : {one.handle, two.handle})
          EXPECT_TRUE(has_ended(guest.lists.state(h).state)) << name_of(guest.lists.state(h).state);
        side.at("the loss of the dead peer");
        EXPECT_TRUE(guest.lists.until([&] { return !guest.other.alive(); }, patience, guest.seen));
        EXPECT_EQ(guest.lists.put_list(guest.other, guest.all).why.code, errc::peer_lost);
        EXPECT_EQ(guest.lists.in_flight(guest.other), 0U);
        EXPECT_TRUE(guest.lists.release(one.handle));
        EXPECT_TRUE(guest.lists.release(two.handle));
      });
}

TYPED_TEST_P(transfers_of_peers, lists_allocate_nothing) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated) GTEST_SKIP() << "the simulated library is C++ too, and allocates";
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, list_pages * list_page, rights::all);
        host.seen.on_notified = [](const notified&) {};
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        list_side<fabric> guest(side);
        const auto prepared = guest.lists.prepare_put(guest.other, guest.all).value();
        std::uint64_t before = 0;
        for (int round = 0; round < 20; ++round) {
          if (round == 10) before = allocation_count();
          const auto puts = guest.lists.post(prepared, transfers::notice{1});
          const auto more = guest.lists.put_list(guest.other, guest.all, {.priority = transfers::priority::urgent});
          const auto gets = guest.lists.get_list(guest.other, guest.all);
          for (const auto& each : {puts, more, gets}) {
            ASSERT_TRUE(guest.lists.wait(each.handle, patience, guest.seen));
            ASSERT_TRUE(guest.lists.release(each.handle));
          }
        }
        EXPECT_EQ(allocation_count() - before, 0U) << "in 10 rounds of three lists";
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(transfers_of_peers, one_notice_comes_after_every_page, lists_to_a_dead_peer_end,
                            lists_allocate_nothing);
WEFT_INSTANTIATE(transfers_of_peers);

}  // namespace weft::conformance
