// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages of peers that different fabrics of a set reach: one receive of any peer serves all of them, and the
// orders of posts and arrivals hold over all fabrics. Hot path: no. Threads: one per side.
#include "../../../compose/sets/tagged.hpp"
#include "../tagged/tagged_cases.hpp"
#include "set_sides.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weft::conformance {

template <class Environment>
class tagged_in_sets : public suite<Environment> {};
TYPED_TEST_SUITE_P(tagged_in_sets);

/// A caller that may use these fabrics alone. Sends a message with each tag when side 0 says so.
template <class F>
auto caller_over(std::string_view fabrics, std::initializer_list<std::uint64_t> tags) {
  return [=, all = std::vector<std::uint64_t>(tags)](test_side& side) {
    auto net = opened<F>(side, only(fabrics));
    observer seen;
    auto memory = net.allocate(8, rights::none).value();
    const peer p = meet_as_caller(side, net, seen);
    for (const std::uint64_t tag : all) {
      (void)serve_for_value(side, net, seen, 0);
      push(side, net, seen, "send_tagged", [&] { return net.send_tagged(p, memory.first(8), tag); });
    }
    serve(side, net, seen, 0);
    EXPECT_TRUE(net.close(p, patience, seen));
  };
}

TYPED_TEST_P(tagged_in_sets, one_receive_serves_peers_of_every_fabric) {
  using fabric = typename TestFixture::tested_fabric;
  using names = fabrics_of<fabric>;
  TestFixture::play(
      {},
      [](test_side& side) {
        slot any, named;
        {
          auto net = opened<fabric>(side, listening());
          observer seen;
          for (const int k : {1, 2}) side.send_value(k, net.listen_address());
          std::array<peer, 3> from;  // by their sides
          for (const peer& p : accept_all(side, net, seen, 2)) from[net.fabric_of(p) == names::last::name ? 2 : 1] = p;
          ASSERT_TRUE(from[1] && from[2]);

          // Messages look for receives in the order of posts.
          std::array<slot, 3> slots;
          const tag_match wanted[] = {{.ignore = any_tag}, {.tag = 5, .from = from[2]}, {.tag = 5}};
          std::vector<std::pair<void*, peer>> ended;
          seen.on_completed = [&](const completed& c) { ended.emplace_back(c.context, c.peer); };
          for (std::size_t i = 0; i < 3; ++i)
            ASSERT_TRUE(net.receive_tagged(slots[i].receive, wanted[i], slots[i].into()));
          const std::pair<std::size_t, int> order[] = {{0, 2}, {2, 1}, {1, 2}};
          for (std::size_t i = 0; i < 3; ++i) {
            const auto [place, sender] = order[i];
            side.ready(sender);
            await(side, net, seen, "a message", [&] { return ended.size() == i + 1; });
            EXPECT_EQ(ended[i].first, &slots[place].receive);
            EXPECT_EQ(ended[i].second, from[static_cast<std::size_t>(sender)]);
            EXPECT_EQ(slots[place].receive.from(), ended[i].second);
          }

          // Receives look for messages in the order of arrivals.
          std::uint64_t waits = 0;
          for (const int k : {1, 2, 1}) {
            side.ready(k);
            await(side, net, seen, "a message that waits", [&] { return net.waiting_tagged() == waits + 1; });
            ++waits;
          }
          ASSERT_TRUE(net.receive_tagged(slots[0].receive, {.tag = 7}, slots[0].into()));
          EXPECT_EQ(slots[0].receive.from(), from[1]);
          await(side, net, seen, "its end", [&] { return ended.size() == 4; });
          const auto second = net.receive_tagged({.ignore = any_tag}, slots[1].into(), patience, seen);
          ASSERT_TRUE(second) << second.error().sentence;
          EXPECT_EQ(second->from, from[2]);
          EXPECT_EQ(net.receive_tagged({.tag = 8, .from = from[2]}, slots[1].into(), 2ms, seen).why().code,
                    errc::deadline);
          EXPECT_TRUE(net.receive_tagged({.tag = 8}, slots[1].into(), patience, seen));
          EXPECT_EQ(net.waiting_tagged(), 0U);

          // A receive of nobody ends with an event too.
          seen.on_failed = [&](const failed& f) { ended.emplace_back(f.context, f.peer); };
          ASSERT_TRUE(net.receive_tagged(any.receive, {.tag = 9}, any.into()));
          EXPECT_TRUE(net.cancel_tagged(any.receive));
          await(side, net, seen, "the end of the cancelled receive", [&] { return ended.size() == 5; });
          EXPECT_EQ(ended[4].first, &any.receive);
          EXPECT_EQ(ended[4].second, peer());

          // The end of a peer ends the receives that name it, and no others.
          ASSERT_TRUE(net.receive_tagged(any.receive, {.tag = 9}, any.into()));
          ASSERT_TRUE(net.receive_tagged(named.receive, {.tag = 9, .from = from[2]}, named.into()));
          seen.on_lost = [](const lost&) {};
          side.ready(2);
          await(side, net, seen, "the end of one peer", [&] { return seen.losses == 1; });
          EXPECT_TRUE(named.receive.ended());
          EXPECT_EQ(named.receive.why().code, errc::closed);
          EXPECT_TRUE(any.receive.posted());
          EXPECT_EQ(net.send_tagged(from[2], {}, 1).code, errc::peer_lost);
          side.ready(1);
          await(side, net, seen, "the end of the other", [&] { return seen.losses == 2; });
          EXPECT_TRUE(any.receive.posted());
        }
        EXPECT_TRUE(any.receive.ended()) << "its set is gone";
        EXPECT_EQ(any.receive.why().code, errc::closed);
      },
      caller_over<fabric>(names::first::name, {5, 7, 8}), caller_over<fabric>(names::last::name, {5, 5, 7}));
}

REGISTER_TYPED_TEST_SUITE_P(tagged_in_sets, one_receive_serves_peers_of_every_fabric);

using tagging_set = with_each<tested, answers::tagged::matched_over_messages<window>>;
static_assert(tagging_set::fingerprint == tested::fingerprint, "sides with and without tagged messages meet");
using tagging_environment =
    std::conditional_t<in_process<tagging_set>, simulated_environment<tagging_set>, live<tagging_set>>;

INSTANTIATE_TYPED_TEST_SUITE_P(tagging, tagged_messages, tagging_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(tagging, tagged_in_sets, tagging_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(tagging, messages, tagging_environment, fabric_name);

}  // namespace weft::conformance
