// SPDX-License-Identifier: Apache-2.0
//
// Receives without queue entries (framing::watched_words), where the row permits them: the promises of messages,
// notices, completions and closing, and the mistakes that only this framing can make. With faults, the simulated
// library fills half of a receive, and the rest at the next poll.
#include "allocations.hpp"
#include "closing.hpp"
#include "liveness.hpp"
#include "messages.hpp"
#include "stage.hpp"
#if defined(WEFT_EVERY_SUITE)
#include "gather_lists.hpp"
#include "put_notify.hpp"
#include "waiting.hpp"
#endif

#include "../../compose/with.hpp"

namespace weft::conformance {

using unasked = with<tested, framing::watched_words>;
static_assert(consistent_fabric<unasked>() && unasked::fingerprint != tested::fingerprint);
using unasked_stage = std::conditional_t<in_process<unasked>, simulated_stage<unasked>, live<unasked>>;

template <class Stage>
class watched_messages : public suite<Stage> {};
TYPED_TEST_SUITE_P(watched_messages);

/// Message i of a stream. Long messages contain the mark of a complete message at every offset.
inline std::size_t size_of_word_salad(std::uint32_t i) { return i % 4 == 0 ? 1024 : i * 7 % 61; }
inline void write_word_salad(bytes into, std::uint32_t i) {
  for (std::size_t at = 0; at < into.size(); ++at) {
    const std::size_t place = at + i % 8;
    const std::uint64_t word =
        (place / 8 + i) % 2 == 0 ? wire::watched_tail : std::uint64_t{wire::length_word(place % 50)} << 32;
    into[at] = static_cast<std::byte>(word >> 8 * (place % 8));
  }
}
inline bool is_word_salad(const_bytes message, std::uint32_t i) {
  std::vector<std::byte> expected(size_of_word_salad(i));
  write_word_salad(expected, i);
  return std::equal(expected.begin(), expected.end(), message.begin(), message.end());
}

/// Side 1: sends messages, and closes when side 0 has them. A handler that keeps messages may lose those that found no
/// receive before the close.
template <class F>
void send_word_salad(party& side, std::uint32_t count) {
  auto net = opened<F>(side, {.max_message_bytes = 1024});
  observer seen;
  auto memory = net.allocate(std::size_t{count} * 1024, rights::none).value();
  const peer p = meet_as_caller(side, net, seen);
  for (std::uint32_t i = 0; i < count; ++i) {
    const local_memory from = memory.slice(std::size_t{i} * 1024, size_of_word_salad(i));
    write_word_salad({from.data, from.size}, i);
    push(side, net, seen, "send", [&] { return i % 3 == 0 ? net.send(p, from, &seen) : net.send(p, from); });
  }
  (void)serve_and_ask(side, net, seen, 0);
  EXPECT_TRUE(net.close(p, patience, seen));
  EXPECT_EQ(seen.completions, (count + 2) / 3);
  (void)side.ask(0);
}

TYPED_TEST_P(watched_messages, old_bytes_in_a_buffer_are_never_read_as_a_message) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 400;
  TestFixture::play(
      {},
      [](party& side) {
        auto net = opened<fabric>(side, listening({.max_message_bytes = 1024, .receives = 3}));
        observer seen;
        (void)meet_as_listener(side, net, seen);
        std::uint32_t next = 0;
        seen.on_received = [&](const received& m) {
          EXPECT_TRUE(is_word_salad(m.message, next))
              << "message " << next << " came with " << m.message.size() << " bytes";
          ++next;
        };
        await(side, net, seen, "all messages", [&] { return next == count; });
        side.ready(1);
        await(side, net, seen, "the goodbye", [&] { return seen.losses == 1; });
        EXPECT_EQ(next, count);
        EXPECT_EQ(net.garbled() + net.stale(), 0U);
        side.ready(1);
      },
      [](party& side) { send_word_salad<fabric>(side, count); });
}

/// Buffers are posted again in another order than they have in memory.
TYPED_TEST_P(watched_messages, kept_messages_are_offered_again_in_order) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 200;
  TestFixture::play(
      {},
      [](party& side) {
        auto net = opened<fabric>(side, listening({.max_message_bytes = 1024, .receives = 4}));
        observer seen;
        (void)meet_as_listener(side, net, seen);
        std::uint32_t next = 0, refused = 0, looks = 0;
        bool takes = false;
        errc end = errc::ok;
        auto on = overloaded{[&](const received& m) {
                               refused += !takes;
                               if (!takes) return false;
                               EXPECT_TRUE(is_word_salad(m.message, next))
                                   << "message " << next << " came with " << m.message.size() << " bytes";
                               ++next;
                               return true;
                             },
                             [&](const lost& l) { end = l.why.code; }, [](auto&&) {}};
        const auto all = [&] {
          takes = ++looks % 3 == 0;
          return next == count;
        };
        EXPECT_TRUE(net.until(all, patience, on));
        side.ready(1);
        EXPECT_TRUE(net.until([&] { return end != errc::ok; }, patience, on));
        EXPECT_EQ(end, errc::closed);
        EXPECT_GT(refused, 0U);
        side.ready(1);
      },
      [](party& side) { send_word_salad<fabric>(side, count); });
}

