// SPDX-License-Identifier: Apache-2.0
//
// An idle peer takes a record, and no operation allocates in steady state. Each kind is posted and completed some
// hundred times to warm up. Then allocations are counted on both sides.
// Method: this program replaces operator new, which counts per thread. weft's headers allocate in no other way. Network
// libraries are C and use malloc, which is not counted. The handlers of this suite hold no std::function. Hot path: no.
// Threads: one per side.
#pragma once

#include "allocation_count.hpp"
#include "two_sides.hpp"

namespace weft::conformance {

/// A handler that only counts.
struct tally {
  std::uint64_t ends = 0;
  std::uint64_t arrivals = 0;
  std::uint64_t wrong = 0;
  void operator()(const completed&) { ++ends; }
  void operator()(const failed&) { ++wrong; }
  void operator()(const received&) { ++arrivals; }
  void operator()(const notified&) { ++arrivals; }
  void operator()(const requested&) { ++wrong; }
  void operator()(const connected&) { ++wrong; }
  void operator()(const lost&) {}
};

template <class Environment>
class allocations : public suite<Environment> {};
TYPED_TEST_SUITE_P(allocations);

TYPED_TEST_P(allocations, no_operation_allocates_on_either_side) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  static constexpr int rounds = 300;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        auto counted = host.net.template allocate_words<atomicity::target>(64, rights::remote_atomic).value();
        side.send_value(1, const_bytes(host.net.export_region(counted, owner_polls)));
        for (int phase = 0; phase < 20; ++phase) {  // 10 kinds; each is first warmed up, then counted
          tally seen;
          const std::uint64_t before = allocation_count();
          side.at("phase " + std::to_string(phase));
          const std::uint64_t noise = allocation_count() - before;  // what the line above allocates
          while (!side.has_value(1)) host.net.progress(seen);
          const std::uint64_t allocated = allocation_count() - before - noise;
          (void)side.wait_for_value(1);
          if (phase % 2 == 1) {
            EXPECT_EQ(allocated, 0U) << "at the target, kind " << phase / 2;
          }
          EXPECT_EQ(seen.wrong, 0U);
          side.ready(1);
        }
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        auto& net = guest.net;
        const auto counted =
            net.template parse_words<atomicity::target>(serve_for_value(side, net, guest.seen, 0)).value();
        const local_memory mine = guest.memory.first(32);
        for (int phase = 0; phase < 20; ++phase) {
          tally seen;
          std::uint64_t refused = 0;
          const std::uint64_t before = allocation_count();
          for (int i = 0; i < rounds && refused == 0;) {
            status s;
            switch (phase / 2) {
              case 0:
                s = net.send(guest.other, mine, &seen);
                break;
              case 1:
                s = net.put(guest.other, mine, guest.there.at(64), &seen);
                break;
              case 2:
                s = net.put_notify(guest.other, mine, guest.there.at(64), 9, &seen);
                break;
              case 3:
                s = net.get(guest.other, mine, guest.there.at(64), &seen);
                break;
              case 4:
                s = net.fetch_add(guest.other, guest.there.at(0), 1, &seen);
                break;
              case 6:  // native, by compare-swaps, or by the target, as the row says
                s = net.template fetch_max<std::int32_t>(guest.other, guest.there.at(8), static_cast<std::int32_t>(i),
                                                         &seen);
                break;
              case 7:
                s = net.template bit_xor<std::uint64_t>(guest.other, counted.at(16), 5, &seen);
                break;
              case 8:
                s = net.template add<double>(guest.other, counted.at(24), 0.5, &seen);
                break;
              case 9: {
                // This batch stays open across no progress(): progress would keep its members in memory of its own.
                auto b = net.batch(guest.other);
                const auto sure = [&](auto&& call) {
                  while ((s = call()).is_again()) net.progress(seen);
                };
                sure([&] { return b.put(mine, guest.there.at(64)); });
                if (s) sure([&] { return b.fetch_add(guest.there.at(0), 1, &seen); });
                if (s) sure([&] { return b.close(); });
                break;
              }
              default:
                s = net.send(guest.other, mine);
                break;
            }
            if (s) ++i;
            if (!s && !s.is_again()) ++refused;
            net.progress(seen);
          }
          const std::uint64_t due = phase / 2 != 5 ? rounds : 0;
          const instant end = net.now() + patience;
          while (seen.ends + seen.wrong < due && net.now() < end) net.progress(seen);
          const std::uint64_t allocated = allocation_count() - before;
          EXPECT_EQ(seen.ends, due);
          EXPECT_EQ(seen.wrong + refused, 0U);
          if (phase % 2 == 1) {
            EXPECT_EQ(allocated, 0U) << "at the initiator, kind " << phase / 2 << ", in " << rounds << " operations";
          }
          side.ready(0);
          serve(side, net, guest.seen, 0);
          (void)side.wait_for_value(0);
        }
      });
}

TYPED_TEST_P(allocations, the_counter_sees_allocations) {
  const std::uint64_t before = allocation_count();
  auto some = std::make_unique<int>(5);
  const int* volatile kept = some.get();  // volatile: compilers remove an allocation that nothing reads
  EXPECT_EQ(allocation_count(), before + 1) << *kept;
}

REGISTER_TYPED_TEST_SUITE_P(allocations, no_operation_allocates_on_either_side, the_counter_sees_allocations);

// ---- memory of idle peers: transports that differ only in the number of peers, and the bytes that opening each took

template <class Environment>
class memory_of_peers : public suite<Environment> {};
TYPED_TEST_SUITE_P(memory_of_peers);

TYPED_TEST_P(memory_of_peers, an_idle_peer_takes_a_record_and_no_receive) {
  using fabric = typename TestFixture::tested_fabric;
  if (TestFixture::facts.endpoint_type != endpoint_type::addressed)
    GTEST_SKIP() << "row " << fabric::name << ", endpoint_type: connected: each link has its own receives";
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  TestFixture::play({.once = true}, [](test_side& side) {
    const auto bytes_of_opening = [&](std::uint32_t peers) {
      transport_options options = listening();
      options.peers = peers;
      const std::uint64_t before = allocated_bytes();
      const auto net = opened<fabric>(side, options);
      return allocated_bytes() - before;
    };
    // an address vector of one host may hold 256 peers
    static constexpr std::uint32_t few = 32, more = TestFixture::facts.same_host ? 200 : 100'000;
    (void)bytes_of_opening(few);  // the first opening allocates what stays
    const std::uint64_t bytes = bytes_of_opening(few + more) - bytes_of_opening(few);
    // 64 bytes; the row's answers add fields: a ring, a watched process, counts of messages
    EXPECT_EQ(bytes / more, sizeof(typename weft::detail::engine_traits<fabric>::record)) << "more than a record";
    EXPECT_LE(bytes / more, 104U);
    side.note("bytes_per_peer", static_cast<std::int64_t>(bytes / more));
    side.note("counted_peers", more);
  });
}

REGISTER_TYPED_TEST_SUITE_P(memory_of_peers, an_idle_peer_takes_a_record_and_no_receive);

}  // namespace weft::conformance
