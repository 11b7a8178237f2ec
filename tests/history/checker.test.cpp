// SPDX-License-Identifier: Apache-2.0
//
// The checker alone: for each property a history that violates it, and a similar history that does not.
#include "../../history/checker.hpp"
#include "../../history/recorder.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weft::history {
namespace {

using namespace std::chrono_literals;

constexpr instant at(std::int64_t ns) { return instant(duration(ns)); }
std::array<std::byte, 4> bytes_of(int n) {
  return {std::byte(n), std::byte(n + 1), std::byte(n + 2), std::byte(n + 3)};
}

/// Two processes and the verdict on their histories.
class checking : public testing::Test {
 protected:
  recorder one{1};
  recorder two{2};

  verdict judge(bool one_finished = true, bool two_finished = true) {
    if (one_finished) one.finished(at(1'000'000'000));
    if (two_finished) two.finished(at(1'000'000'000));
    checker judge_of_both;
    judge_of_both.add(one.records());
    judge_of_both.add(two.records());
    return judge_of_both.judge();
  }
  void expect_only(property which, const verdict& said) {
    EXPECT_EQ(said.violations.size(), 1U) << said.text();
    EXPECT_TRUE(said.names(which)) << said.text();
  }
  std::uint64_t put(std::uint64_t immediate, int n, errc outcome = errc::ok) {
    const auto id = one.posted(work::put_notify, 2, at(10), {}, immediate, bytes_of(n));
    one.ended(id, at(20), outcome);
    return id;
  }
};

TEST_F(checking, an_empty_history_is_clean) { EXPECT_TRUE(judge().clean()); }

TEST_F(checking, an_orderly_exchange_is_clean) {
  put(7, 1);
  put(7, 2);
  two.notified(1, at(30), 7, bytes_of(2));
  two.notified(1, at(31), 7, bytes_of(1));
  EXPECT_TRUE(judge().clean());
}

TEST_F(checking, a_lost_completion_is_found) {
  one.posted(work::put, 2, at(1), {});
  expect_only(property::lost_completion, judge());
}
TEST_F(checking, a_killed_process_need_not_end_its_operations) {
  one.posted(work::put, 2, at(1), {});
  EXPECT_TRUE(judge(false).clean());
}

TEST_F(checking, a_double_completion_is_found) {
  const auto id = one.posted(work::put, 2, at(1), {});
  one.ended(id, at(2), errc::ok);
  one.ended(id, at(3), errc::peer_lost);
  expect_only(property::double_end, judge());
}
TEST_F(checking, a_completion_without_a_post_is_found) {
  one.ended(99, at(3), errc::ok);
  expect_only(property::double_end, judge());
}

TEST_F(checking, a_notification_before_its_bytes_is_found) {
  put(7, 1);
  two.notified(1, at(30), 7, bytes_of(0));
  expect_only(property::notification_before_bytes, judge());
}
TEST_F(checking, a_double_notification_is_found) {
  put(7, 1);
  two.notified(1, at(30), 7, bytes_of(1));
  two.notified(1, at(31), 7, bytes_of(1));
  expect_only(property::double_notification, judge());
}
TEST_F(checking, a_notification_without_a_sender_is_found) {
  two.notified(1, at(30), 8);
  expect_only(property::double_notification, judge());
}
TEST_F(checking, a_lost_notification_is_found) {
  put(7, 1);
  expect_only(property::lost_notification, judge());
}
TEST_F(checking, a_failed_put_may_have_notified_or_not) {
  put(7, 1, errc::peer_lost);
  put(8, 1, errc::deadline);
  two.notified(1, at(30), 8, bytes_of(1));
  EXPECT_TRUE(judge().clean());
}
TEST_F(checking, a_killed_target_need_not_have_been_notified) {
  put(7, 1);
  EXPECT_TRUE(judge(true, false).clean());
}

TEST_F(checking, a_wait_past_its_deadline_is_found) {
  const auto id = one.posted(work::get, 2, at(0), at(1'000));
  one.ended(id, at(60'000'000), errc::ok);
  expect_only(property::forgotten_deadline, judge());
}
TEST_F(checking, slack_after_a_deadline_is_granted) {
  const auto id = one.posted(work::get, 2, at(0), at(1'000));
  one.ended(id, at(40'000'000), errc::deadline);
  EXPECT_TRUE(judge().clean());
}
TEST_F(checking, an_endless_wait_is_found) {
  one.posted(work::wait, 0, at(0), at(1'000));
  expect_only(property::forgotten_deadline, judge());
}
TEST_F(checking, an_operation_of_a_hung_process_is_found) {
  one.posted(work::get, 2, at(0), at(1'000));
  one.key_issued(at(100'000'000), 1);  // the process ran on past the deadline
  expect_only(property::forgotten_deadline, judge(false));
}

TEST_F(checking, a_reused_key_is_found) {
  one.key_issued(at(1), 5);
  one.key_issued(at(2), 6);
  two.key_issued(at(2), 5);  // another process may have the same key
  one.key_issued(at(3), 5);
  expect_only(property::reused_key, judge());
}
TEST_F(checking, a_skipped_bound_check_is_found) {
  one.guard(at(1), 3, bytes_of(0), bytes_of(0));
  one.guard(at(2), 3, bytes_of(0), bytes_of(1));
  expect_only(property::skipped_bound_check, judge());
}

TEST_F(checking, missing_bytes_are_found) {
  const auto id = one.posted(work::put, 2, at(1), {});
  one.ended(id, at(2), errc::ok);
  one.acknowledged(id, at(2), bytes_of(1), bytes_of(1));
  one.acknowledged(id, at(3), bytes_of(1), bytes_of(0));
  expect_only(property::missing_bytes, judge());
}

TEST_F(checking, success_after_peer_lost_is_found) {
  const auto id = one.posted(work::put, 2, at(1), {});
  one.peer_lost(2, at(2));
  one.ended(id, at(3), errc::ok);
  expect_only(property::success_after_peer_lost, judge());
}
TEST_F(checking, other_peers_are_not_lost) {
  const auto id = one.posted(work::put, 3, at(1), {});
  one.peer_lost(2, at(2));
  one.ended(id, at(3), errc::ok);
  EXPECT_TRUE(judge().clean());
}

TEST_F(checking, messages_are_counted_and_compared) {
  for (const std::uint64_t n : {1U, 2U, 3U})
    one.ended(one.posted(work::send, 2, at(1), {}, n, bytes_of(static_cast<int>(n))), at(2), errc::ok);
  two.received(1, at(3), 2, bytes_of(2));
  two.received(1, at(3), 2, bytes_of(2));
  two.received(1, at(3), 3, bytes_of(9));
  const verdict said = judge();
  EXPECT_EQ(said.violations.size(), 3U) << said.text();
  EXPECT_TRUE(said.names(property::lost_message));
  EXPECT_TRUE(said.names(property::double_message));
  EXPECT_TRUE(said.names(property::corrupt_message));
}

TEST_F(checking, counters_are_exact) {
  two.counter_start(at(0), 4, 100);
  for (const std::uint64_t old : {100U, 105U, 110U})
    one.ended(one.posted(work::fetch_add, 2, at(1), {}, 5, 4U), at(2), errc::ok, old);
  two.counter_end(at(9), 4, 115);
  EXPECT_TRUE(judge().clean());
}
TEST_F(checking, an_inexact_sum_is_found) {
  two.counter_start(at(0), 4, 0);
  one.ended(one.posted(work::fetch_add, 2, at(1), {}, 5, 4U), at(2), errc::ok, 0);
  two.counter_end(at(9), 4, 4);
  expect_only(property::inexact_sum, judge());
}
TEST_F(checking, a_sum_above_all_additions_is_found) {
  one.ended(one.posted(work::fetch_add, 2, at(1), {}, 5, 4U), at(2), errc::ok, 0);
  two.counter_end(at(9), 4, 6);
  expect_only(property::inexact_sum, judge());
}
TEST_F(checking, an_addition_that_failed_may_count_or_not) {
  one.ended(one.posted(work::fetch_add, 2, at(1), {}, 5, 4U), at(2), errc::peer_lost);
  one.posted(work::fetch_add, 2, at(1), {}, 7, 4U);
  two.counter_end(at(9), 4, 5);
  EXPECT_TRUE(judge(false).clean());
}
TEST_F(checking, an_addition_that_failed_and_did_not_count_is_clean) {
  one.ended(one.posted(work::fetch_add, 2, at(1), {}, 5, 4U), at(2), errc::peer_lost);
  two.counter_end(at(9), 4, 0);
  EXPECT_TRUE(judge().clean());
}
TEST_F(checking, a_repeated_old_value_is_found) {
  one.ended(one.posted(work::fetch_add, 2, at(1), {}, 5, 4U), at(2), errc::ok, 0);
  one.ended(one.posted(work::fetch_add, 2, at(1), {}, 5, 4U), at(2), errc::ok, 0);
  expect_only(property::repeated_old_value, judge());
}

TEST_F(checking, a_verdict_names_the_property_and_the_record) {
  put(7, 1);
  const verdict said = judge();
  EXPECT_NE(
      said.text().find("lost_notification: process 1, posted at 10 ns: 7 from process 1 to process 2 came 0 times"),
      std::string::npos)
      << said.text();
}

}  // namespace
}  // namespace weft::history
