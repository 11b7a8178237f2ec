// SPDX-License-Identifier: Apache-2.0
//
// What a manager permits: bytes of a request, and places of clients.
#include <invocation/admission/budget.hpp>
#include <invocation/admission/client_places.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>

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
  const auto nobody = [](peer) { return false; };
  EXPECT_TRUE(places.first_to_leave(begin + 1s, nobody) == who[1]);
  const auto serves = [&](peer p) { return p == who[1] || p == who[2]; };
  EXPECT_TRUE(places.first_to_leave(begin + 1s, serves) == who[0]) << "it asked, but has no allocation";
  EXPECT_FALSE(places.first_to_leave(begin + 1s, [](peer) { return true; })) << "all have allocations";
  EXPECT_FALSE(places.first_to_leave(begin + 105ms, [&](peer p) { return p == who[0] || p == who[1]; }))
      << "the third is too young";
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
