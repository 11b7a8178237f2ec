// SPDX-License-Identifier: Apache-2.0
//
// What travels between a manager and a node: an order is the same on both sides, journals are whole, and a greeting of
// something else is none.
#include <invocation/nodes/messages.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace weft::invocation::nodes {
namespace {

TEST(node_messages, an_order_is_the_same_on_both_sides) {
  executor_order order;
  order.workers = 3;
  worker_settings& c = order.common;
  c.manager = "10.7.0.1:7471";
  c.client = "10.7.0.201:40000";
  c.allocation.fill(std::byte{1});
  c.client_secret.fill(std::byte{2});
  c.slots = 5;
  c.input_bytes = 7;
  c.output_bytes = 9;
  c.polling = {polling_mode::hot_then_warm, 11ms};
  c.function_limit = 13s;
  c.start_limit = 17s;
  c.ships = true;
  c.object.fill(std::byte{3});
  c.object_bytes = 19;
  std::array<std::byte, largest_message> bytes{};
  const std::size_t size = pack(message_of(order, 23, 29), bytes);
  const auto got = unpack<start_message>(const_bytes(bytes).first(size));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->number, 23U);
  EXPECT_EQ(got->lease_ms, 29U);
  const executor_order there = order_of(*got);
  EXPECT_EQ(there.workers, order.workers);
  EXPECT_EQ(there.common.manager, c.manager);
  EXPECT_EQ(there.common.client, c.client);
  EXPECT_EQ(there.common.allocation, c.allocation);
  EXPECT_EQ(there.common.client_secret, c.client_secret);
  EXPECT_EQ(there.common.slots, c.slots);
  EXPECT_EQ(there.common.input_bytes, c.input_bytes);
  EXPECT_EQ(there.common.output_bytes, c.output_bytes);
  EXPECT_EQ(there.common.polling.mode, c.polling.mode);
  EXPECT_EQ(there.common.polling.hot_for, c.polling.hot_for);
  EXPECT_EQ(there.common.function_limit, c.function_limit);
  EXPECT_EQ(there.common.start_limit, c.start_limit);
  EXPECT_EQ(there.common.ships, c.ships);
  EXPECT_EQ(there.common.object, c.object);
  EXPECT_EQ(there.common.object_bytes, c.object_bytes);
  EXPECT_FALSE(unpack<start_message>(const_bytes(bytes).first(size - 1))) << "a byte is missing";
  EXPECT_FALSE(unpack<kill_message>(const_bytes(bytes).first(size))) << "another message";
}

TEST(node_messages, journals_arrive_as_they_were) {
  std::vector<worker_journal> here(journals_per_letter), there(journals_per_letter);
  std::uint64_t next = 0x0102030405060708;
  for (worker_journal& j : here) for_each_word(j, [&](auto& word) { word = ++next; });
  const std::string words = packed(here);
  EXPECT_EQ(words.size(), here.size() * journal_bytes);
  EXPECT_LE(words.size(), largest_names) << "a letter holds them";
  ASSERT_TRUE(unpacked(words, there));
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_TRUE(agrees({here[i].posted[0], here[i].acknowledged[1]}, there[i]));
    EXPECT_EQ(here[i].earned[1], there[i].earned[1]);
    EXPECT_EQ(here[i].invocations, there[i].invocations);
  }
  EXPECT_FALSE(unpacked(std::string_view(words).substr(1), there)) << "a byte is missing";
  EXPECT_FALSE(unpacked(words, std::span(there).first(1))) << "more than there are workers";
}

TEST(node_messages, only_a_daemon_greets_as_one) {
  greeting mine;
  mine.secret.fill(std::byte{7});
  const auto bytes = encode(mine);
  const auto got = parse_greeting(bytes);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->secret, mine.secret);
  EXPECT_FALSE(parse_greeting(const_bytes(bytes).first(bytes.size() - 1)));
  EXPECT_FALSE(parse_greeting(invocation::encode(invocation::greeting{role::client, 0, mine.secret})));
  EXPECT_FALSE(invocation::parse_greeting(bytes)) << "and a manager's clients are no daemons";
}

}  // namespace
}  // namespace weft::invocation::nodes
