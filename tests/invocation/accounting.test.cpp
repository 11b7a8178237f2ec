// SPDX-License-Identifier: Apache-2.0
//
// The manager's check of an account: words, report and journal. A single wrong amount is no exact bill. An executor
// holds the journal's file, and cannot change its size.
#include <invocation/accounting.hpp>
#include <invocation/journal.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

namespace weft::invocation {
namespace {

constexpr amounts right{700, 900};
constexpr amounts wrong_amounts[]{{701, 900}, {700, 899}, {0, 0}, {900, 700}};

void set(std::array<std::atomic<std::uint64_t>, accounts>& kept, const amounts& to) {
  kept[0] = to.hot;
  kept[1] = to.execution;
}
struct journal_of_test {
  worker_journal journal;
  journal_of_test(const amounts& posted, const amounts& acknowledged) {
    set(journal.posted, posted);
    set(journal.acknowledged, acknowledged);
  }
};

TEST(invocation_accounting, a_reported_account_agrees_if_all_three_amounts_are_equal) {
  EXPECT_TRUE(agrees(right, right, journal_of_test(right, right).journal));
  for (const amounts& wrong : wrong_amounts) {
    EXPECT_FALSE(agrees(wrong, right, journal_of_test(right, right).journal)) << "the word is wrong";
    EXPECT_FALSE(agrees(right, wrong, journal_of_test(right, right).journal)) << "the report is wrong";
    EXPECT_FALSE(agrees(right, right, journal_of_test(right, wrong).journal)) << "the journal is wrong";
    EXPECT_FALSE(agrees(right, wrong, journal_of_test(wrong, wrong).journal));
  }
}

TEST(invocation_accounting, a_word_of_a_dead_worker_is_its_last_posted_or_acknowledged_amount) {
  const amounts before{600, 850};
  EXPECT_TRUE(agrees(right, journal_of_test(right, before).journal));
  EXPECT_TRUE(agrees(before, journal_of_test(right, before).journal));
  EXPECT_TRUE(agrees({right.hot, before.execution}, journal_of_test(right, before).journal)) << "words are added alone";
  for (const amounts& wrong : wrong_amounts)
    EXPECT_FALSE(agrees(wrong, journal_of_test(right, before).journal)) << wrong.hot << " " << wrong.execution;
}

TEST(invocation_journal, has_a_size_that_nobody_changes) {
  auto journal = journal_memory::make(1);
  ASSERT_TRUE(journal) << journal.error().sentence;
  for (const off_t size : {off_t{0}, off_t{1} << 20}) {
    errno = 0;
    EXPECT_EQ(::ftruncate(journal->file(), size), -1) << size;
    EXPECT_EQ(errno, EPERM) << size;
  }
  EXPECT_EQ(::fcntl(journal->file(), F_ADD_SEALS, F_SEAL_WRITE), -1) << "the workers write to it";
  EXPECT_EQ(journal->workers()[0].invocations.load(), 0U);
}

}  // namespace
}  // namespace weft::invocation
