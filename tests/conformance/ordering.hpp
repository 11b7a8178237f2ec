// SPDX-License-Identifier: Apache-2.0
//
// ordering<F> is exact: what it promises holds, and the simulated network breaks programs that rely on more. The two
// programs are the usual ones: a flag after the data, and many puts with a notice on the last. Hot path: no. Threads:
// one per side.
#pragma once

#include "../../compose/ordering.hpp"
#include "two_sides.hpp"

#include <cstring>

namespace weft::conformance {

template <class Environment>
class ordering_of_writes : public suite<Environment> {};
TYPED_TEST_SUITE_P(ordering_of_writes);

inline constexpr std::uint32_t order_rounds = 24;
inline constexpr std::uint32_t puts_per_round = 8;
inline constexpr std::size_t bytes_per_put = 64;

/// Side 1 of both programs: eight puts of this round's bytes, then `last`.
template <class F, class Last>
void write_rounds(test_side& side, initiator_side<F>& guest, Last&& last) {
  for (std::uint32_t round = 1; round <= order_rounds; ++round) {
    (void)serve_for_value(side, guest.net, guest.seen, 0);
    for (std::uint32_t i = 0; i < puts_per_round; ++i) {
      const local_memory from = guest.memory.slice(i * bytes_per_put, bytes_per_put);
      paint({from.data, from.size}, round * puts_per_round + i);
      push(side, guest.net, guest.seen, "put",
           [&] { return guest.net.put(guest.other, from, guest.there.at(i * bytes_per_put), &guest); });
    }
    last(round);
    const std::uint64_t due = round * (puts_per_round + 1);
    await(side, guest.net, guest.seen, "the round's completions", [&] { return guest.seen.completions == due; });
  }
  serve(side, guest.net, guest.seen, 0);
  side.ready(0);
}

/// Number of puts of a round whose bytes are not complete.
template <class F>
std::uint32_t missing(const target_side<F>& host, std::uint32_t round) {
  std::uint32_t not_whole = 0;
  for (std::uint32_t i = 0; i < puts_per_round; ++i) {
    const const_bytes there = host.region.memory().subspan(i * bytes_per_put, bytes_per_put);
    not_whole += std::uint32_t{first_unlike(there, round * puts_per_round + i) != there.size()};
  }
  return not_whole;
}

/// "The last write carries the notice." Returns through `caught` the number of rounds in which that was wrong.
template <class Fixture>
void last_write_carries_the_notice(std::uint64_t& caught) {
  using fabric = typename Fixture::tested_fabric;
  Fixture::play(
      {},
      [&caught](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        std::uint32_t reported = 0;
        host.seen.on_notified = [&](const notified& n) {
          reported = n.immediate;
          const std::uint32_t late = missing(host, n.immediate);
          caught += late;
          if (ordering<fabric>::notice_after_puts) {
            EXPECT_EQ(late, 0U) << "round " << n.immediate << ": the row's order was not kept";
          }
        };
        for (std::uint32_t round = 1; round <= order_rounds; ++round) {
          side.ready(1);
          await(side, host.net, host.seen, "the notice", [&] { return reported == round; });
        }
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        write_rounds(side, guest, [&](std::uint32_t round) {
          push(side, guest.net, guest.seen, "put_notify", [&] {
            return guest.net.put_notify(guest.other, guest.memory.slice(2048, 8), guest.there.at(2048), round, &guest);
          });
        });
      });
}

/// "Poll the flag behind the data."
template <class Fixture>
void flag_behind_the_data(std::uint64_t& caught) {
  using fabric = typename Fixture::tested_fabric;
  Fixture::play(
      {},
      [&caught](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        for (std::uint32_t round = 1; round <= order_rounds; ++round) {
          side.ready(1);
          const auto flag_is_up = [&] {
            std::uint64_t flag = 0;
            std::memcpy(&flag, host.region.data() + 2048, sizeof flag);
            return flag == round;
          };
          await(side, host.net, host.seen, "the flag", flag_is_up);
          const std::uint32_t late = missing(host, round);
          caught += late;
          if (ordering<fabric>::write_after_write) {
            EXPECT_EQ(late, 0U) << "round " << round << ": the row's order was not kept";
          }
        }
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        write_rounds(side, guest, [&](std::uint64_t round) {
          const local_memory flag = guest.memory.slice(2048 + 8 * (round % 8), 8);
          std::memcpy(flag.data, &round, sizeof round);
          push(side, guest.net, guest.seen, "the flag",
               [&] { return guest.net.put(guest.other, flag, guest.there.at(2048), &guest); });
        });
      });
}

TYPED_TEST_P(ordering_of_writes, a_notice_covers_earlier_puts_only_where_the_row_promises_order) {
  using order = ordering<typename TestFixture::tested_fabric>;
  if (!TypeParam::simulated && !order::notice_after_puts)
    GTEST_SKIP() << "the row promises no order, and only the simulated network breaks it on purpose";
  std::uint64_t caught = 0;
  last_write_carries_the_notice<TestFixture>(caught);
  EXPECT_EQ(caught == 0, order::notice_after_puts)
      << "a program that takes the last write's notice for all writes was not caught";
}

TYPED_TEST_P(ordering_of_writes, a_flag_write_covers_earlier_puts_only_where_the_row_promises_order) {
  using order = ordering<typename TestFixture::tested_fabric>;
  if (!TypeParam::simulated && !order::write_after_write)
    GTEST_SKIP() << "the row promises no order, and only the simulated network breaks it on purpose";
  std::uint64_t caught = 0;
  flag_behind_the_data<TestFixture>(caught);
  EXPECT_EQ(caught == 0, order::write_after_write) << "a program that polls a flag behind its data was not caught";
}

REGISTER_TYPED_TEST_SUITE_P(ordering_of_writes, a_notice_covers_earlier_puts_only_where_the_row_promises_order,
                            a_flag_write_covers_earlier_puts_only_where_the_row_promises_order);

}  // namespace weft::conformance
