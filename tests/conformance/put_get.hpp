// SPDX-License-Identifier: Apache-2.0
//
// put and get: any size at any offset, and no other byte changes. An access that the initiator can check is refused
// before it is posted. An access that only the target can check ends in an error at the initiator, also where the
// library would report success. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <algorithm>

namespace weft::conformance {

template <class Environment>
class put_get : public suite<Environment> {};
TYPED_TEST_SUITE_P(put_get);

TYPED_TEST_P(put_get, random_sizes_at_random_offsets_return_unchanged) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t size = 256 * 1024;
  static constexpr int rounds = 60;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, size, rights::remote_write | rights::remote_read);
        std::fill_n(host.region.data(), size, std::byte{0x5a});
        side.ready(1);
        for (int i = 0; i < rounds; ++i) {  // offset and size: checked here together with the bytes around
          serve(side, host.net, host.seen, 1);
          const std::uint64_t place = side.wait_for_number(1);
          serve(side, host.net, host.seen, 1);
          const std::uint64_t length = side.wait_for_number(1);
          const const_bytes all = host.region.memory();
          EXPECT_EQ(first_unlike(all.subspan(place, length), static_cast<std::uint64_t>(i)), length);
          for (std::size_t k = 0; k < 64 && k < place; ++k)
            ASSERT_EQ(all[place - 1 - k], std::byte{0x5a}) << "before the written bytes";
          for (std::size_t k = place + length; k < std::min(size, place + length + 64); ++k)
            ASSERT_EQ(all[k], std::byte{0x5a}) << "after the written bytes";
          std::fill_n(host.region.data() + place, length, std::byte{0x5a});
          side.ready(1);
        }
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 2 * size);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        for (int i = 0; i < rounds; ++i) {
          const std::size_t length = i % 10 == 0 ? 1 + side.below(size) : i % 7 == 0 ? 1 : 1 + side.below(5000);
          const std::size_t place = side.below(size - length + 1);
          const std::size_t from = side.below(size - length + 1);
          paint({guest.memory.data() + from, length}, static_cast<std::uint64_t>(i));
          const std::uint64_t before = guest.seen.completions;
          push(side, guest.net, guest.seen, "put", [&] {
            return guest.net.put(guest.other, guest.memory.slice(from, length), guest.there.at(place), &guest);
          });
          await(side, guest.net, guest.seen, "the put's completion",
                [&] { return guest.seen.completions == before + 1; });
          std::fill_n(guest.memory.data() + size, length, std::byte{});
          push(side, guest.net, guest.seen, "get", [&] {
            return guest.net.get(guest.other, guest.memory.slice(size, length), guest.there.at(place), &guest);
          });
          await(side, guest.net, guest.seen, "the get's completion",
                [&] { return guest.seen.completions == before + 2; });
          // A get reads only delivered writes for sure; elsewhere the target's side checks.
          constexpr bool delivered = answer<fabric, write_fault_family>::signalled_write == post_mode::delivered;
          EXPECT_TRUE(!delivered ||
                      first_unlike({guest.memory.data() + size, length}, static_cast<std::uint64_t>(i)) == length)
              << "round " << i;
          side.send_value(0, std::uint64_t{place});
          side.send_value(0, std::uint64_t{length});
          serve(side, guest.net, guest.seen, 0);
          (void)side.wait_for_value(0);
        }
        side.ready(0);
      });
}

TYPED_TEST_P(put_get, an_access_out_of_bounds_is_refused_before_it_is_posted) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 1000, rights::all);
        serve(side, host.net, host.seen, 1);
        for (const std::byte b : host.region.memory()) ASSERT_EQ(b, std::byte{});
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        const auto& there = guest.there;
        paint(guest.memory.memory(), 1);
        EXPECT_EQ(there.size(), 1000U);
        struct wrong {
          std::uint64_t at;
          std::size_t size;
        };
        for (const wrong w : {wrong{0, 1001}, wrong{1000, 1}, wrong{999, 2}, wrong{1001, 0 + 1},
                              wrong{~std::uint64_t{0}, 1}, wrong{~std::uint64_t{0} - 7, 8}}) {
          EXPECT_EQ(guest.net.put(guest.other, guest.memory.first(w.size), there.at(w.at), &guest).code,
                    errc::out_of_range)
              << w.at << "+" << w.size;
          EXPECT_EQ(guest.net.put(guest.other, guest.memory.first(w.size), there.at(w.at)).code, errc::out_of_range);
          EXPECT_EQ(guest.net.get(guest.other, guest.memory.first(w.size), there.at(w.at), &guest).code,
                    errc::out_of_range);
          EXPECT_EQ(guest.net.put_notify(guest.other, guest.memory.first(w.size), there.at(w.at), 1, &guest).code,
                    errc::out_of_range);
        }
        EXPECT_EQ(guest.net.put(guest.other, guest.memory.slice(4096, 1), there.at(0), &guest).code, errc::out_of_range)
            << "past the end of local memory";
        EXPECT_EQ(guest.net.fetch_add(guest.other, there.at(993), 1, &guest).code, errc::out_of_range);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        side.ready(0);
      });
}