/// The acceptance is a message and makes no entry; the notice after it does. Without faults: with them a full queue may
/// delay the acceptance.
TYPED_TEST_P(watched_messages, a_notice_directly_after_the_acceptance_is_not_lost) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t rounds = 8;
  TestFixture::play(
      {.once = true},
      [](party& side) {
        auto net = opened<fabric>(side, listening());
        auto memory = net.allocate(64, rights::none).value();
        side.tell(1, net.listen_address());
        const auto there = net.parse_region(side.ask(1));
        ASSERT_TRUE(there) << there.error().sentence;
        observer seen;
        std::vector<peer> asked;
        seen.on_requested = [&](const requested& r) { asked.push_back(r.peer); };
        for (std::uint32_t i = 0; i < rounds; ++i) {
          await(side, net, seen, "a request", [&] { return asked.size() > i; });
          EXPECT_TRUE(net.accept(asked[i]));
          push(side, net, seen, "put_notify",
               [&] { return net.put_notify(asked[i], memory.first(8), there->at(0), i); });
          EXPECT_TRUE(net.close(asked[i], patience, seen));
          serve(side, net, seen, 1);
          (void)side.ask(1);
        }
      },
      [](party& side) {
        auto net = opened<fabric>(side);
        auto region = net.allocate(64, rights::remote_write).value();
        const std::string where = side.ask_text(0);
        side.tell(0, const_bytes(net.export_region(region, owner_polls)));
        for (std::uint32_t i = 0; i < rounds; ++i) {
          observer seen;
          seen.on_notified = [&](const notified& n) {
            EXPECT_EQ(n.immediate, i);
            if (fabric::facts.write_immediate_bytes >= 8) {  // otherwise the immediate does not name the sender
              EXPECT_EQ(seen.connections, 1U) << "the notice arrived before the connection was up";
            }
          };
          const auto p = net.start_connect(where);
          ASSERT_TRUE(p) << p.error().sentence;
          await(side, net, seen, "the goodbye", [&] { return seen.losses == 1; });
          EXPECT_EQ(seen.notices, 1U);
          side.ready(0);
        }
        EXPECT_EQ(net.stale() + net.garbled(), 0U);
      });
}

/// Builds of the two framings cannot read each other's refusal. The connection ends and both sides get that, or the
/// deadline passes.
TYPED_TEST_P(watched_messages, a_peer_without_watched_messages_is_refused_and_others_go_on) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](party& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        side.tell(1, net.listen_address());
        serve(side, net, seen, 1);
        (void)side.ask(1);
        EXPECT_EQ(seen.requests, 0U) << "the application got a request from a peer of another build";
        (void)meet_as_listener(side, net, seen);
        seen.on_received = [](const received& m) { EXPECT_EQ(m.message.size(), 8U); };
        await(side, net, seen, "a message", [&] { return seen.messages == 1; });
        side.ready(1);
      },
      [](party& side) {
        observer seen;
        {
          auto net = opened<tested>(side);
          EXPECT_FALSE(net.connect(side.ask_text(0), 5s, seen));
        }
        side.ready(0);
        auto net = opened<fabric>(side);
        auto memory = net.allocate(64, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        push(side, net, seen, "send", [&] { return net.send(p, memory.first(8)); });
        serve(side, net, seen, 0);
        (void)side.ask(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(watched_messages, old_bytes_in_a_buffer_are_never_read_as_a_message,
                            kept_messages_are_offered_again_in_order,
                            a_notice_directly_after_the_acceptance_is_not_lost,
                            a_peer_without_watched_messages_is_refused_and_others_go_on);

INSTANTIATE_TYPED_TEST_SUITE_P(unasked, watched_messages, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, messages, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, closing, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, liveness_of_peers, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, allocations, unasked_stage, fabric_name);
#if defined(WEFT_EVERY_SUITE)
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, gather_lists, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, put_notify, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, waiting, unasked_stage, fabric_name);
#endif

}  // namespace weft::conformance
