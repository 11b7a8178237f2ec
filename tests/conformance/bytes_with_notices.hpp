// SPDX-License-Identifier: Apache-2.0
//
// Notices that carry their bytes, in a message or in a cell of the target's ring. The target checks what a device would
// check.
#pragma once

#include "environment.hpp"
#include "two_sides.hpp"

#include <algorithm>
#include <vector>

namespace weft::conformance {

// put_notify with its bytes in the notice. The target checks key, bounds and rights as a device would. A refused put is
// an error at the initiator and gives the target no event. Each operation ends once, also when the target dies.
template <class Environment>
class fused_notices : public suite<Environment> {};
TYPED_TEST_SUITE_P(fused_notices);

TYPED_TEST_P(fused_notices, a_refused_put_fails_and_gives_no_notice) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        const auto unwritable = host.net.allocate(4096, rights::remote_read).value();
        const auto gone = host.net.allocate(4096, rights::remote_write).value();
        side.send_value(1, const_bytes(host.net.export_region(unwritable, owner_polls)));
        side.send_value(1, const_bytes(host.net.export_region(gone, owner_polls)));
        host.net.release_region(gone);
        std::vector<std::uint32_t> reported;
        host.seen.on_notified = [&](const notified& n) { reported.push_back(n.immediate); };
        side.ready(1);
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(reported, std::vector<std::uint32_t>{77}) << "only the last one had the right";
        EXPECT_EQ(first_unlike(host.region.memory().subspan(100, 32), 77), 32U);
        std::fill_n(host.region.data() + 100, 32, std::byte{});
        for (const std::byte b : host.region.memory()) EXPECT_EQ(b, std::byte{});
        for (const std::byte b : unwritable.memory()) EXPECT_EQ(b, std::byte{});
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        const auto unwritable = guest.net.parse_region(guest.other, side.wait_for_value(0)).value();
        const auto gone = guest.net.parse_region(guest.other, side.wait_for_value(0)).value();
        (void)side.wait_for_value(0);
        const local_memory from = guest.memory.first(32);
        paint({from.data, from.size}, 77);
        std::vector<errc> why;
        guest.seen.on_failed = [&](const failed& f) {
          EXPECT_EQ(f.what, operation::put_notify);
          why.push_back(f.why.code);
        };
        auto no_such_key = guest.there.record();
        no_such_key.key ^= 0x55;
        auto longer = guest.there.record();
        longer.length *= 2;
        auto writable = unwritable.record();
        writable.granted = rights::all;
        const auto refused = [&](const remote_place& at, errc expected) {
          for (const bool signalled : {true, false}) {
            why.clear();
            push(side, guest.net, guest.seen, "put_notify", [&] {
              return signalled ? guest.net.put_notify(guest.other, from, at, 1, &guest)
                               : guest.net.put_notify(guest.other, from, at, 1);
            });
            await(side, guest.net, guest.seen, "the refusal's completion", [&] { return !why.empty(); });
            EXPECT_EQ(why, std::vector<errc>{expected});
          }
        };
        refused(remote_region(no_such_key).at(0), errc::denied);
        refused(remote_region(longer).at(4096 - 31), errc::out_of_range);
        refused(remote_region(longer).at(5000), errc::out_of_range);
        refused(remote_region(writable).at(0), errc::denied);
        refused(gone.at(0), errc::denied);
        EXPECT_EQ(guest.seen.completions, 0U);
        push(side, guest.net, guest.seen, "put_notify",
             [&] { return guest.net.put_notify(guest.other, from, guest.there.at(100), 77, &guest); });
        await(side, guest.net, guest.seen, "its completion", [&] { return guest.seen.completions == 1; });
        EXPECT_EQ(guest.net.in_flight(), 0U);
        side.ready(0);
      });
}

TYPED_TEST_P(fused_notices, each_operation_ends_once_when_the_target_dies) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        host.seen.on_notified = [](const notified&) {};
        host.seen.on_lost = [](const lost&) {};
        serve(side, host.net, host.seen, 1, 10min);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        std::vector<std::uint32_t> ended(400);
        const auto count = [&](void* context) {
          ++ended.at(static_cast<std::size_t>(static_cast<std::uint32_t*>(context) - ended.data()));
        };
        guest.seen.on_completed = [&](const completed& c) { count(c.context); };
        guest.seen.on_failed = [&](const failed& f) { count(f.context); };
        guest.seen.on_lost = [](const lost&) {};
        std::size_t posted = 0;
        for (; posted < ended.size() && guest.other.alive(); ++posted) {
          if (posted == ended.size() / 2) side.kill(0);
          status s = again(waits_for::queue, "");
          while (s.is_again() && guest.other.alive()) {
            s = guest.net.put_notify(guest.other, guest.memory.first(posted % 300), guest.there.at(0), 1,
                                     &ended[posted]);
            guest.net.progress(guest.seen);
            if (s.is_again()) side.rest(20us);
          }
          if (!s) break;
        }
        await(
            side, guest.net, guest.seen, "every end", [&] { return guest.seen.ends() >= posted; }, patience * 2);
        for (std::size_t i = 0; i < posted; ++i) EXPECT_EQ(ended[i], 1U) << "operation " << i;
        EXPECT_GE(posted, ended.size() / 2);
        EXPECT_EQ(guest.net.in_flight(), 0U);
      });
}

REGISTER_TYPED_TEST_SUITE_P(fused_notices, a_refused_put_fails_and_gives_no_notice,
                            each_operation_ends_once_when_the_target_dies);

}  // namespace weft::conformance
