// SPDX-License-Identifier: Apache-2.0
//
// Gather lists: up to gather_limit buffers are one operation on every fabric, even where the row takes fewer in one
// call. A transfer larger than one write of the row is one operation too; its notice follows all parts. Hot path: no.
// Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <array>
#include <vector>

namespace weft::conformance {

template <class Environment>
class gather_lists : public suite<Environment> {};
TYPED_TEST_SUITE_P(gather_lists);

/// A random list over `memory`: separate pieces, some empty. Together the pieces hold the pattern.
struct random_list {
  std::array<local_memory, gather_limit> pieces{};
  std::size_t count = 0;
  std::size_t total = 0;

  random_list(test_side& side, const region& memory, std::size_t begin, std::size_t largest_piece)
      : count(side.below(gather_limit + 1)) {
    for (std::size_t i = 0, at = begin; i < count; ++i) {
      const std::size_t size = side.below(4) == 0 ? 0 : side.below(largest_piece + 1);
      pieces[i] = memory.slice(at, size);
      at += largest_piece + 3;
      total += size;
    }
  }
  gather_list list() const { return {pieces.data(), count}; }
  void paint_all(std::uint64_t which) const {
    std::size_t at = 0;
    for (const local_memory& each : list())
      for (std::size_t k = 0; k < each.size; ++k) each.data[k] = pattern(which, at++);
  }
  bool holds(std::uint64_t which) const {
    std::size_t at = 0;
    for (const local_memory& each : list())
      for (std::size_t k = 0; k < each.size; ++k)
        if (each.data[k] != pattern(which, at++)) return false;
    return true;
  }
};

TYPED_TEST_P(gather_lists, lists_of_every_length_arrive_by_put_notify_and_return_by_get) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t piece = 700, room = piece * gather_limit;
  static constexpr std::uint32_t rounds = 60;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, rounds * room, rights::remote_write | rights::remote_read);
        std::vector<std::size_t> sizes(rounds);
        std::vector<std::uint32_t> reported(rounds);
        serve(side, host.net, host.seen, 1);
        for (std::size_t& each : sizes) each = side.wait_for_number(1);
        host.seen.on_notified = [&](const notified& n) {
          ASSERT_LT(n.immediate, rounds);
          EXPECT_EQ(++reported[n.immediate], 1U);
          EXPECT_EQ(first_unlike(host.region.memory().subspan(n.immediate * room, sizes[n.immediate]), n.immediate),
                    sizes[n.immediate]);
        };
        side.ready(1);
        await(
            side, host.net, host.seen, "all notices", [&] { return host.seen.notices == rounds; }, patience * 2);
        side.ready(1);  // Where writes need no help of this side, the puts below must not arrive earlier.
        serve(side, host.net, host.seen, 1);
        for (std::uint32_t i = 0; i < rounds; ++i) {  // the puts wrote the slots again, one byte further
          const const_bytes slot = host.region.memory().subspan(i * room, room);
          EXPECT_EQ(first_unlike(slot.subspan(sizes[i] == room ? 0 : 1, sizes[i]), i + rounds), sizes[i])
              << "put " << i;
        }
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 2 * gather_limit * (piece + 3));
        std::vector<random_list> lists;
        for (std::uint32_t i = 0; i < rounds; ++i) {
          lists.emplace_back(side, guest.memory, 0, i % 3 == 0 ? 9 : piece);
          side.send_value(0, std::uint64_t{lists[i].total});
        }
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        std::uint64_t ends = 0;
        const auto ended = [&] {
          await(side, guest.net, guest.seen, "its completion", [&] { return guest.seen.completions == ends; });
        };
        for (std::uint32_t i = 0; i < rounds; ++i) {
          const random_list& l = lists[i];
          const remote_place at = guest.there.at(i * room);
          l.paint_all(i);
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(guest.other, l.list(), at, i, &guest); });
          ++ends;
          ended();
          if (i % 4 == 3) continue;
          random_list back(side, guest.memory, gather_limit * (piece + 3), piece);
          back.total = 0;  // the same bytes, split otherwise
          for (std::size_t k = 0; k < back.count; ++k) {
            back.pieces[k].size = std::min(back.pieces[k].size, l.total - back.total);
            back.total += back.pieces[k].size;
          }
          back.paint_all(i + 1);
          push(side, guest.net, guest.seen, "get", [&] { return guest.net.get(guest.other, back.list(), at, &guest); });
          ++ends;
          ended();
          constexpr bool delivered = answer<fabric, write_fault_family>::signalled_write == post_mode::delivered;
          EXPECT_TRUE(!delivered || back.holds(i)) << "get " << i;
        }
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        for (std::uint32_t i = 0; i < rounds; ++i) {
          const random_list& l = lists[i];
          l.paint_all(i + rounds);
          push(side, guest.net, guest.seen, "put", [&] {
            return guest.net.put(guest.other, l.list(), guest.there.at(i * room + std::size_t{l.total != room}),
                                 &guest);
          });
          ++ends;
          ended();
        }
        if (refuses_wrong_posts<fabric>) {
          EXPECT_EQ(guest.net.put(guest.other, lists[0].list(), guest.there.at(rounds * room), &guest).code,
                    lists[0].total == 0 ? errc::ok : errc::out_of_range);
        }
        const std::array<local_memory, gather_limit + 1> nine = [&] {
          std::array<local_memory, gather_limit + 1> all{};
          all.fill(guest.memory.first(1));
          return all;
        }();
        EXPECT_EQ(guest.net.put(guest.other, nine, guest.there.at(0), &guest).code, errc::invalid);
        EXPECT_EQ(guest.net.send(guest.other, nine, &guest).code, errc::invalid);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        side.ready(0);
      });
}

