// SPDX-License-Identifier: Apache-2.0
//
// What travels between a manager and a node: an order is the same on both sides, journals are whole, and a greeting of
// something else is none.
#include <invocation/nodes/inherited.hpp>

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
  c.silence = 31s;
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
  EXPECT_EQ(there.common.silence, c.silence);
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

/// Journals with numbers that add up to something that can be told apart.
std::vector<worker_journal> worked(std::size_t workers) {
  std::vector<worker_journal> all(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    all[i].earned[0] = 1;
    all[i].earned[1] = 1000;
    all[i].posted[1] = 900;  // the rest was on its way to a manager that is gone
    all[i].invocations = i + 1;
  }
  return all;
}
token secret_of(std::uint8_t number) {
  token made;
  made.fill(std::byte{number});
  return made;
}

TEST(inherited_accounts, bill_what_the_workers_counted_once) {
  inherited_accounts kept;
  auto journals = worked(40);
  const std::string first = packed(std::span(journals).first(32));
  const std::string rest = packed(std::span(journals).subspan(32));
  ASSERT_TRUE(kept.take({secret_of(1), 40, 0, first}));
  EXPECT_FALSE(kept.collect(secret_of(1))) << "eight workers are missing";
  ASSERT_TRUE(kept.take({secret_of(1), 40, 32, rest}));
  EXPECT_EQ(kept.taken(), 1U);
  EXPECT_FALSE(kept.collect(secret_of(2))) << "of somebody else";
  const auto bill = kept.collect(secret_of(1));
  ASSERT_TRUE(bill);
  EXPECT_TRUE(bill->exact);
  EXPECT_EQ(bill->hot_ns, 40U);
  EXPECT_EQ(bill->execution_ns, 40'000U) << "all that was earned, also what was not posted";
  EXPECT_EQ(bill->worker_execution_ns, bill->execution_ns);
  EXPECT_EQ(bill->invocations, 820U);
  EXPECT_FALSE(kept.collect(secret_of(1))) << "a bill is written once";
}

TEST(inherited_accounts, refuse_what_does_not_come_next) {
  inherited_accounts kept;
  auto journals = worked(4);
  const std::string two = packed(std::span(journals).first(2));
  EXPECT_FALSE(kept.take({secret_of(1), 4, 2, two})) << "the first ones are missing";
  EXPECT_FALSE(kept.take({secret_of(1), 0, 0, two}));
  EXPECT_FALSE(kept.take({secret_of(1), 256, 0, two}));
  ASSERT_TRUE(kept.take({secret_of(1), 4, 0, two}));
  EXPECT_FALSE(kept.take({secret_of(1), 5, 2, two})) << "of another number of workers";
  EXPECT_FALSE(kept.take({secret_of(1), 4, 2, {}}));
  EXPECT_FALSE(kept.take({secret_of(1), 4, 2, packed(journals)})) << "more than there are";
  ASSERT_TRUE(kept.take({secret_of(1), 4, 2, two}));
  EXPECT_FALSE(kept.take({secret_of(1), 4, 4, two}));
  EXPECT_FALSE(kept.take({secret_of(1), 4, 0, two})) << "a whole account again";
  EXPECT_TRUE(kept.collect(secret_of(1)));
}

TEST(inherited_accounts, begin_again_with_a_node_that_does) {
  inherited_accounts kept;
  auto journals = worked(4);
  const std::string two = packed(std::span(journals).first(2));
  const std::string others = packed(std::span(journals).subspan(2));
  ASSERT_TRUE(kept.take({secret_of(1), 4, 0, two}));
  EXPECT_FALSE(kept.take({secret_of(1), 5, 0, two})) << "of another number of workers";
  ASSERT_TRUE(kept.take({secret_of(1), 4, 0, two})) << "the node lost its connection, and is back";
  ASSERT_TRUE(kept.take({secret_of(1), 4, 2, others}));
  EXPECT_EQ(kept.taken(), 1U);
  const auto bill = kept.collect(secret_of(1));
  ASSERT_TRUE(bill);
  EXPECT_EQ(bill->invocations, 10U);
}

TEST(inherited_accounts, drop_the_oldest_where_nobody_asks) {
  inherited_accounts kept;
  auto journals = worked(1);
  const std::string words = packed(journals);
  const auto secret = [](std::size_t number) {
    token made = secret_of(7);
    made[0] = std::byte(number & 0xffU);
    made[1] = std::byte(number >> 8U);
    return made;
  };
  for (std::size_t i = 0; i <= inherited_accounts::most; ++i) ASSERT_TRUE(kept.take({secret(i), 1, 0, words}));
  EXPECT_FALSE(kept.collect(secret(0)));
  EXPECT_TRUE(kept.collect(secret(1)));
  EXPECT_TRUE(kept.collect(secret(inherited_accounts::most)));
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
