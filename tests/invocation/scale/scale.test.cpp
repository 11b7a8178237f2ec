// SPDX-License-Identifier: Apache-2.0
//
// With more executors and clients, messages, bytes, events and memory grow in proportion, and no faster: sizes of 12,
// 24 and 48 executors, with ten clients for each. Counts are judged, and no times. The manager's share is judged alone.
#include "scaled_system.hpp"

#include <weft/compose/selected.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace weft::test {
namespace {

using fabric = over<selected, loopback::port>;

scale_result at(std::uint32_t executors, std::uint32_t managers = 1) {
  scale_plan plan;
  plan.executors = executors;
  plan.clients = 10 * executors;
  plan.managers = managers;
  scale_result r = scaled_system<fabric>(plan).play();
  EXPECT_TRUE(r.finished) << r.why;
  EXPECT_EQ(r.served, plan.clients);
  EXPECT_EQ(r.calls, std::uint64_t{plan.clients} * plan.calls);
  EXPECT_EQ(r.exact_bills, plan.clients);
  return r;
}
/// The power of the size with which a count grew: 1 is in proportion, 2 is by the square.
double exponent(std::uint64_t small, std::uint64_t large, double times) {
  return std::log(static_cast<double>(large) / static_cast<double>(small)) / std::log(times);
}

TEST(invocation_scale, counts_grow_in_proportion_and_no_faster) {
  const scale_result small = at(12), middle = at(24), large = at(48);
  // Refused clients ask again after a time, so counts depend a little on who came first.
  constexpr double most = 1.1;
  EXPECT_LE(exponent(small.packets, large.packets, 4), most);
  EXPECT_LE(exponent(small.packet_bytes, large.packet_bytes, 4), most);
  EXPECT_LE(exponent(small.manager_packets, large.manager_packets, 4), most);
  EXPECT_LE(exponent(small.manager_bytes, large.manager_bytes, 4), most);
  EXPECT_LE(exponent(small.events, large.events, 4), most + 0.1);
  // The pool of packets is one for all, so only increments are in proportion.
  const double first = static_cast<double>(middle.peak_bytes) - static_cast<double>(small.peak_bytes);
  EXPECT_LE(static_cast<double>(large.peak_bytes) - static_cast<double>(middle.peak_bytes), first * std::pow(2, most));
}

TEST(invocation_scale, executors_that_all_start_at_once_all_get_their_accounts) {
  scale_plan plan;
  plan.executors = 200;
  plan.clients = 500;
  plan.calls = 1;
  const scale_result r = scaled_system<fabric>(plan).play();
  EXPECT_TRUE(r.finished) << r.why;
  EXPECT_EQ(r.failed, 0U);
}

TEST(invocation_scale, four_managers_share_the_messages_of_one) {
  const scale_result one = at(24), four = at(24, 4);
  EXPECT_LE(four.manager_packets, one.manager_packets * 11 / 10);
}

}  // namespace
}  // namespace weft::test
