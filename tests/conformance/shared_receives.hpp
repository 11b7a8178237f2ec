// SPDX-License-Identifier: Apache-2.0
//
// One pool of receives for all peers: each message names its peer. A peer that closes or dies takes no receive with it,
// and later peers connect as before. On addressed fabrics the pool is the only answer; connected fabrics use it where
// their row has it. Hot path: no. Threads: one per side.
#pragma once

#include "../../compose/with.hpp"
#include "messages.hpp"

#include <array>

namespace weft::conformance {

template <class F>
inline constexpr bool has_pool = can_answer<F, answers::receive_pool::shared>;

/// The fabric with one pool; the fabric itself where its row has none.
template <class F>
struct pooled_of {
  using type = F;
};
template <class F>
requires(has_pool<F> && !answer<F, receive_pool_family>::one_for_all) struct pooled_of<F> {
  using type = with<F, answers::receive_pool::shared>;
};
template <class F>
using pooled = typename pooled_of<F>::type;

template <class Environment>
class shared_receives : public suite<Environment> {};
TYPED_TEST_SUITE_P(shared_receives);

inline constexpr std::uint32_t pool_slots = 8;

/// Heartbeat rows notice a dead peer by it. Elsewhere heartbeats could wait long behind messages without a receive.
template <class F>
constexpr duration pool_silence() {
  return answer<F, liveness_family>::speaks ? 1s : 0s;
}
template <class F>
transport_options pool_options() {
  return {.listens = true, .receives = pool_slots, .silence_limit = pool_silence<F>()};
}

/// Side `talker` sends `count` messages to side 1, which confirms them.
template <class F>
void say(test_side& side, transport<F>& net, observer& seen, peer to, weft::region& memory, std::uint32_t first,
         std::uint32_t count) {
  std::uint64_t ended = seen.completions;
  for (std::uint32_t i = 0; i < count; ++i) {
    const local_memory from = memory.slice(std::size_t{i % 64} * 64, 64);
    await(side, net, seen, "room for a message", [&] { return seen.completions + 32 > ended; });
    write_message({from.data, from.size}, static_cast<std::uint32_t>(side.number()) * 100'000 + first + i);
    push(side, net, seen, "send", [&] { return net.send(to, from, &seen); });
    ++ended;
  }
  await(
      side, net, seen, "ends of messages", [&] { return seen.completions == ended; }, patience * 2);
}

template <class F>
void talker(test_side& side, std::initializer_list<std::uint32_t> rounds) {
  auto net = opened<F>(side, {.silence_limit = pool_silence<F>()});
  observer seen;
  auto memory = net.allocate(64 * 64, rights::none).value();
  const peer p = meet_as_caller(side, net, seen, 1);
  std::uint32_t said = 0;
  for (const std::uint32_t count : rounds) {
    (void)serve_for_value(side, net, seen, 1);
    say(side, net, seen, p, memory, said, count);
    said += count;
  }
  (void)serve_for_value(side, net, seen, 1);
  (void)net.close(p, 2s, seen);
}

/// Messages by sender, as the pool's side received them.
struct ledger {
  std::array<peer, 4> peers{};
  std::array<std::uint32_t, 4> came{};

  void take(const received& m, bool in_order) {
    const std::uint32_t number = number_of(m.message);
    const std::uint32_t from = number / 100'000;
    ASSERT_LT(from, 4U);
    EXPECT_EQ(m.peer, peers.at(from)) << "a message of side " << from << " was taken for a message of another side";
    EXPECT_TRUE(is_message(m.message, number));
    EXPECT_TRUE(!in_order || number % 100'000 == came.at(from))
        << "side " << from << ": out of the order that the row promises";
    ++came.at(from);
  }
};

TYPED_TEST_P(shared_receives, each_message_of_the_pool_names_its_peer) {
  using fabric = pooled<typename TestFixture::tested_fabric>;
  if (!has_pool<typename TestFixture::tested_fabric>)
    GTEST_SKIP() << "the row has no pool; requesting one does not compile";
  static constexpr std::uint32_t first = 200;
  const auto talk = [](test_side& side) { talker<fabric>(side, {first, 100}); };
  TestFixture::play(
      {}, talk,
      [](test_side& side) {
        auto net = opened<fabric>(side, pool_options<fabric>());
        observer seen;
        ledger book;
        seen.on_received = [&](const received& m) { book.take(m, fabric::facts.order_send_after_send); };
        for (const int other : {0, 2, 3})
          book.peers.at(static_cast<std::size_t>(other)) = meet_as_listener(side, net, seen, other);
        for (const int other : {0, 2, 3}) side.ready(other);
        await(
            side, net, seen, "three streams", [&] { return seen.messages == 3 * first; }, patience * 2);
        EXPECT_EQ(book.came, (std::array<std::uint32_t, 4>{first, 0, first, first}));
        side.ready(0);
        await(
            side, net, seen, "one more stream", [&] { return seen.messages == 3 * first + 100; }, patience * 2);
        side.ready(0);
        await(side, net, seen, "one peer's goodbye", [&] { return seen.losses == 1; });
        for (const int other : {2, 3}) side.ready(other);
        await(
            side, net, seen, "two streams", [&] { return seen.messages == 3 * first + 300; }, patience * 2);
        for (const int other : {2, 3}) side.ready(other);
        await(side, net, seen, "the others' goodbyes", [&] { return seen.losses == 3; });
        EXPECT_EQ(net.garbled() + net.stale(), 0U);
      },
      talk, talk);
}

TYPED_TEST_P(shared_receives, a_dead_peer_costs_the_pool_no_receive) {
  using fabric = pooled<typename TestFixture::tested_fabric>;
  if (!has_pool<typename TestFixture::tested_fabric>)
    GTEST_SKIP() << "the row has no pool; requesting one does not compile";
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, {.silence_limit = pool_silence<fabric>()});
        observer seen;
        seen.on_failed = [](const failed&) {};
        auto memory = net.allocate(64 * 64, rights::none).value();
        const peer p = meet_as_caller(side, net, seen, 1);
        (void)serve_for_value(side, net, seen, 1);
        say(side, net, seen, p, memory, 0, 100);
        for (std::uint32_t i = 0; i < pool_slots; ++i)
          (void)net.send(p, memory.slice(0, 64), &seen);  // in flight when the side dies
        side.ready(1);
        for (;;) side.rest(100ms);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side, pool_options<fabric>());
        observer seen;
        ledger book;
        seen.on_received = [&](const received& m) {
          if (number_of(m.message) < 100'000) return;  // of the side that dies
          book.take(m, fabric::facts.order_send_after_send);
        };
        for (const int other : {0, 2})
          book.peers.at(static_cast<std::size_t>(other)) = meet_as_listener(side, net, seen, other);
        for (const int other : {0, 2}) side.ready(other);
        await(
            side, net, seen, "both streams", [&] { return seen.messages > 100; }, patience * 2);
        serve(side, net, seen, 0);
        side.kill(0);
        bool gone = false;
        seen.on_lost = [&](const lost& l) { gone = gone || l.peer == book.peers[0]; };
        await(
            side, net, seen, "the loss, and the whole stream of who lives",
            [&] { return gone && book.came[2] == 20 * pool_slots; }, patience * 2);
        side.ready(2);
        await(
            side, net, seen, "more from who lives", [&] { return book.came[2] == 21 * pool_slots; }, patience * 2);
        side.ready(2);
        serve(side, net, seen, 2);
      },
      [](test_side& side) {
        talker<fabric>(side, {20 * pool_slots, pool_slots});
        side.ready(1);
      });
}

REGISTER_TYPED_TEST_SUITE_P(shared_receives, each_message_of_the_pool_names_its_peer,
                            a_dead_peer_costs_the_pool_no_receive);

}  // namespace weft::conformance
