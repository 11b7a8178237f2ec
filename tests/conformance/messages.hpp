// SPDX-License-Identifier: Apache-2.0
//
// Messages: boundaries, the smallest and largest size, order where the row promises it, and none lost when the receiver
// is slow. Hot path: no. Threads: one per side.
#pragma once

#include "held_messages.hpp"

#include <cstring>
#include <optional>

namespace weft::conformance {

/// Side 0: takes `count` messages, each once and whole; in order where the row promises it.
template <class F>
void take_stream(test_side& side, std::uint32_t count, transport_options o) {
  auto net = opened<F>(side, listening(o));
  observer seen;
  const peer p = meet_as_listener(side, net, seen);
  std::vector<std::uint32_t> came(count);
  std::uint32_t expected = 0;
  seen.on_received = [&](const received& m) {
    EXPECT_EQ(m.peer, p);
    const std::uint32_t i = number_of(m.message);
    if (i >= count) {
      ADD_FAILURE() << "message " << i << " was not sent";
      return;
    }
    EXPECT_EQ(++came[i], 1U) << "message " << i << " arrived twice";
    EXPECT_TRUE(is_message(m.message, i)) << "message " << i << " has wrong bytes";
    EXPECT_TRUE(i == expected || !F::facts.order_send_after_send)
        << i << " came " << expected << "th, out of the order that the row promises";
    ++expected;
    side.book.received(1, net.now(), i, m.message);
  };
  await(
      side, net, seen, "all messages", [&] { return seen.messages >= count; }, patience * 2);
  side.ready(1);
  serve(side, net, seen, 1);
  EXPECT_EQ(seen.messages, count);
  EXPECT_EQ(net.garbled() + net.stale(), 0U);
  side.book.finished(net.now());
}

/// Side 1: sends the messages, and overwrites each source that is reusable at once. Returns: how often the queue was
/// full.
template <class F>
std::uint64_t send_stream(test_side& side, std::uint32_t count, transport_options o, bool signalled) {
  auto net = opened<F>(side, o);
  observer seen;
  const std::size_t each = 256;
  auto memory = net.allocate(count * each, rights::none).value();
  const peer p = meet_as_caller(side, net, seen);
  std::vector<std::uint64_t> ids(count);
  seen.on_completed = [&](const completed& c) {
    side.book.ended(*static_cast<std::uint64_t*>(c.context), net.now(), errc::ok);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const local_memory from = memory.slice(i * each, sizeof i + side.below(each - sizeof i));
    write_message({from.data, from.size}, i);
    ids[i] = side.book.posted(history::work::send, 0, net.now(), signalled ? latest_end(net) : instant{}, i,
                              const_bytes(from.data, from.size));
    push(side, net, seen, "send", [&] { return signalled ? net.send(p, from, &ids[i]) : net.send(p, from); });
    if (!signalled && from.size <= transport<F>::inject_bytes) std::memset(from.data, 0xEE, from.size);
  }
  if (signalled)
    await(
        side, net, seen, "all completions", [&] { return seen.completions == count; }, patience * 2);
  serve(side, net, seen, 0);
  (void)side.wait_for_value(0);
  if (!signalled)
    for (const std::uint64_t id : ids) side.book.ended(id, net.now(), errc::ok);
  await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
  side.book.finished(net.now());
  side.ready(0);
  return seen.agains;
}

template <class Environment>
class messages : public suite<Environment> {};
TYPED_TEST_SUITE_P(messages);

TYPED_TEST_P(messages, boundaries_are_kept_from_0_bytes_to_the_largest_message) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t slot = 3000;  // not a power of two, not the default
  static constexpr std::size_t sizes[] = {0, 1, 63, 64, 65, 128, 1000, slot - 1, slot};
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, {.listens = true, .max_message_bytes = slot});
        observer seen;
        const peer p = meet_as_listener(side, net, seen);
        EXPECT_EQ(net.largest_message(p), slot + 100);
        for (const std::size_t size : sizes)
          for (const bool signalled : {true, false}) {
            std::optional<std::size_t> came;
            seen.on_received = [&](const received& m) {
              came = m.message.size();
              EXPECT_EQ(first_unlike(m.message, size), m.message.size());
            };
            await(side, net, seen, "one message", [&] { return came.has_value(); });
            EXPECT_EQ(*came, size) << (signalled ? "signalled" : "unsignalled");
            side.ready(1);
          }
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side, {.max_message_bytes = slot + 100});
        observer seen;
        auto memory = net.allocate(slot + 1, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        EXPECT_EQ(net.largest_message(p), slot);
        for (const std::size_t size : sizes)
          for (const bool signalled : {true, false}) {
            paint({memory.data(), size}, size);
            push(side, net, seen, "send",
                 [&] { return signalled ? net.send(p, memory.first(size), &seen) : net.send(p, memory.first(size)); });
            serve(side, net, seen, 0);
            (void)side.wait_for_value(0);
          }
        if (refuses_wrong_posts<fabric>) {
          const status s = net.send(p, memory.first(slot + 1), &seen);
          EXPECT_EQ(s.code, errc::truncated);
          EXPECT_EQ(net.send(p, memory.first(slot + 1)).code, errc::truncated);
          EXPECT_NE(describe(s).find("(3000 bytes)"), std::string::npos) << describe(s);
          EXPECT_NE(describe(net.refused_message()).find("a message of 3001 bytes does not fit into a receive of 3000"),
                    std::string::npos);
          EXPECT_EQ(net.refused_message().times, 2U);
        }
        EXPECT_EQ(describe(net.overrun()), "");
        await(side, net, seen, "completions", [&] { return seen.completions == std::size(sizes); });
        await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
        side.ready(0);
      });
}