TYPED_TEST_P(gather_lists, a_message_of_several_buffers_arrives_as_one) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 300;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        const peer p = meet_as_listener(side, net, seen);
        std::vector<std::uint32_t> came(count);
        seen.on_received = [&](const received& m) {
          EXPECT_EQ(m.peer, p);
          ASSERT_GE(m.message.size(), 4U);
          std::uint32_t i = 0;
          std::memcpy(&i, m.message.data(), sizeof i);
          ASSERT_LT(i, count);
          EXPECT_EQ(++came[i], 1U);
          EXPECT_EQ(first_unlike(m.message.subspan(4), i), m.message.size() - 4) << "message " << i;
          EXPECT_EQ(m.message.size(), 4 + (i * 7U) % 600);
        };
        const std::uint64_t sent = [&] {
          serve(side, net, seen, 1);
          return side.wait_for_number(1);
        }();
        await(
            side, net, seen, "all messages", [&] { return seen.messages == sent; }, patience * 2);
        side.ready(1);
        serve(side, net, seen, 1);
        EXPECT_EQ(seen.messages, sent);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        auto memory = net.allocate(count * 1024, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        std::uint64_t sent = 0, signalled = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
          std::byte* const slot = memory.data() + i * 1024;
          const std::size_t length = (i * 7U) % 600, pieces = 1 + i % (gather_limit - 1), each = length / pieces;
          std::memcpy(slot, &i, sizeof i);
          std::array<local_memory, gather_limit> list{};
          list[0] = memory.slice(i * 1024, 4);
          for (std::size_t k = 0, at = 0; k < pieces; ++k) {
            const std::size_t size = k + 1 == pieces ? length - at : each;
            list[k + 1] = memory.slice(i * 1024 + 8 + at + k, size);  // a byte apart
            for (std::size_t b = 0; b < size; ++b) list[k + 1].data[b] = pattern(i, at + b);
            at += size;
          }
          const gather_list from(list.data(), pieces + 1);
          push(side, net, seen, "send", [&] { return i % 2 == 0 ? net.send(p, from, &seen) : net.send(p, from); });
          ++sent;
          signalled += std::uint64_t{i % 2 == 0};
        }
        if constexpr (fabric::facts.gather_limit - std::size_t{shape_of<fabric>::framed} < gather_limit &&
                      !is_fabric_set<fabric>) {  // too many to be packed; a peer of a set may have the better fabric
          std::array<local_memory, gather_limit> long_pieces{};
          long_pieces.fill(memory.first(200));
          EXPECT_EQ(net.send(p, long_pieces, &seen).code, errc::unsupported);
        }
        const local_memory far[] = {memory.first(4000), memory.first(97)};
        if (refuses_wrong_posts<fabric>) {
          EXPECT_EQ(net.send(p, far, &seen).code, errc::truncated);
        }
        await(
            side, net, seen, "completions", [&] { return seen.completions == signalled; }, patience * 2);
        side.send_value(0, sent);
        (void)serve_for_value(side, net, seen, 0);
        await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
        side.ready(0);
      });
}

