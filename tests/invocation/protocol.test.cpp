// SPDX-License-Identifier: Apache-2.0
//
// The bytes of the invocation protocol: messages round-trip, and truncated, longer or out-of-range bytes are refused.
#include <invocation/messages.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace weft::invocation {
namespace {

allocate_message full_request() {
  allocate_message m;
  m.workers = 3;
  m.slots = 8;
  m.input_bytes = 70'000;
  m.output_bytes = 9;
  m.polling = polling_mode::hot_then_warm;
  m.hot_ms = 25;
  m.function_limit_ns = 0x1122334455667788;
  m.source = function_source::object;
  m.object[31] = std::byte{0xee};
  m.object_bytes = 4711;
  m.secret[0] = std::byte{0x42};
  m.where = "[::1]:7471";
  return m;
}

template <class Message>
std::vector<std::byte> packed(const Message& m) {
  std::vector<std::byte> all(largest_message);
  all.resize(pack(m, all));
  EXPECT_FALSE(all.empty());
  return all;
}

TEST(invocation_protocol, a_greeting_round_trips_and_other_bytes_are_refused) {
  greeting g{role::worker, 7, {}};
  for (std::size_t i = 0; i < g.secret.size(); ++i) g.secret[i] = std::byte(i * 17);
  const auto wire = encode(g);
  const auto back = parse_greeting(wire);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->who, role::worker);
  EXPECT_EQ(back->worker, 7);
  EXPECT_TRUE(same_token(back->secret, g.secret));
  for (std::size_t size = 0; size < wire.size(); ++size)
    EXPECT_FALSE(parse_greeting(const_bytes(wire).first(size))) << size;
  std::vector<std::byte> longer(wire.begin(), wire.end());
  longer.push_back({});
  EXPECT_FALSE(parse_greeting(longer));
  for (const int role_byte : {0, 3, 255}) {
    auto other = wire;
    other[1] = std::byte(role_byte);
    EXPECT_FALSE(parse_greeting(other));
  }
  auto version = wire;
  version[0] = std::byte{2};
  EXPECT_FALSE(parse_greeting(version));
}

TEST(invocation_protocol, tokens_differ_in_any_bit) {
  const token a{};
  for (std::size_t bit = 0; bit < 128; ++bit) {
    token b = a;
    b[bit / 8] ^= std::byte(1U << bit % 8);
    EXPECT_FALSE(same_token(a, b)) << bit;
  }
  EXPECT_TRUE(same_token(a, token{}));
}

TEST(invocation_protocol, fields_of_a_word_are_independent) {
  const call_word call{63, 0xfffffe};
  EXPECT_EQ(call_word::of(call.immediate()), call);
  EXPECT_EQ((call_word{1, 0x1000002}).immediate(), (call_word{1, 2}).immediate()) << "24 bits wrap";
  const reply_word reply{254, 63, 0xffff};
  EXPECT_EQ(reply_word::of(reply.immediate()), reply);
}

TEST(invocation_protocol, a_request_round_trips) {
  const auto wire = packed(full_request());
  const auto back = unpack<allocate_message>(wire);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->workers, 3);
  EXPECT_EQ(back->slots, 8);
  EXPECT_EQ(back->input_bytes, 70'000U);
  EXPECT_EQ(back->output_bytes, 9U);
  EXPECT_EQ(back->polling, polling_mode::hot_then_warm);
  EXPECT_EQ(back->hot_ms, 25U);
  EXPECT_EQ(back->function_limit_ns, 0x1122334455667788U);
  EXPECT_EQ(back->source, function_source::object);
  EXPECT_EQ(back->object[31], std::byte{0xee});
  EXPECT_EQ(back->object_bytes, 4711U);
  EXPECT_EQ(back->secret[0], std::byte{0x42});
  EXPECT_EQ(back->where, "[::1]:7471");
}

template <class Message>
void expect_strict(const Message& m) {
  const auto wire = packed(m);
  EXPECT_TRUE(unpack<Message>(wire));
  for (std::size_t size = 0; size < wire.size(); ++size)
    EXPECT_FALSE(unpack<Message>(const_bytes(wire).first(size))) << size;
  auto longer = wire;
  longer.push_back({});
  EXPECT_FALSE(unpack<Message>(longer));
  for (int kind = 0; kind < 256; ++kind) {
    auto other = wire;
    other[0] = std::byte(kind);
    EXPECT_EQ(unpack<Message>(other).has_value(), kind == static_cast<int>(Message::kind)) << kind;
  }
}

