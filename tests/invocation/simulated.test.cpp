// SPDX-License-Identifier: Apache-2.0
//
// The invocation protocol in virtual time: delays, full queues, losses and duplicates, a dying executor. Each call ends
// exactly once, in success or in a typed error, and is executed at most once. On a reliable fabric the account is
// exact. WEFT_SEEDS=n asks for more seeds; a failure names its seed.
#include "simulated.hpp"

#include <weft/compose/selected.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>

namespace weft::test {
namespace {

using fabric = over<selected, loopback::port>;

std::uint64_t seeds() {
  const char* asked = std::getenv("WEFT_SEEDS");  // NOLINT(concurrency-mt-unsafe): one thread
  return asked == nullptr ? 4 : std::strtoull(asked, nullptr, 10);
}

loopback::faults rough() {
  loopback::faults f;
  f.delay_most = duration(30'000);
  f.loss = 0.02;
  f.reorder = 0.3;
  f.tear = 0.3;
  f.full_queue = 0.01;
  f.spurious_wake = 0.05;
  f.pause = 0.0002;
  return f;
}

void judge(const run_result& r, const run_plan& plan) {
  EXPECT_TRUE(r.how) << r.how.sentence;
  EXPECT_TRUE(r.log.finished) << r.log.calls.size() << " calls ended of " << plan.calls << "; allocations "
                              << r.log.allocations << ", failed " << r.log.failed_allocations;
  EXPECT_EQ(r.left, 0U) << "allocations that the manager never released";
  for (const auto& [number, e] : r.log.calls) {
    EXPECT_EQ(e.ends, 1) << "call " << number;
    EXPECT_TRUE(e.right || e.why != trouble::none) << "call " << number << " succeeded with a wrong result";
  }
  for (const auto& [number, times] : record().times)
    EXPECT_EQ(times, 1) << "call " << number << " was executed more than once";
  for (const auto& [number, e] : r.log.calls) {
    if (e.why != trouble::none) continue;
    EXPECT_EQ(record().times[number], 1) << "call " << number << " has a result and was not executed";
  }
}

void judge_accounts(const run_result& r) {
  EXPECT_GT(r.bills, 0U);
  EXPECT_EQ(r.exact, r.bills);
  for (const bill& b : r.log.bills)
    EXPECT_TRUE(b.exact) << b.execution.count() << " billed, " << b.worker_execution.count() << " worked";
}

TEST(simulated_invocation, without_faults_every_call_succeeds_and_the_bill_is_exact) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_plan plan;
    plan.batches = 2;
    const run_result r = play<fabric>(seed, {}, plan);
    judge(r, plan);
    judge_accounts(r);
    EXPECT_EQ(r.log.count(trouble::none), plan.calls);
    EXPECT_EQ(r.bills, plan.batches) << "an allocation has one bill, after the report of its last worker";
    ASSERT_EQ(r.log.bills.size(), 2U);
    EXPECT_EQ(r.log.bills[0].invocations + r.log.bills[1].invocations, plan.calls);
    const duration worked = r.log.bills[0].execution + r.log.bills[1].execution;
    EXPECT_GE(worked, static_cast<std::int64_t>(plan.calls) * record().work);
  }
}

TEST(simulated_invocation, workers_account_for_their_polling_time) {
  run_plan plan;
  plan.calls = 60;
  plan.polling = {polling_mode::hot, 0ms};
  const run_result hot = play<fabric>(5, {}, plan);
  judge(hot, plan);
  judge_accounts(hot);
  ASSERT_EQ(hot.log.bills.size(), 1U);
  EXPECT_GT(hot.log.bills[0].hot, 0ns);
  plan.polling = {polling_mode::warm, 0ms};
  const run_result warm = play<fabric>(5, {}, plan);
  judge(warm, plan);
  ASSERT_EQ(warm.log.bills.size(), 1U);
  EXPECT_EQ(warm.log.bills[0].hot, 0ns);
}

TEST(simulated_invocation, with_faults_every_call_ends_once_and_the_bill_is_exact) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_plan plan;
    plan.polling = seed % 2 == 0 ? invocation::polling{polling_mode::hot_then_warm, 1ms}
                                 : invocation::polling{polling_mode::warm, 0ms};
    const run_result r = play<fabric>(seed, rough(), plan);
    judge(r, plan);
    judge_accounts(r);
    EXPECT_EQ(r.log.count(trouble::none), plan.calls);
  }
}

TEST(simulated_invocation, awaited_calls_end_once_each_in_order) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_plan plan;
    plan.awaited = true;
    plan.deadline = 5s;
    const run_result r = play<fabric>(seed, seed % 2 == 0 ? rough() : loopback::faults{}, plan);
    judge(r, plan);
    judge_accounts(r);
    EXPECT_EQ(r.log.count(trouble::none), plan.calls);
  }
}

