// SPDX-License-Identifier: Apache-2.0
//
// The states of a write. After `visible`, or after a flush, the initiator can signal the target by any other way, and
// the target reads the bytes without another poll of its queue. Weaker states end once. Unavailable states do not
// compile (tests/fail). Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <array>

namespace weft::conformance {

template <class Environment>
class states : public suite<Environment> {};
TYPED_TEST_SUITE_P(states);

template <class F>
inline constexpr bool shows =
    reached_by<F, weft::states::visible>::native || reached_by<F, weft::states::visible>::emulated;

/// Side 0: reads slots at once after a value outside of the fabric says that they are filled.
struct filled_slots {
  std::size_t each;
  std::uint32_t count;

  template <class F>
  void look(test_side& side, std::uint32_t rounds) {
    target_side<F> host(side, each * count, rights::remote_write);
    for (std::uint32_t i = 0; i < rounds; ++i) {
      serve(side, host.net, host.seen, 1);
      (void)side.wait_for_value(1);
      for (std::uint32_t k = 0; k < count; ++k)
        ASSERT_EQ(first_unlike(host.region.memory().subspan(k * each, each), i * count + k), each)
            << "round " << i << ", slot " << k;
      side.ready(1);
    }
    serve(side, host.net, host.seen, 1);
  }
};

TYPED_TEST_P(states, a_visible_put_is_read_at_once_by_the_target) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t rounds = 30;
  static constexpr std::size_t size = 9000;
  if constexpr (!shows<fabric>) {
    GTEST_SKIP() << "the row has no state visible";
  } else {
    TestFixture::play(
        {},
        [](test_side& side) {
          filled_slots{size, 2}.template look<fabric>(side, rounds);
        },
        [](test_side& side) {
          initiator_side<fabric> guest(side, 2 * size);
          for (std::uint32_t i = 0; i < rounds; ++i) {
            const local_memory whole = guest.memory.first(size);
            const std::array cut{guest.memory.slice(size, size / 2),
                                 guest.memory.slice(size + size / 2, size - size / 2)};
            paint({whole.data, size}, 2 * i);
            paint({cut[0].data, size}, 2 * i + 1);
            push(side, guest.net, guest.seen, "put", [&] {
              return guest.net.put(guest.other, whole, guest.there.at(0),
                                   completes_when<weft::states::visible>(&guest));
            });
            push(side, guest.net, guest.seen, "put", [&] {
              return guest.net.put(guest.other, cut, guest.there.at(size),
                                   completes_when<weft::states::visible>(&guest));
            });
            await(side, guest.net, guest.seen, "their completions",
                  [&] { return guest.seen.completions == 2 * (i + 1); });
            side.ready(0);
            (void)serve_for_value(side, guest.net, guest.seen, 0);
          }
          await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
          EXPECT_EQ(guest.net.stale(), 0U) << "replies that were not awaited: a put completed before it was visible";
          side.ready(0);
        });
  }
}

TYPED_TEST_P(states, a_flush_ends_when_all_earlier_writes_are_visible) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t rounds = 12, count = 40;
  static constexpr std::size_t each = 333;
  if constexpr (!flushes<fabric>) {
    GTEST_SKIP() << "the row refuses flush";
  } else {
    TestFixture::play(
        {},
        [](test_side& side) {
          filled_slots{each, count}.template look<fabric>(side, rounds);
        },
        [](test_side& side) {
          initiator_side<fabric> guest(side, each * count, {.operations = 24});
          int named = 0;
          std::uint64_t flushed = 0;
          guest.seen.on_completed = [&](const completed& c) {
            EXPECT_EQ(c.what, c.context == &named ? operation::put : operation::flush);
            flushed += std::uint64_t{c.context == &guest};
          };
          for (std::uint32_t i = 0; i < rounds; ++i) {
            for (std::uint32_t k = 0; k < count; ++k) {
              const local_memory from = guest.memory.slice(k * each, each);
              paint({from.data, each}, i * count + k);
              const auto at = guest.there.at(k * each);
              push(side, guest.net, guest.seen, "put", [&] {
                return k % 7 == 3 ? guest.net.put(guest.other, from, at, &named)
                       : k % 7 == 4
                           ? guest.net.put(guest.other, from, at, completes_when<weft::states::source_reusable>(&named))
                       : k % 7 == 5 ? guest.net.put(guest.other, from, at, completes_when<weft::states::posted>())
                                    : guest.net.put(guest.other, from, at);
              });
            }
            if (i % 2 == 0) {
              push(side, guest.net, guest.seen, "flush", [&] { return guest.net.flush(guest.other, &guest); });
              await(side, guest.net, guest.seen, "the flush's completion", [&] { return flushed == i / 2 + 1; });
            } else {
              const status s = guest.net.flush(guest.other, patience, guest.seen);
              if (!s) throw stopped("flush: " + describe(s));
            }
            side.ready(0);
            (void)serve_for_value(side, guest.net, guest.seen, 0);
          }
          await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
          EXPECT_EQ(flushed, rounds / 2);
          side.ready(0);
        });
  }
}