TYPED_TEST_P(messages, thousands_arrive_once_each) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { take_stream<fabric>(side, 3000, {}); },
      [](test_side& side) { send_stream<fabric>(side, 3000, {}, true); });
}

TYPED_TEST_P(messages, thousands_of_unsignalled_messages_arrive_once_each) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { take_stream<fabric>(side, 3000, {}); },
      [](test_side& side) { send_stream<fabric>(side, 3000, {}, false); });
}

TYPED_TEST_P(messages, a_small_window_makes_the_sender_wait_and_loses_no_message) {
  using fabric = typename TestFixture::tested_fabric;
  const transport_options small{.receives = 4, .operations = 8};
  TestFixture::play(
      {}, [small](test_side& side) { take_stream<fabric>(side, 1000, small); },
      [small](test_side& side) {
        EXPECT_GT(send_stream<fabric>(side, 1000, small, true), 0U)
            << "1000 sends with 8 operations never filled the queue";
      });
}

TYPED_TEST_P(messages, kept_messages_keep_their_receives_and_later_ones_wait) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr held_back what{.count = 360, .largest = 1000, .held_surely = 12, .receives = 16};
  TestFixture::play(
      {.once = true}, [](test_side& side) { hold_and_take<fabric>(side, what); },
      [](test_side& side) { send_more_than_is_held<fabric>(side, what); });
}

/// In each round side 0 sleeps until all messages of the round have arrived, so that one poll finds several. The
/// handler leaves the first offer of the round, and takes all later offers.
TYPED_TEST_P(messages, a_message_that_the_handler_left_is_offered_again_before_newer_ones) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t rounds = 4, in_round = 6;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        const peer p = meet_as_listener(side, net, seen);
        (void)serve_for_value(side, net, seen, 1);
        std::optional<std::uint32_t> left;
        std::uint32_t taken = 0, offers_left = 0;
        const choosing_observer on{seen, [&](const received& m) {
                                     EXPECT_EQ(m.peer, p);
                                     const std::uint32_t i = number_of(m.message);
                                     EXPECT_EQ(i, left.value_or(i)) << "a newer message was offered while one waits";
                                     const bool leaves = !left && offers_left * in_round == taken;
                                     left = leaves ? std::optional(i) : std::nullopt;
                                     offers_left += std::uint32_t{leaves};
                                     taken += std::uint32_t{!leaves};
                                     return !leaves;
                                   }};
        for (std::uint32_t round = 1; round <= rounds; ++round) {
          side.ready(1);
          (void)side.wait_for_value(1);
          side.rest(1ms);
          side.at("taking the messages of a round");
          ASSERT_TRUE(net.until([&] { return taken == round * in_round; }, patience, on)) << taken << " taken";
        }
        EXPECT_EQ(offers_left, rounds);
        side.ready(1);
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        auto memory = net.allocate(std::size_t{rounds} * in_round * 64, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        side.ready(0);
        for (std::uint32_t i = 0; i < rounds * in_round; ++i) {
          if (i % in_round == 0) (void)serve_for_value(side, net, seen, 0);
          const local_memory from = memory.slice(std::size_t{i} * 64, 64);
          write_message({from.data, from.size}, i);
          push(side, net, seen, "send", [&] { return net.send(p, from, &seen); });
          if (i % in_round == in_round - 1) side.ready(0);
        }
        (void)serve_for_value(side, net, seen, 0);
        await(side, net, seen, "completions", [&] { return seen.completions == rounds * in_round; });
        side.ready(0);
      });
}

TYPED_TEST_P(messages, both_ways_at_once) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 500;
  const auto talk = [](test_side& side, transport<fabric>& net, observer& seen, const peer p) {
    auto memory = net.allocate(count * 64, rights::none).value();
    std::uint64_t sum = 0;
    seen.on_received = [&](const received& m) { sum += number_of(m.message); };
    side.ready(1 - side.number());  // neither sends before the other listens
    (void)serve_for_value(side, net, seen, 1 - side.number());
    for (std::uint32_t i = 0; i < count; ++i) {
      const local_memory from = memory.slice(i * 64, 64);
      write_message({from.data, from.size}, i);
      push(side, net, seen, "send", [&] { return net.send(p, from, &seen); });
    }
    await(
        side, net, seen, "everything", [&] { return seen.completions == count && seen.messages == count; },
        patience * 2);
    EXPECT_EQ(sum, std::uint64_t{count} * (count - 1) / 2);
    side.ready(1 - side.number());
    serve(side, net, seen, 1 - side.number());
  };
  TestFixture::play(
      {},
      [talk](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        const peer p = meet_as_listener(side, net, seen);
        talk(side, net, seen, p);
      },
      [talk](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        const peer p = meet_as_caller(side, net, seen);
        talk(side, net, seen, p);
      });
}

REGISTER_TYPED_TEST_SUITE_P(messages, boundaries_are_kept_from_0_bytes_to_the_largest_message,
                            thousands_arrive_once_each, thousands_of_unsignalled_messages_arrive_once_each,
                            a_small_window_makes_the_sender_wait_and_loses_no_message,
                            kept_messages_keep_their_receives_and_later_ones_wait,
                            a_message_that_the_handler_left_is_offered_again_before_newer_ones, both_ways_at_once);

}  // namespace weft::conformance