TEST(simulated_invocation, a_dead_executor_ends_its_calls_in_an_error_and_another_serves) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_plan plan;
    plan.crash_after = 20 + seed * 13 % 150;
    const run_result r = play<fabric>(seed, seed % 2 == 0 ? rough() : loopback::faults{}, plan);
    judge(r, plan);
    judge_accounts(r);
    EXPECT_EQ(r.log.allocations, 2U);
    EXPECT_GT(r.log.count(trouble::executor_lost), 0U);
    EXPECT_EQ(r.log.count(trouble::none) + r.log.count(trouble::executor_lost), plan.calls);
  }
}

TEST(simulated_invocation, a_lost_manager_ends_every_outstanding_call) {
  if (!fabric::facts.reports_killed_peer)
    GTEST_SKIP() << "row " << fabric::name << ", reports_killed_peer: all calls end before silence tells of the loss";
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_plan plan;
    plan.calls = 4000;  // more than end before the loss is noticed
    plan.crash_after = 20;
    plan.manager_dies = true;
    const run_result r = play<fabric>(seed, {}, plan);
    EXPECT_TRUE(r.how) << r.how.sentence;
    for (const auto& [number, e] : r.log.calls) EXPECT_EQ(e.ends, 1) << "call " << number;
    EXPECT_GT(r.log.count(trouble::manager_lost), 0U);
    EXPECT_EQ(r.log.count(trouble::none) + r.log.count(trouble::manager_lost), r.log.calls.size())
        << "a call ended for another reason than the loss of the manager";
  }
}

/// Calls for longer than a silent manager is noticed.
run_plan asking_plan() {
  run_plan plan;
  plan.calls = 4000;
  plan.crash_after = 20;
  plan.deadline = 5s;
  plan.manager_every = 10ms;
  plan.manager_silence = 50ms;
  return plan;
}

TEST(simulated_invocation, a_manager_that_is_asked_is_lost_after_its_silence_on_every_fabric) {
  for (const bool dies : {true, false}) {
    SCOPED_TRACE(dies ? "it dies" : "it is stopped");
    run_plan plan = asking_plan();
    plan.manager_dies = dies;
    if (!dies) plan.disturbs = [](loopback::world& world) { world.pause("manager", 4 * 50ms); };
    const run_result r = play<fabric>(7, {}, plan);
    EXPECT_TRUE(r.how) << r.how.sentence;
    for (const auto& [number, e] : r.log.calls) EXPECT_EQ(e.ends, 1) << "call " << number;
    EXPECT_GT(r.log.count(trouble::manager_lost), 0U);
    EXPECT_EQ(r.log.count(trouble::none) + r.log.count(trouble::manager_lost), r.log.calls.size());
    EXPECT_LE(r.log.manager_lost - r.log.disturbed, plan.manager_silence + 2 * plan.manager_every)
        << "in virtual time, so no machine is too slow for it";
  }
}

TEST(simulated_invocation, neither_a_slow_manager_nor_an_absent_client_is_a_lost_manager) {
  for (const char* slow : {"manager", "client"}) {
    SCOPED_TRACE(slow);
    run_plan plan = asking_plan();
    const duration span = slow == std::string("client") ? 20 * plan.manager_silence : plan.manager_silence / 2;
    plan.disturbs = [slow, span](loopback::world& world) { world.pause(slow, span); };
    const run_result r = play<fabric>(7, {}, plan);
    judge(r, plan);
    judge_accounts(r);
    EXPECT_EQ(r.log.count(trouble::none), plan.calls);
  }
}

TEST(simulated_invocation, lost_or_repeated_notices_hang_no_call_and_repeat_no_call) {
  std::uint64_t late = 0;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    loopback::faults f = rough();
    f.raw_loss = 0.01;
    f.raw_duplication = 0.05;
    run_plan plan;
    plan.deadline = 100ms;
    const run_result r = play<fabric>(seed, f, plan);
    judge(r, plan);
    late += r.log.count(trouble::deadline);
  }
  EXPECT_GT(late, 0U) << "no call was lost: the test shows nothing";
}

/// A process never uses a region's key twice, so a second run in one process gets other keys. Each run gets a process.
template <class Body>
std::uint64_t in_a_process_of_its_own(Body&& body) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t process = ::fork();
  if (process == 0) {
    const std::uint64_t found = body();
    ::_exit(::write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
  }
  ::close(ends[1]);
  std::uint64_t found = 0;
  EXPECT_EQ(::read(ends[0], &found, sizeof found), static_cast<ssize_t>(sizeof found));
  ::close(ends[0]);
  int how = 0;
  EXPECT_EQ(::waitpid(process, &how, 0), process);
  EXPECT_EQ(how, 0);
  return found;
}

TEST(simulated_invocation, the_same_seed_is_the_same_run) {
  run_plan plan;
  plan.calls = 50;
  const auto trace = [&](std::uint64_t seed) {
    return in_a_process_of_its_own([&] { return play<fabric>(seed, rough(), plan).trace; });
  };
  const std::uint64_t once = trace(3);
  EXPECT_EQ(once, trace(3));
  EXPECT_NE(once, trace(4));
}

}  // namespace
}  // namespace weft::test
