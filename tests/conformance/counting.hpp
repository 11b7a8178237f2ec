// SPDX-License-Identifier: Apache-2.0
//
// Immediates with fields, and counts of notices by one field. "n puts with this id arrived" means that their bytes are
// visible, in whatever order they arrived. A wait for a count ends by its deadline. Hot path: no. Threads: one per
// side.
#pragma once

#include "../../compose/notification_counter.hpp"
#include "../../compose/operation_counter.hpp"
#include "two_sides.hpp"

#include <array>
#include <vector>

namespace weft::conformance {

using page_notice = immediate_layout<field<"id", 8>, field<"page", 16>, field<"failed", 1>>;
using spilled_notice = spilled_layout<field<"page", 16>, field<"id", 48>, field<"stamp", 64>>;

template <class Environment>
class counting_of_notices : public suite<Environment> {};
TYPED_TEST_SUITE_P(counting_of_notices);

inline constexpr std::uint32_t pages_per_id = 50;
inline constexpr std::size_t page_bytes = 512;

TYPED_TEST_P(counting_of_notices, a_reached_count_means_all_bytes_are_visible) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::array<std::uint32_t, 3> ids{1, 7, 255};
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, ids.size() * pages_per_id * page_bytes, rights::remote_write);
        notification_counter arrivals(8);
        host.seen.on_notified = [](const notified&) {};
        auto on = counting<page_notice, "id">(arrivals, host.seen);
        side.ready(1);
        for (std::size_t i = ids.size(); i-- > 0;) {  // the last id first: notices before the wait are counted too
          const status s = arrivals.wait(host.net, ids[i], pages_per_id, host.other, patience * 2, on);
          EXPECT_TRUE(s) << describe(s) << ", id " << ids[i] << ": " << arrivals.seen(ids[i]);
          for (std::size_t page = i * pages_per_id; page < (i + 1) * pages_per_id; ++page) {
            const const_bytes there = host.region.memory().subspan(page * page_bytes, page_bytes);
            EXPECT_EQ(first_unlike(there, page), there.size()) << "page " << page << " was counted before its bytes";
          }
        }
        side.ready(1);
        serve(side, host.net, host.seen, 1);
        for (const std::uint32_t id : ids) EXPECT_EQ(arrivals.reset(id), pages_per_id);
        EXPECT_EQ(arrivals.overflowed(), 0U);
      },
      [](test_side& side) {
        static constexpr std::uint32_t pages = ids.size() * pages_per_id;
        initiator_side<fabric> guest(side, pages * page_bytes);
        (void)side.wait_for_value(0);
        std::vector<std::uint32_t> order(pages);
        for (std::uint32_t i = 0; i < pages; ++i) order[i] = i;
        for (std::size_t i = pages; i > 1; --i) std::swap(order[i - 1], order[side.below(i)]);
        for (const std::uint32_t page : order) {
          const local_memory from = guest.memory.slice(page * page_bytes, page_bytes);
          paint({from.data, from.size}, page);
          push(side, guest.net, guest.seen, "put_notify", [&] {
            return guest.net.put_notify(guest.other, from, guest.there.at(page * page_bytes),
                                        page_notice(ids[page / pages_per_id], page, false), &order);
          });
        }
        await(
            side, guest.net, guest.seen, "all completions", [&] { return guest.seen.completions == pages; },
            patience * 2);
        serve(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(counting_of_notices, a_wait_for_missing_notices_ends_by_the_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        notification_counter arrivals(8);
        host.seen.on_notified = [](const notified&) {};
        auto on = counting<page_notice, "id">(arrivals, host.seen);
        EXPECT_EQ(arrivals.wait(host.net, 3, 2, 20ms, on).code, errc::deadline);
        side.ready(1);
        EXPECT_TRUE(arrivals.wait(host.net, 3, 1, patience, on));
        EXPECT_EQ(arrivals.wait(host.net, 3, 2, 20ms, on).code, errc::deadline) << "one of two has arrived";
        side.ready(1);
        EXPECT_EQ(arrivals.wait(host.net, 3, 2, host.other, patience, on).code, errc::peer_lost) << "its writer closed";
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        serve(side, guest.net, guest.seen, 0);
        (void)side.wait_for_value(0);
        push(side, guest.net, guest.seen, "put_notify", [&] {
          return guest.net.put_notify(guest.other, guest.memory.first(64), guest.there.at(0), page_notice(3, 0, 0),
                                      &guest);
        });
        await(side, guest.net, guest.seen, "its completion", [&] { return guest.seen.completions == 1; });
        serve(side, guest.net, guest.seen, 0);
        EXPECT_TRUE(guest.net.close(guest.other, patience, guest.seen));
      });
}