TYPED_TEST_P(states, a_small_unsignalled_put_is_copied_at_the_call_where_promised) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t rounds = 12, count = 40;
  static constexpr std::size_t each = std::min<std::size_t>(transport<fabric>::put_inject_bytes, 200);
  if constexpr (each == 0 || !flushes<fabric>) {
    GTEST_SKIP() << "the row reads puts later, or refuses flush";
  } else {
    TestFixture::play(
        {},
        [](test_side& side) {
          filled_slots{each, count}.template look<fabric>(side, rounds);
        },
        [](test_side& side) {
          initiator_side<fabric> guest(side, each);
          for (std::uint32_t i = 0; i < rounds; ++i) {
            for (std::uint32_t k = 0; k < count; ++k) {
              paint({guest.memory.data(), each}, i * count + k);
              push(side, guest.net, guest.seen, "put",
                   [&] { return guest.net.put(guest.other, guest.memory.first(each), guest.there.at(k * each)); });
              std::memset(guest.memory.data(), 0xEE, each);
            }
            const status s = guest.net.flush(guest.other, patience, guest.seen);
            if (!s) throw stopped("flush: " + describe(s));
            side.ready(0);
            (void)serve_for_value(side, guest.net, guest.seen, 0);
          }
          side.ready(0);
        });
  }
}

TYPED_TEST_P(states, weaker_states_end_once_and_a_refused_write_is_never_delivered) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write, {.operation_timeout = 3s});
        host.seen.on_lost = [](const lost&) {};
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096, {.operation_timeout = 3s});
        const local_memory some = guest.memory.first(64);
        std::uint64_t ends = 0;
        for (const std::size_t size : {0U, 1U, 64U, 4096U}) {
          const local_memory from = guest.memory.first(size);
          push(side, guest.net, guest.seen, "put", [&] {
            return guest.net.put(guest.other, from, guest.there.at(0), completes_when<weft::states::delivered>(&guest));
          });
          push(side, guest.net, guest.seen, "put", [&] {
            return guest.net.put(guest.other, from, guest.there.at(0),
                                 completes_when<weft::states::source_reusable>(&guest));
          });
          push(side, guest.net, guest.seen, "put", [&] {
            return guest.net.put(guest.other, from, guest.there.at(0), completes_when<weft::states::posted>());
          });
          ends += 2;
          await(side, guest.net, guest.seen, "their completions", [&] { return guest.seen.completions == ends; });
        }
        if (refuses_wrong_posts<fabric>) {
          EXPECT_EQ(
              guest.net.put(guest.other, some, guest.there.at(4090), completes_when<weft::states::delivered>(&guest))
                  .code,
              errc::out_of_range);
        }
        if (fabric::facts.refused_write == refusal::hidden) return side.ready(0);  // the library tells a success
        guest.seen.on_lost = [](const lost&) {};
        guest.seen.on_failed = [&](const failed& f) { EXPECT_EQ(f.context, &guest); };
        remote_place wrong = guest.there.at(0);
        wrong.key ^= fabric::facts.key_bytes >= 4 ? 0x5a5a5a5U : 0x55U;
        push(side, guest.net, guest.seen, "put",
             [&] { return guest.net.put(guest.other, some, wrong, completes_when<weft::states::delivered>(&guest)); });
        await(
            side, guest.net, guest.seen, "its completion", [&] { return guest.seen.failures == 1; }, 10s);
        EXPECT_EQ(guest.seen.completions, ends);
        side.ready(0);
      });
}

TYPED_TEST_P(states, a_flush_to_a_closed_or_silent_peer_ends_by_the_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  if constexpr (!flushes<fabric>) {
    GTEST_SKIP() << "the row refuses flush";
  } else {
    TestFixture::play(
        {},
        [](test_side& side) {
          target_side<fabric> host(side, 4096, rights::remote_write);
          (void)serve_for_value(side, host.net, host.seen, 1);
          (void)side.wait_for_value(1);  // makes no progress meanwhile
          serve(side, host.net, host.seen, 1);
          (void)side.wait_for_value(1);
          EXPECT_TRUE(host.net.close(host.other, patience, host.seen));
        },
        [](test_side& side) {
          initiator_side<fabric> guest(side, 4096);
          push(side, guest.net, guest.seen, "put",
               [&] { return guest.net.put(guest.other, guest.memory.first(4096), guest.there.at(0)); });
          side.ready(0);
          const status asleep = guest.net.flush(guest.other, 50ms, guest.seen);
          EXPECT_TRUE(asleep || asleep.code == errc::deadline) << describe(asleep);
          side.ready(0);
          EXPECT_TRUE(guest.net.flush(guest.other, patience, guest.seen));
          EXPECT_EQ(guest.seen.ends(), 0U) << "a cancelled flush was reported";
          side.ready(0);
          await(side, guest.net, guest.seen, "the peer's goodbye", [&] { return !guest.other.alive(); });
          EXPECT_EQ(guest.net.flush(guest.other, &guest).code, errc::peer_lost);
          EXPECT_EQ(guest.net.flush(guest.other, 1s, guest.seen).code, errc::peer_lost);
          await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        });
  }
}

REGISTER_TYPED_TEST_SUITE_P(states, a_visible_put_is_read_at_once_by_the_target,
                            a_flush_ends_when_all_earlier_writes_are_visible,
                            a_small_unsignalled_put_is_copied_at_the_call_where_promised,
                            weaker_states_end_once_and_a_refused_write_is_never_delivered,
                            a_flush_to_a_closed_or_silent_peer_ends_by_the_deadline);

}  // namespace weft::conformance
