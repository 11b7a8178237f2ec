// SPDX-License-Identifier: Apache-2.0
//
// Promises of a watched ring in addition to those of put_notify: every way of a payload, in the order of the posts;
// messages after notices; a ring that is full while its owner does not poll; cells that both sides use again at once.
#pragma once

#include "../../compose/ordering.hpp"
#include "environment.hpp"
#include "two_sides.hpp"

#include <array>
#include <vector>

namespace weft::conformance {

template <class Environment>
class watched_rings : public suite<Environment> {};
TYPED_TEST_SUITE_P(watched_rings);

/// Around the limits of injected, staged, gathered and early-written payloads.
inline constexpr std::array<std::size_t, 14> ring_payloads{0,   1,   8,    24,   25,   88,   89,
                                                           472, 473, 1000, 4120, 4121, 9000, 16000};
inline constexpr std::size_t ring_place_bytes = 16384;

TYPED_TEST_P(watched_rings, payloads_of_every_size_notify_once_after_their_bytes_and_cells_in_order) {
  using fabric = typename TestFixture::tested_fabric;
  static_assert(ordering<fabric>::notice_after_puts && !ordering<fabric>::write_after_write);
  static constexpr bool all_in_order = ordering<fabric>::notice_after_notice;
  static constexpr std::uint32_t count = 140;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, count * ring_place_bytes, rights::remote_write);
        std::uint32_t next = 0, in_cells = 0;
        std::vector<std::uint32_t> reported(count);
        host.seen.on_notified = [&](const notified& n) {
          const bool large = ring_payloads.at(n.immediate % ring_payloads.size()) > wire::largest_cell_payload;
          EXPECT_EQ(++reported.at(n.immediate), 1U);
          EXPECT_TRUE(!all_in_order || n.immediate == next) << n.immediate << " is out of order";
          EXPECT_TRUE(large || n.immediate >= std::exchange(in_cells, n.immediate)) << "a cell was read out of order";
          EXPECT_EQ(n.peer, host.other);
          const const_bytes there = host.region.memory().subspan(n.immediate * ring_place_bytes,
                                                                 ring_payloads.at(n.immediate % ring_payloads.size()));
          EXPECT_EQ(first_unlike(there, n.immediate), there.size())
              << "notice " << n.immediate << " arrived before its bytes";
          EXPECT_EQ(there.data()[there.size()], std::byte{}) << "bytes after those of " << n.immediate;
          ++next;
        };
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(next, count);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, count * ring_place_bytes);
        std::vector<std::uint32_t> ended(count);
        guest.seen.on_completed = [&](const completed& c) {
          EXPECT_EQ(c.what, operation::put_notify);
          ++*static_cast<std::uint32_t*>(c.context);
        };
        for (std::uint32_t i = 0; i < count; ++i) {
          const local_memory from =
              guest.memory.slice(i * ring_place_bytes, ring_payloads.at(i % ring_payloads.size()));
          paint({from.data, from.size}, i);
          push(side, guest.net, guest.seen, "put_notify", [&] {
            const remote_place at = guest.there.at(i * ring_place_bytes);
            return i % 3 == 0 ? guest.net.put_notify(guest.other, from, at, i)
                              : guest.net.put_notify(guest.other, from, at, i, &ended[i]);
          });
        }
        await(side, guest.net, guest.seen, "all completions",
              [&] { return guest.seen.completions >= count - (count + 2) / 3; });
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(ended[i], i % 3 == 0 ? 0U : 1U) << i;
        side.ready(0);
      });
}