/// Megabytes are filled and compared without progress in between. On emulated processors that takes seconds, in which a
/// side is silent.
inline transport_options long_silence() { return {.silence_limit = 60s}; }

/// Side 0 of the tests below: takes notices of one region and reports them.
template <class F>
void take_large(test_side& side, std::size_t size) {
  target_side<F> host(side, size, rights::remote_write | rights::remote_read, long_silence());
  host.seen.on_notified = [&](const notified& n) {
    EXPECT_EQ(first_unlike(host.region.memory(), n.immediate), size)
        << "notice " << n.immediate << " arrived before its bytes";
  };
  for (std::uint64_t notices = 1; notices <= 2; ++notices) {
    await(
        side, host.net, host.seen, "the notice", [&] { return host.seen.notices == notices; }, patience * 2);
    side.ready(1);
  }
  serve(side, host.net, host.seen, 1);
  EXPECT_EQ(host.seen.notices, 2U);
}

/// Side 1: put_notify of all bytes, signalled; then as a list, unsignalled; then put and get. Each ends once.
template <class F>
void send_large(test_side& side, std::size_t size) {
  initiator_side<F> guest(side, 2 * size, long_silence());
  const auto here = guest.there.at(0);
  const auto one_end = [&](std::uint64_t number) {
    await(
        side, guest.net, guest.seen, "its completion", [&] { return guest.seen.completions == number; }, patience * 2);
  };
  const local_memory both[] = {guest.memory.first(size / 3), guest.memory.slice(size / 3, size - size / 3)};
  const local_memory back[] = {guest.memory.slice(size, size / 5),
                               guest.memory.slice(size + size / 5, size - size / 5)};
  paint({guest.memory.data(), size}, 1);
  push(side, guest.net, guest.seen, "put_notify",
       [&] { return guest.net.put_notify(guest.other, guest.memory.first(size), here, 1, &guest); });
  one_end(1);
  (void)serve_for_value(side, guest.net, guest.seen, 0);
  push(side, guest.net, guest.seen, "get", [&] { return guest.net.get(guest.other, back, here, &guest); });
  one_end(2);
  EXPECT_EQ(first_unlike({guest.memory.data() + size, size}, 1), size) << "get";
  paint({guest.memory.data(), size}, 2);
  push(side, guest.net, guest.seen, "put_notify", [&] { return guest.net.put_notify(guest.other, both, here, 2); });
  (void)serve_for_value(side, guest.net, guest.seen, 0);
  paint({guest.memory.data(), size}, 3);
  push(side, guest.net, guest.seen, "put",
       [&] { return guest.net.put(guest.other, guest.memory.first(size), here, &guest); });
  one_end(3);
  push(side, guest.net, guest.seen, "get",
       [&] { return guest.net.get(guest.other, guest.memory.slice(size, size), here, &guest); });
  one_end(4);
  constexpr bool delivered = answer<F, write_fault_family>::signalled_write == post_mode::delivered;
  EXPECT_TRUE(!delivered || first_unlike({guest.memory.data() + size, size}, 3) == size) << "put, then get";
  await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
  EXPECT_EQ(guest.seen.ends(), 4U);
  side.ready(0);
}

/// More than two writes of the row where the row bounds them; elsewhere a few megabytes.
template <class F>
inline constexpr std::size_t beyond_one_write =
    F::facts.largest_write <= 8U << 20 ? 2 * F::facts.largest_write + 12'345 : (1U << 20) + 1;

TYPED_TEST_P(gather_lists, a_transfer_larger_than_the_largest_write_ends_as_one_operation) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t size = beyond_one_write<fabric>;
  TestFixture::play(
      {.once = true}, [](test_side& side) { take_large<fabric>(side, size); },
      [](test_side& side) { send_large<fabric>(side, size); });
}

REGISTER_TYPED_TEST_SUITE_P(gather_lists, a_transfer_larger_than_the_largest_write_ends_as_one_operation,
                            lists_of_every_length_arrive_by_put_notify_and_return_by_get,
                            a_message_of_several_buffers_arrives_as_one);

}  // namespace weft::conformance
