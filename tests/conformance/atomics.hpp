// SPDX-License-Identifier: Apache-2.0
//
// Atomics of every executor. Sums are exact under contention, and every fetch-add returns a different old value. A
// compare-swap writes only when the comparison holds. Unsupported operations are refused. Hot path: no. Threads: one
// per side.
#pragma once

#include "two_sides.hpp"

#include <algorithm>

namespace weft::conformance {

inline std::uint64_t word_at(const region& r, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, r.data() + offset, sizeof value);
  return value;
}

template <class Environment>
class atomics_of_peers : public suite<Environment> {};
TYPED_TEST_SUITE_P(atomics_of_peers);

TYPED_TEST_P(atomics_of_peers, fetch_adds_of_two_initiators_sum_exactly_and_return_distinct_values) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint64_t count = 300;
  const auto adder = [](test_side& side) {
    auto net = opened<fabric>(side);
    observer seen;
    const peer p = meet_as_caller(side, net, seen);
    const auto there = net.parse_region(p, serve_for_value(side, net, seen, 0)).value();
    std::vector<std::uint64_t> ids(count);
    std::vector<std::uint64_t> olds;
    seen.on_completed = [&](const completed& c) {
      EXPECT_EQ(c.what, operation::fetch_add);
      olds.push_back(c.old);
      side.book.ended(*static_cast<std::uint64_t*>(c.context), net.now(), errc::ok, c.old);
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      ids[i] = side.book.posted(history::work::fetch_add, 0, net.now(), latest_end(net), 3, 1);
      push(side, net, seen, "fetch_add", [&] { return net.fetch_add(p, there.at(8), 3, &ids[i]); });
    }
    await(
        side, net, seen, "all additions", [&] { return seen.completions == count; }, patience * 2);
    std::sort(olds.begin(), olds.end());
    EXPECT_EQ(std::adjacent_find(olds.begin(), olds.end()), olds.end()) << "two fetch-adds returned the same value";
    side.book.finished(net.now());
    side.ready(0);
    serve(side, net, seen, 0);
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        auto words = net.allocate(64, rights::remote_atomic).value();
        side.book.counter_start(net.now(), 1, 0);
        side.send_value(1, net.listen_address());
        side.send_value(2, net.listen_address());
        seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
        await(side, net, seen, "both initiators", [&] { return seen.requests == 2; });
        for (int k : {1, 2}) side.send_value(k, const_bytes(net.export_region(words, owner_polls)));
        for (int k : {1, 2}) (void)serve_for_value(side, net, seen, k);
        EXPECT_EQ(word_at(words, 8), 2 * count * 3);
        EXPECT_EQ(word_at(words, 0), 0U);
        EXPECT_EQ(word_at(words, 16), 0U);
        side.book.counter_end(net.now(), 1, word_at(words, 8));
        side.book.finished(net.now());
        for (int k : {1, 2}) side.ready(k);
      },
      adder, adder);
}

TYPED_TEST_P(atomics_of_peers, compare_swap_writes_only_when_the_comparison_holds) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint64_t first = 0x0123'4567'89ab'cdef;
  static constexpr std::uint64_t second = 0xfedc'ba98'7654'3210;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        std::memcpy(host.region.data() + 16, &first, sizeof first);
        side.ready(1);
        (void)serve_for_value(side, host.net, host.seen, 1);
        EXPECT_EQ(word_at(host.region, 16), second + 5);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        const auto old_of = [&](auto&& post) {
          const std::uint64_t before = guest.seen.completions;
          push(side, guest.net, guest.seen, "atomic", post);
          await(side, guest.net, guest.seen, "its completion", [&] { return guest.seen.completions == before + 1; });
          return guest.seen.old;
        };
        const auto swap = [&](std::uint64_t expected, std::uint64_t desired) {
          return old_of(
              [&] { return guest.net.compare_swap(guest.other, guest.there.at(16), expected, desired, &guest); });
        };
        EXPECT_EQ(swap(first + 1, 1), first) << "a failed comparison returns the present value";
        EXPECT_EQ(swap(first, second), first) << "the comparison holds";
        EXPECT_EQ(swap(first, 2), second) << "a second try misses";
        EXPECT_EQ(old_of([&] { return guest.net.fetch_add(guest.other, guest.there.at(16), 5, &guest); }), second);
        side.ready(0);
      });
}

TYPED_TEST_P(atomics_of_peers, a_misaligned_word_is_refused) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        (void)serve_for_value(side, host.net, host.seen, 1);
        for (const std::byte b : host.region.memory()) EXPECT_EQ(b, std::byte{});
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        for (const std::uint64_t offset : {1U, 4U, 7U, 9U}) {
          EXPECT_EQ(guest.net.fetch_add(guest.other, guest.there.at(offset), 1, &guest).code, errc::invalid) << offset;
          EXPECT_EQ(guest.net.compare_swap(guest.other, guest.there.at(offset), 0, 1, &guest).code, errc::invalid)
              << offset;
        }
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(atomics_of_peers, fetch_adds_of_two_initiators_sum_exactly_and_return_distinct_values,
                            compare_swap_writes_only_when_the_comparison_holds, a_misaligned_word_is_refused);

}  // namespace weft::conformance