TYPED_TEST_P(counting_of_notices, a_failed_put_ends_the_count_in_an_error) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        notification_counter arrivals(8);
        host.seen.on_notified = [&](const notified& n) {
          const auto p = page_notice::of(n);
          (void)(p.get<"failed">() != 0 ? arrivals.note_failure(p.get<"id">()) : arrivals.note(p.get<"id">()));
        };
        EXPECT_EQ(arrivals.wait(host.net, 9, 3, patience, host.seen).code, errc::broken);
        EXPECT_EQ(arrivals.seen(9), 2U);
        EXPECT_EQ(arrivals.errors(9), 1U);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        operation_counter ends;
        for (const std::uint32_t page : {0U, 1U})
          push(side, guest.net, guest.seen, "put_notify", [&] {
            return guest.net.put_notify(guest.other, guest.memory.first(64), guest.there.at(0),
                                        page_notice(9, page, 0));
          });
        EXPECT_EQ(
            guest.net.put_notify(guest.other, guest.memory.first(64), guest.there.at(4090), page_notice(9, 2, 0), &ends)
                .code,
            errc::out_of_range);
        push(side, guest.net, guest.seen, "put_notify", [&] {
          return guest.net.put_notify(guest.other, guest.memory.first(0), guest.there.at(0), page_notice(9, 2, 1));
        });
        serve(side, guest.net, guest.seen, 0);
        EXPECT_EQ(ends.value() + ends.errors(), 0U) << "a post that is refused at the call completes no other way";
        side.ready(0);
      });
}

TYPED_TEST_P(counting_of_notices, fields_wider_than_the_immediate_travel_before_the_payload) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 40;
  static constexpr std::size_t place = spilled_notice::header_bytes + 100;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, count * place, rights::remote_write);
        std::uint64_t stamps = 0;
        host.seen.on_notified = [&](const notified& n) {
          const std::uint32_t page = spilled_notice::leading(n.immediate).template get<"page">();
          const const_bytes there = host.region.memory().subspan(page * place, place);
          const auto fields = spilled_notice::of(n.immediate, there);
          if (!fields) throw stopped("the header is missing");
          EXPECT_EQ(fields->template get<"id">(), 0xabc000000000U + page);
          stamps += fields->template get<"stamp">();
          const const_bytes payload = there.subspan(spilled_notice::header_bytes);
          EXPECT_EQ(first_unlike(payload, page), payload.size()) << "page " << page;
        };
        await(side, host.net, host.seen, "all notices", [&] { return host.seen.notices == count; });
        EXPECT_EQ(stamps, std::uint64_t{count} * (count - 1) / 2 * 0x100000001U);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, count * place);
        for (std::uint32_t page = 0; page < count; ++page) {
          const local_memory from = guest.memory.slice(page * place, place);
          paint(bytes(from.data, from.size).subspan(spilled_notice::header_bytes), page);
          const spilled_notice fields(page, 0xabc000000000U + page, page * 0x100000001U);
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(guest.other, from, guest.there.at(page * place), fields, &guest); });
        }
        const local_memory shorter = guest.memory.first(spilled_notice::header_bytes - 1);
        EXPECT_EQ(guest.net.put_notify(guest.other, shorter, guest.there.at(0), spilled_notice(0, 0, 0)).code,
                  errc::invalid);
        await(side, guest.net, guest.seen, "all completions", [&] { return guest.seen.completions == count; });
        serve(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(counting_of_notices, completions_are_counted_and_waited_for) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        operation_counter ends;
        auto on = ends.counting(guest.seen);  // events that arrive while posting are counted as well
        static constexpr std::uint64_t count = 64;
        for (std::uint64_t i = 0; i < count;) {
          const status s = guest.net.put(guest.other, guest.memory.first(64), guest.there.at(64 * i % 4096), &ends);
          if (!s && !s.is_again()) throw stopped("put: " + describe(s));
          if (s) ++i;
          else guest.net.progress(on);
        }
        EXPECT_TRUE(ends.wait(guest.net, count, patience, guest.seen));
        EXPECT_EQ(ends.value(), count);
        EXPECT_EQ(ends.wait(guest.net, count + 1, 20ms, guest.seen).code, errc::deadline);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(counting_of_notices, a_reached_count_means_all_bytes_are_visible,
                            a_wait_for_missing_notices_ends_by_the_deadline, a_failed_put_ends_the_count_in_an_error,
                            fields_wider_than_the_immediate_travel_before_the_payload,
                            completions_are_counted_and_waited_for);

}  // namespace weft::conformance