TYPED_TEST_P(watched_rings, a_message_arrives_after_the_notices_posted_before_it) {
  using fabric = typename TestFixture::tested_fabric;
  if (!ordering<fabric>::send_after_write) GTEST_SKIP() << "the row lets messages overtake writes";
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        std::uint32_t notices = 0, messages = 0;
        host.seen.on_notified = [&](const notified& n) { EXPECT_EQ(n.immediate, notices++); };
        host.seen.on_received = [&](const received& m) {
          EXPECT_EQ(static_cast<std::uint32_t>(m.message[0]), messages++);
          EXPECT_GE(notices, messages) << "a message overtook the notice before it";
        };
        serve(side, host.net, host.seen, 1);
        await(side, host.net, host.seen, "the rest", [&] { return notices >= 40 && messages >= 40; });
        side.ready(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        for (std::uint32_t i = 0; i < 40; ++i) {
          guest.memory.data()[i] = static_cast<std::byte>(i);
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(guest.other, guest.memory.slice(i, 1), guest.there.at(i), i); });
          push(side, guest.net, guest.seen, "send",
               [&] { return guest.net.send(guest.other, guest.memory.slice(i, 1)); });
        }
        side.ready(0);
        serve(side, guest.net, guest.seen, 0);
      });
}

TYPED_TEST_P(watched_rings, a_full_ring_answers_again_until_its_owner_polls) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        std::uint32_t next = 0;
        host.seen.on_notified = [&](const notified& n) { EXPECT_EQ(n.immediate, next++); };
        serve(side, host.net, host.seen, 1);
        (void)side.wait_for_value(1);
        (void)side.wait_for_value(1);  // while the owner does not poll
        await(side, host.net, host.seen, "all", [&] { return next == 200; });
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        side.ready(0);
        std::uint32_t posted = 0;
        status s;
        for (int idle = 0; idle < 200;) {
          s = guest.net.put_notify(guest.other, guest.memory.first(8), guest.there.at(0), posted);
          guest.net.progress(guest.seen);
          if (s) ++posted;
          else ++idle;
          ASSERT_LT(posted, 200U);
        }
        EXPECT_TRUE(s.is_again());
        EXPECT_EQ(posted, wire::ring_cells);
        side.ready(0);
        for (; posted < 200; ++posted)
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(guest.other, guest.memory.first(8), guest.there.at(0), posted); });
        serve(side, guest.net, guest.seen, 0);
        (void)side.wait_for_value(0);
        side.ready(0);
      });
}

TYPED_TEST_P(watched_rings, both_sides_answer_each_notice_with_a_notice) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 150;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        std::uint32_t next = 0, answered = 0;
        host.seen.on_notified = [&](const notified& n) { EXPECT_EQ(n.immediate, next++); };
        const auto back = host.net.parse_region(serve_for_value(side, host.net, host.seen, 1)).value();
        const auto answer_all = [&] {
          while (answered < next && host.net.put_notify(host.other, host.region.first(8), back.at(0), answered))
            ++answered;
          return side.has_value(1);
        };
        await(side, host.net, host.seen, "its completion", answer_all, patience * 2);
        EXPECT_EQ(next, count);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        const auto here = guest.net.allocate(4096, rights::remote_write).value();
        side.send_value(0, const_bytes(guest.net.export_region(here, owner_polls)));
        std::uint32_t next = 0;
        guest.seen.on_notified = [&](const notified& n) { EXPECT_EQ(n.immediate, next++); };
        for (std::uint32_t i = 0; i < count; ++i) {
          std::memcpy(guest.memory.data(), &i, sizeof i);
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(guest.other, guest.memory.first(8), guest.there.at(0), i); });
          await(side, guest.net, guest.seen, "the reply", [&] { return next == i + 1; });
          std::uint32_t came = 0;
          std::memcpy(&came, here.data(), sizeof came);
          EXPECT_EQ(came, i);
        }
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(watched_rings, payloads_of_every_size_notify_once_after_their_bytes_and_cells_in_order,
                            a_message_arrives_after_the_notices_posted_before_it,
                            a_full_ring_answers_again_until_its_owner_polls,
                            both_sides_answer_each_notice_with_a_notice);

}  // namespace weft::conformance
