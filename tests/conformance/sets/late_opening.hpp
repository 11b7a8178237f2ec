// SPDX-License-Identifier: Apache-2.0
//
// When the fabrics of a set open: all of a listener at once, those of a caller when a peer or the program needs them.
// What was registered before a fabric opened is reachable over it. Hot path: no. Threads: one per side.
#pragma once

#include "set_sides.hpp"

#include <array>
#include <string>

namespace weft::conformance {

template <class Environment>
class late_opening : public suite<Environment> {
 public:
  using set = typename Environment::fabric;
  using first = typename fabrics_of<set>::first;
  using last = typename fabrics_of<set>::last;
};
TYPED_TEST_SUITE_P(late_opening);

TYPED_TEST_P(late_opening, a_caller_opens_a_fabric_when_a_peer_needs_it) {
  using fabric = typename TestFixture::set;
  using best = typename TestFixture::first;
  using other = typename TestFixture::last;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        EXPECT_TRUE(net.template is_open<best>() && net.template is_open<other>()) << "its directory names all";
        observer seen;
        const auto page = net.allocate(256, rights::all).value();
        side.send_value(1, net.listen_address() + " " + net.template listen_address<other>());
        for (const peer& p : accept_all(side, net, seen, 2))
          push(side, net, seen, "send_region", [&] { return net.send_region(p, page, owner_polls); });
        seen.on_notified = [](const notified&) {};
        await(side, net, seen, "both notices", [&] { return seen.notices == 2; });
        serve(side, net, seen, 1);
        EXPECT_EQ(first_unlike(page.memory().first(64), 1), 64U);
        EXPECT_EQ(first_unlike(page.memory().subspan(128, 64), 2), 64U);
      },
      [](test_side& side) {
        const std::string both = side.wait_for_text(0);
        const std::string whole_set = both.substr(0, both.find(' '));
        const std::string last_alone = both.substr(both.find(' ') + 1);
        auto net = opened<fabric>(side, {});
        EXPECT_TRUE(net.template is_open<best>());
        EXPECT_FALSE(net.template is_open<other>());
        EXPECT_EQ(net.usable_fabrics(), std::string(best::name) + "," + std::string(other::name));
        EXPECT_LE(net.limits().largest_message, other::facts.largest_message) << "also before it is open";
        observer seen;
        const auto memory = net.allocate(256, rights::all).value();
        paint(memory.memory().first(64), 1);
        paint(memory.memory().subspan(128, 64), 2);

        const auto near = net.connect(whole_set, patience, seen);
        if (!near) throw stopped("connect: " + near.error().sentence);
        EXPECT_EQ(net.fabric_of(*near), best::name);
        EXPECT_FALSE(net.template is_open<other>()) << "this peer does not need it";
        for (const fabric_verdict& each : net.explain(*near))
          if (each.fabric == other::name) {
            EXPECT_EQ(each.is, fabric_verdict::kind::next) << each.reason;
            EXPECT_TRUE(contains(each.reason, "opened when a peer needs it")) << each.reason;
          }

        const auto far = net.connect(std::string(other::name) + "@" + last_alone, patience, seen);
        if (!far) throw stopped("connect: " + far.error().sentence);
        EXPECT_EQ(net.fabric_of(*far), other::name);
        EXPECT_TRUE(net.template is_open<other>());
        EXPECT_LE(net.limits().largest_message, net.template on<other>()->limits().largest_message);

        std::uint64_t at = 0;
        for (const peer& p : {*near, *far}) {
          const auto there = net.receive_region(p, patience, seen).value();
          push(side, net, seen, "put_notify", [&] { return net.put_notify(p, memory.slice(at, 64), there.at(at), 1); });
          at += 128;
        }
        await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
        side.ready(0);
        for (const peer& p : {*near, *far}) EXPECT_TRUE(net.close(p, patience, seen));
      });
}

TYPED_TEST_P(late_opening, the_program_asks_for_a_fabric_by_name_or_for_all_in_a_description) {
  using fabric = typename TestFixture::set;
  using best = typename TestFixture::first;
  using other = typename TestFixture::last;
  TestFixture::play({.once = true}, [](test_side& side) {
    {
      auto net = opened<fabric>(side, {});
      EXPECT_FALSE(net.template is_open<other>());
      EXPECT_NE(net.template on<other>(), nullptr);
      EXPECT_TRUE(net.template is_open<other>());
      auto moved = std::move(net);
      EXPECT_TRUE(moved.template is_open<other>());
    }
    {
      auto net = opened<fabric>(side, {});
      const auto page = net.allocate(64, rights::all).value();
      EXPECT_EQ(net.parse_region(peer(), net.export_region(peer(), page, owner_polls)).value().size(), 64U);
      EXPECT_FALSE(net.template is_open<other>()) << "a description for one peer has that peer's fabric";
      EXPECT_EQ(net.parse_region(peer(), net.export_region(page, owner_polls)).value().size(), 64U);
      EXPECT_TRUE(net.template is_open<other>()) << "third parties may reach the region by any fabric";
    }
    auto net = opened<fabric>(side, only(best::name));
    EXPECT_EQ(net.template on<other>(), nullptr) << "the choice leaves it out";
    EXPECT_EQ(net.usable_fabrics(), best::name);
  });
}

REGISTER_TYPED_TEST_SUITE_P(late_opening, a_caller_opens_a_fabric_when_a_peer_needs_it,
                            the_program_asks_for_a_fabric_by_name_or_for_all_in_a_description);

}  // namespace weft::conformance
