// SPDX-License-Identifier: Apache-2.0
//
// Receives without entries (framing::watched_words), where the row permits them: what is promised of messages, notices,
// ends and closing, and what only they can get wrong. In rough weather the simulated library fills a receive half, and
// the rest at the next look.
#include "allocations.hpp"
#include "closing.hpp"
#include "liveness.hpp"
#include "messages.hpp"
#include "stage.hpp"
#if defined(WEFT_EVERY_SUITE)
#include "gathered.hpp"
#include "put_notify.hpp"
#include "waiting.hpp"
#endif

#include "../../compose/with.hpp"

namespace weft::conformance {

using unasked = with<tested, answers::framing::watched_words>;
static_assert(consistent_fabric<unasked>() && unasked::fingerprint != tested::fingerprint);
using unasked_stage = std::conditional_t<in_process<unasked>, simulated_stage<unasked>, live<unasked>>;

template <class Stage>
class watched_messages : public suite<Stage> {};
TYPED_TEST_SUITE_P(watched_messages);

/// Message i of a stream whose long ones are made of what says that a message is there, at every offset.
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

/// Side 1: sends so many of them, and closes when side 0 has them: whoever leaves messages may not get those that found
/// no receive before the end.
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

TYPED_TEST_P(watched_messages, old_bytes_of_a_buffer_are_never_taken_for_a_message) {
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

/// Buffers are posted again in another order than they lie in memory.
TYPED_TEST_P(watched_messages, those_that_a_handler_leaves_are_offered_again_in_order) {
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

/// The acceptance is a message, and makes no entry; the notice behind it does. In calm weather: else a full queue may
/// keep the acceptance back.
TYPED_TEST_P(watched_messages, a_notice_right_behind_the_acceptance_is_not_lost) {
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
            if (fabric::facts.write_immediate_bytes >= 8) {  // else it does not say whose it is
              EXPECT_EQ(seen.connections, 1U) << "the notice came before the connection stood";
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

/// Builds of the two framings cannot even read each other's refusal: the link ends, and both are told, or the time is
/// over.
TYPED_TEST_P(watched_messages, who_was_built_without_them_is_refused_and_others_are_not_disturbed) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](party& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        side.tell(1, net.listen_address());
        serve(side, net, seen, 1);
        (void)side.ask(1);
        EXPECT_EQ(seen.requests, 0U) << "the application was asked about a peer that it cannot talk to";
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

REGISTER_TYPED_TEST_SUITE_P(watched_messages, old_bytes_of_a_buffer_are_never_taken_for_a_message,
                            those_that_a_handler_leaves_are_offered_again_in_order,
                            a_notice_right_behind_the_acceptance_is_not_lost,
                            who_was_built_without_them_is_refused_and_others_are_not_disturbed);

INSTANTIATE_TYPED_TEST_SUITE_P(unasked, watched_messages, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, messages, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, closing_of_peers, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, liveness_of_peers, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, allocations, unasked_stage, fabric_name);
#if defined(WEFT_EVERY_SUITE)
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, gathered, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, put_notify, unasked_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(unasked, waiting, unasked_stage, fabric_name);
#endif

}  // namespace weft::conformance