TYPED_TEST_P(put_get, an_access_without_the_right_is_refused_before_it_is_posted) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 1024, rights::remote_write);
        auto readable = host.net.allocate(1024, rights::remote_read).value();
        side.send_value(1, const_bytes(host.net.export_region(readable, owner_polls)));
        serve(side, host.net, host.seen, 1);
        for (const std::byte b : readable.memory()) ASSERT_EQ(b, std::byte{});
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 1024);
        const auto readable =
            guest.net.parse_region(guest.other, serve_for_value(side, guest.net, guest.seen, 0)).value();
        EXPECT_EQ(guest.net.get(guest.other, guest.memory.first(8), guest.there.at(0), &guest).code, errc::denied);
        EXPECT_EQ(guest.net.fetch_add(guest.other, guest.there.at(0), 1, &guest).code, errc::denied);
        EXPECT_EQ(guest.net.compare_swap(guest.other, guest.there.at(0), 0, 1, &guest).code, errc::denied);
        EXPECT_EQ(guest.net.put(guest.other, guest.memory.first(8), readable.at(0), &guest).code, errc::denied);
        EXPECT_EQ(guest.net.put_notify(guest.other, guest.memory.first(8), readable.at(0), 1).code, errc::denied);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        side.ready(0);
      });
}

TYPED_TEST_P(put_get, a_wrong_key_ends_in_an_error_and_changes_no_byte) {
  using fabric = typename TestFixture::tested_fabric;
  if (fabric::facts.refused_write == refusal::hidden)
    GTEST_SKIP() << "row " << fabric::name << ", refused_write: hidden: the library tells success of a refused access";
  for (const bool write : {true, false}) {
    TestFixture::play(
        {},
        [](test_side& side) {
          target_side<fabric> host(side, 4096, rights::all, {.operation_timeout = 3s});
          paint(host.region.memory(), 77);
          side.ready(1);
          host.seen.on_lost = [](const lost&) {};  // some libraries end the connection after a refused access
          serve(side, host.net, host.seen, 1);
          EXPECT_EQ(first_unlike(host.region.memory(), 77), host.region.size());
        },
        [write](test_side& side) {
          initiator_side<fabric> guest(side, 4096, {.operation_timeout = 3s});
          (void)serve_for_value(side, guest.net, guest.seen, 0);
          guest.seen.on_failed = [&](const failed& f) { EXPECT_EQ(f.context, &guest); };
          guest.seen.on_lost = [](const lost&) {};
          remote_place wrong = guest.there.at(64);
          wrong.key ^= fabric::facts.key_bytes >= 4 ? 0x5a5a5a5U : 0x55U;
          push(side, guest.net, guest.seen, "post", [&] {
            return write ? guest.net.put(guest.other, guest.memory.first(64), wrong, &guest)
                         : guest.net.get(guest.other, guest.memory.first(64), wrong, &guest);
          });
          await(
              side, guest.net, guest.seen, "its completion", [&] { return guest.seen.ends() == 1; }, 10s);
          EXPECT_EQ(guest.seen.completions, 0U) << "an access with a wrong key was reported as a success";
          side.ready(0);
        });
    if (testing::Test::HasFailure()) return;
  }
}

REGISTER_TYPED_TEST_SUITE_P(put_get, random_sizes_at_random_offsets_return_unchanged,
                            an_access_out_of_bounds_is_refused_before_it_is_posted,
                            an_access_without_the_right_is_refused_before_it_is_posted,
                            a_wrong_key_ends_in_an_error_and_changes_no_byte);

}  // namespace weft::conformance
