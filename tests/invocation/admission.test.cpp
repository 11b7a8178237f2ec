// SPDX-License-Identifier: Apache-2.0
//
// What a manager permits: bytes of a request, and places of clients.
#include <invocation/admission/allocation_table.hpp>
#include <invocation/admission/budget.hpp>
#include <invocation/admission/client_places.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

namespace weft::test {
namespace {

using namespace invocation;
using namespace std::chrono_literals;

allocate_message request(std::uint16_t workers, std::uint16_t slots, std::uint32_t bytes) {
  allocate_message m;
  m.workers = workers;
  m.slots = slots;
  m.input_bytes = m.output_bytes = bytes;
  return m;
}

TEST(budget, counts_each_slot_of_each_worker_with_its_headers) {
  EXPECT_EQ(bytes_of(request(1, 2, 0)), 2U * (64 + 64));
  EXPECT_EQ(bytes_of(request(3, 4, 1000)), 3U * 4 * (1024 + 1088));
  EXPECT_EQ(bytes_of(request(16, 64, 16U << 20)), 16ULL * 64 * 2 * ((16U << 20) + 64));
}

TEST(budget, counts_an_object_for_each_worker) {
  allocate_message m = request(3, 2, 0);
  m.object_bytes = 1000;
  EXPECT_EQ(bytes_of(m), 3U * 256) << "built-in functions need no object";
  m.source = function_source::object;
  EXPECT_EQ(bytes_of(m), 3U * (256 + 1000));
}

TEST(budget, a_product_that_64_bits_do_not_hold_is_no_small_number) {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_FALSE(bytes_of(request(65535, 65535, most)));
  // 65,535 x 2 x 2^47 bytes: a product modulo 2^64 would be small.
  EXPECT_GT(bytes_of(request(255, 64, most)).value(), std::uint64_t{1} << 46);
}

TEST(budget, a_refusal_names_its_limit) {
  const memory_budget limits{.one = 1000, .all = 1500};
  EXPECT_FALSE(check_budget(limits, 500, 1000));
  const auto large = check_budget(limits, 0, 1001);
  ASSERT_TRUE(large);
  EXPECT_EQ(large->code, refusal_code::too_large);
  EXPECT_NE(large->sentence.find("at most 1000 are possible here for one allocation (--max-allocation-bytes)"),
            std::string::npos)
      << large->sentence;
  const auto later = check_budget(limits, 501, 1000);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->code, refusal_code::busy);
  EXPECT_NE(later->sentence.find("501 of 1500 are in use (--max-bytes); try later"), std::string::npos)
      << later->sentence;
  const auto never = check_budget({.one = 2000, .all = 1500}, 0, 1600);
  ASSERT_TRUE(never);
  EXPECT_EQ(never->code, refusal_code::too_large) << "it cannot succeed later";
  const auto endless = check_budget(limits, 0, std::nullopt);
  ASSERT_TRUE(endless);
  EXPECT_EQ(endless->code, refusal_code::too_large);
  EXPECT_TRUE(check_budget(limits, 2000, 1)) << "more is in use than permitted";
}

TEST(budget, defaults_stop_a_request_of_32_gib) {
  const auto no = check_budget({}, 0, bytes_of(request(16, 64, 16U << 20)));
  ASSERT_TRUE(no);
  EXPECT_EQ(no->code, refusal_code::too_large);
}

/// Peers of nothing, to be told apart by number.
struct some_peers {
  std::array<weft::detail::peer_header, 8> records{};
  peer operator[](std::uint32_t i) { return weft::detail::peer_access::make(&records.at(i), i + 1); }
};

TEST(client_places, the_oldest_client_without_a_request_leaves_first) {
  some_peers who;
  client_places places(3);
  const instant begin{};
  for (std::uint32_t i = 0; i < 3; ++i) places.enter(who[i], begin + i * 10ms);
  EXPECT_TRUE(places.full());
  places.asked(who[0], begin + 40ms);
  EXPECT_TRUE(places.first_to_leave(begin + 1s) == who[1]);
  EXPECT_TRUE(places.first_to_leave(begin + 110ms) == who[1]);
  EXPECT_FALSE(places.first_to_leave(begin + 105ms)) << "all are too young";
  for (const std::uint32_t i : {1U, 2U}) places.asked(who[i], begin + 1s), places.serves(who[i], true);
  EXPECT_TRUE(places.first_to_leave(begin + 2s) == who[0]) << "it asked, but has no allocation";
  places.serves(who[0], true);
  EXPECT_FALSE(places.first_to_leave(begin + 2s)) << "all have allocations";
  places.serves(who[1], false);
  EXPECT_TRUE(places.first_to_leave(begin + 2s) == who[1]) << "its allocation ended";
}

/// An executor that never ends.
struct quiet_child {
  std::span<worker_journal> journals() noexcept { return {}; }
};
std::unique_ptr<allocation<quiet_child>> an_allocation(std::uint32_t number, peer client) {
  executor_order order;
  order.common.allocation[number % 16] = static_cast<std::byte>(number / 16 + 1);
  auto made = std::make_unique<allocation<quiet_child>>(std::move(order), quiet_child{});
  made->number = number;
  made->bytes = 10;
  made->client = client;
  return made;
}

TEST(allocation_table, a_round_looks_at_a_part_and_all_have_their_turn) {
  some_peers who;
  allocation_table<quiet_child> all(token{});
  constexpr std::uint32_t count = 1'000;
  for (std::uint32_t i = 0; i < count; ++i) all.enter(an_allocation(i, who[i % 8]));
  EXPECT_EQ(all.bytes(), 10U * count);
  EXPECT_EQ(all.workers(), count);
  std::vector<std::uint32_t> looks(count);
  for (int round = 0; round < 4; ++round) {
    std::size_t of_round = 0;
    all.each_in_turn([&](const auto& a) {
      ++looks[a.number], ++of_round;
      return false;
    });
    EXPECT_EQ(of_round, all.looks_of_a_round);
  }
  EXPECT_EQ(std::count(looks.begin(), looks.end(), 0U), 0);
}

TEST(allocation_table, those_that_end_go_first_and_leave_no_trace) {
  some_peers who;
  allocation_table<quiet_child> all(token{});
  for (std::uint32_t i = 0; i < 600; ++i) all.enter(an_allocation(i, who[0]));
  for (const auto& a : all)
    if (a->number == 555) all.press(*a);
  const token named = an_allocation(555, {})->order.common.allocation;
  ASSERT_NE(all.with_token(named), nullptr);
  std::uint32_t first = 0, looks = 0;
  all.each_in_turn([&](auto& a) {
    if (looks++ == 0) first = static_cast<std::uint32_t>(a.number);
    if (a.number == 3) all.press(a);  // ends while it is looked at
    return a.number == 555 || a.number == 3;
  });
  EXPECT_EQ(first, 555U);
  EXPECT_EQ(all.with_token(named), nullptr);
  EXPECT_EQ(all.size(), 598U);
  EXPECT_EQ(all.bytes(), 5980U);
  looks = 0;
  for (int round = 0; round < 3; ++round)
    all.each_in_turn([&](const auto& a) {
      EXPECT_NE(a.number, 3U);
      EXPECT_NE(a.number, 555U);
      return ++looks, false;
    });
  const auto is = [](std::uint64_t number) { return [number](const auto& a) { return a.number == number; }; };
  EXPECT_EQ(all.of_client(who[0], is(3)), nullptr);
  EXPECT_NE(all.of_client(who[0], is(4)), nullptr);
  EXPECT_EQ(all.of_client(who[1], is(4)), nullptr);
}

TEST(allocation_table, a_worker_is_found_by_its_connection) {
  some_peers who;
  allocation_table<quiet_child> all(token{});
  all.enter(an_allocation(0, who[0]));
  auto& a = **all.begin();
  all.worker_came(a, 0, who[3]);
  EXPECT_EQ(all.behind(who[3]).of, &a);
  EXPECT_EQ(all.behind(who[3]).worker, &a.workers[0]);
  EXPECT_EQ(all.behind(who[2]).of, nullptr);
  all.each_in_turn([](const auto&) { return true; });
  EXPECT_EQ(all.behind(who[3]).of, nullptr);
  EXPECT_FALSE(all.has(who[0]));
}

TEST(client_places, only_clients_without_a_request_become_late) {
  some_peers who;
  client_places places(3);
  const instant begin{};
  places.enter(who[0], begin);
  places.enter(who[1], begin + 1s);
  places.asked(who[0], begin + 1s);
  EXPECT_FALSE(places.first_late(begin + 10s, 10s));
  EXPECT_TRUE(places.first_late(begin + 11s, 10s) == who[1]);
  places.leave(who[1]);
  EXPECT_FALSE(places.first_late(begin + 100s, 10s));
  EXPECT_EQ(places.taken(), 1U);
}

}  // namespace
}  // namespace weft::test
