// SPDX-License-Identifier: Apache-2.0
//
// A handler closes the peer with deferred work and posts to another. Each operation ends once, and a released slot is
// not mistaken for its old use.
#include <weft/compose/sets/members.hpp>
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;

void listen(bool& over) {
  auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
  auto memory = net.allocate(64, rights::remote_read).value();
  const auto on = overloaded{[](auto&&) {}};
  for (int i = 0; i < 2; ++i) {
    const peer p = net.accept_one(5s, on).value();
    auto said = net.export_region(memory, owner_polls);
    while (!net.send(p, net.memory({said.data(), said.size()}))) net.progress(on);
  }
  EXPECT_TRUE(net.until([&] { return over; }, 60s, on));
}

TEST(deferred, a_handler_may_close_a_peer_with_deferred_work_and_post_to_another) {
  loopback::world w(3);
  bool over = false;
  w.spawn("listener", [&] { listen(over); });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.sleeps = true}).value();
    std::array<peer, 2> peers;
    std::array<remote_region, 2> there;
    std::array<int, 40> ended{};
    std::array<int, 40> names{};
    int heard = 0;
    bool closed = false;
    const auto get_nothing = [&](std::size_t side, int& name) {
      EXPECT_TRUE(net.get(peers[side], local_memory{}, there[side].at(0), &name));
    };
    const auto on = overloaded{[&](const received& m) {
                                 there.at(static_cast<std::size_t>(heard)) = net.parse_region(m.message).value();
                                 ++heard;
                               },
                               [&](const completed& c) {
                                 ++ended.at(static_cast<std::size_t>(static_cast<int*>(c.context) - names.data()));
                                 if (std::exchange(closed, true)) return;
                                 EXPECT_TRUE(net.close(peers[0], 0s));
                                 for (std::size_t i = 4; i < 8; ++i) get_nothing(1, names[i]);
                               },
                               [](const auto&) {}};
    for (peer& p : peers) {
      const int before = heard;
      p = net.connect("listener:7471", 5s, on).value();
      ASSERT_TRUE(net.until([&] { return heard > before; }, 5s, on));
    }
    for (std::size_t i = 0; i < 4; ++i) get_nothing(0, names[i]);
    const auto reported = [&](std::size_t first, std::size_t last) {
      return std::accumulate(&ended[first], &ended[last], 0);
    };
    EXPECT_TRUE(net.until([&] { return reported(4, 8) >= 4; }, 5s, on));
    // a slot that was released twice would be two of these
    for (std::size_t i = 8; i < 40; ++i) get_nothing(1, names[i]);
    EXPECT_TRUE(net.until([&] { return reported(8, 40) >= 32; }, 5s, on));
    for (int i = 0; i < 100; ++i) net.progress(on);
    std::array<int, 40> once;
    once.fill(1);
    once[1] = once[2] = once[3] = 0;  // of the closed peer
    EXPECT_EQ(ended, once);
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// A cell is read after the poll of the queue. Its handler closes the peer, so that poll says nothing about the link.
TEST(deferred, a_link_that_a_cell_ends_is_settled_by_a_later_poll) {
  using watched = with<fabric, answers::notify::watched_word>;
  loopback::world w(3);
  bool over = false, left = false;
  region_bytes place{};
  w.spawn("listener", [&] {
    auto net = open<watched>({.node = "listener", .service = "7471"}).value();
    const auto page = net.allocate(64, rights::all).value();
    place = net.export_region(page, owner_polls);
    bool closed = false;
    const auto on = overloaded{[&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); },
                               [&](const received&) {
                                 left = true;
                                 return false;  // work stays deferred
                               },
                               [&](const notified& n) {
                                 closed = true;
                                 EXPECT_TRUE(net.close(n.peer, 0s));
                               },
                               [](auto&&) {}};
    const auto& e = detail::transport_parts::engine_of(net);
    while (!closed) {
      net.progress(on);
      loopback::sleep_for(10us);
    }
    EXPECT_TRUE(e.draining) << "the library was not polled since the link's end";
    EXPECT_EQ(e.retired_receives.size(), 1U);
    for (int i = 0; i < 10; ++i) net.progress(on);
    EXPECT_FALSE(e.draining);
    EXPECT_TRUE(e.retired_receives.empty());
    over = true;
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<watched>({}).value();
    const auto on = [](auto&&) {};
    const peer there = net.connect("listener:7471", 5s).value();
    const auto mine = net.allocate(64, rights::none).value();
    EXPECT_TRUE(net.send(there, mine.first(8)));
    EXPECT_TRUE(net.until([&] { return left; }, 5s, on));
    EXPECT_TRUE(net.put_notify(there, mine.first(8), net.parse_region(place).value().at(0), 7));
    EXPECT_TRUE(net.until([&] { return over; }, 5s, on));
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
}

}  // namespace
}  // namespace weft