TEST(invocation_protocol, every_message_refuses_truncated_longer_or_foreign_bytes) {
  expect_strict(full_request());
  expect_strict(release_message{9});
  expect_strict(allocated_message{1, 2});
  expect_strict(refused_message{refusal_code::busy, "no"});
  expect_strict(executor_lost_message{{1, true, 2, 3, 4, 5, 6}, "killed"});
  expect_strict(released_message{{1, true, 2, 3, 4, 5, 6}});
  expect_strict(account_message{});
  expect_strict(finish_message{});
  expect_strict(totals_message{1, 2, 3});
  expect_strict(welcome_message{});
  expect_strict(cancel_message{77});
  expect_strict(cancelled_message{77});
  expect_strict(ready_message{{}, "echo\n"});
  expect_strict(unable_message{refusal_code::untrusted, "no"});
}

TEST(invocation_protocol, enumerators_and_flags_out_of_range_are_refused) {
  auto wire = packed(refused_message{refusal_code::shutting_down, ""});
  wire[1] = std::byte{8};
  EXPECT_FALSE(unpack<refused_message>(wire));
  auto bill = packed(released_message{{1, true, 0, 0, 0, 0, 0}});
  bill[9] = std::byte{2};
  EXPECT_FALSE(unpack<released_message>(bill));
}

TEST(invocation_protocol, a_message_that_does_not_fit_is_not_partly_written) {
  const std::string long_text(5000, 'x');
  std::vector<std::byte> into(largest_message);
  EXPECT_EQ(pack(unable_message{refusal_code::malformed, long_text}, into), 0U);
}

TEST(invocation_protocol, flipped_bytes_never_read_past_the_end_or_yield_bad_enumerators) {
  std::mt19937_64 draw(1);
  const auto wire = packed(full_request());
  for (int round = 0; round < 20'000; ++round) {
    auto other = wire;
    for (int flips = 0; flips < 3; ++flips) other[draw() % other.size()] ^= std::byte(1U << draw() % 8);
    const auto m = unpack<allocate_message>(other);
    if (!m) continue;
    EXPECT_LE(static_cast<int>(m->polling), 2);
    EXPECT_LE(static_cast<int>(m->source), 1);
    EXPECT_TRUE(m->where.empty() || (reinterpret_cast<const std::byte*>(m->where.data()) >= other.data() &&
                                     m->where.size() <= other.size()));
  }
}

TEST(invocation_protocol, the_check_covers_function_length_sequence_and_flags) {
  const call_header good{1, 2, 100, 5, 1};
  EXPECT_EQ(judge(good, 5, 3, 100), reply_code::ok);
  EXPECT_EQ(judge(good, 6, 3, 100), reply_code::bad_request);
  EXPECT_EQ(judge(good, 5, 2, 100), reply_code::no_such_function);
  EXPECT_EQ(judge(good, 5, 3, 99), reply_code::too_large);
  EXPECT_EQ(judge({1, 2, 100, 5, 2}, 5, 3, 100), reply_code::bad_request);
}

/// A header that a peer changes bit by bit: an accepted header is in bounds.
TEST(invocation_protocol, a_header_with_a_flipped_bit_is_refused_or_in_bounds) {
  std::mt19937_64 draw(2);
  std::array<std::byte, sizeof(call_header)> raw{};
  for (int round = 0; round < 1'000'000; ++round) {
    raw[draw() % raw.size()] ^= std::byte(1U << draw() % 8);
    const auto h = copy_header<call_header>(raw.data());
    if (judge(h, h.sequence, 5, 4096) != reply_code::ok) continue;
    ASSERT_LT(h.function, 5U);
    ASSERT_LE(h.length, 4096U);
    ASSERT_LE(h.flags, 1U);
  }
}

TEST(invocation_protocol, slots_do_not_overlap_and_start_on_cache_lines) {
  for (const std::size_t payload : {0U, 1U, 39U, 40U, 41U, 4096U}) {
    EXPECT_GE(slot_stride(sizeof(call_header), payload), sizeof(call_header) + payload);
    EXPECT_EQ(slot_stride(sizeof(call_header), payload) % 64, 0U);
  }
}

}  // namespace
}  // namespace weft::invocation
