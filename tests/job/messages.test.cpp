// SPDX-License-Identifier: Apache-2.0
#include "../../job/message.hpp"
#include "../../job/store_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace weft;
using namespace weft::jobs;

TEST(messages, come_back_as_they_were) {
  const message all[] = {{kind::hello, 3, 8, "job", std::string(protocol_name)},
                         {kind::put, 0, 0, std::string(longest_key, 'k'), std::string(longest_value, 'v')},
                         {kind::get, 0xffffffff, 0xffffffff, "key", ""},
                         {kind::done, 0, 0, "", ""}};
  for (const message& each : all) {
    const std::string bytes = encode(each);
    EXPECT_LE(bytes.size(), longest_message);
    const parsed back = parse(bytes + "more");
    ASSERT_EQ(back.is, parsed::state::whole);
    EXPECT_EQ(back.used, bytes.size());
    EXPECT_EQ(back.content, each);
    for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 50)
      EXPECT_EQ(parse(std::string_view(bytes).substr(0, n)).is, parsed::state::incomplete) << n;
  }
}

TEST(messages, have_one_form_and_bounded_lengths) {
  const std::string good = encode({kind::put, 1, 2, "key", "value"});
  const auto changed = [&good](std::size_t at, char to) {
    std::string bytes = good;
    bytes[at] = to;
    return parse(bytes).is;
  };
  EXPECT_EQ(changed(0, 16), parsed::state::wrong) << "shorter than the fixed part";
  EXPECT_EQ(changed(3, 1), parsed::state::wrong) << "16 MiB";
  EXPECT_EQ(changed(4, 0), parsed::state::wrong) << "kind 0";
  EXPECT_EQ(changed(4, 8), parsed::state::wrong) << "kind 8";
  EXPECT_EQ(changed(13, 4), parsed::state::wrong) << "the name has 4 bytes";
  EXPECT_EQ(changed(13, 127), parsed::state::wrong) << "the name is longer than a name may be";
  EXPECT_EQ(parse(encode({kind::put, 0, 0, std::string(longest_key + 1, 'k'), "value"})).is, parsed::state::wrong);
  EXPECT_EQ(changed(16, 127), parsed::state::wrong) << "the name is longer than the message";
  EXPECT_EQ(changed(20, 4), parsed::state::wrong) << "the value leaves a byte";
  EXPECT_EQ(changed(20, 6), parsed::state::wrong) << "the value is longer than the message";
}

TEST(store_tables, count_barriers) {
  store_table table(2);
  ASSERT_TRUE(table.enter(0));
  ASSERT_TRUE(table.enter(1));
  const auto first = table.enter_barrier(0);
  EXPECT_FALSE(table.has_passed(first));
  EXPECT_THAT(table.outside_barrier(), testing::ElementsAre(1));
  table.leave_barrier(0);
  EXPECT_EQ(table.enter_barrier(1), first);
  EXPECT_FALSE(table.has_passed(first)) << "rank 0 left the barrier again";
  table.enter_barrier(0);
  EXPECT_TRUE(table.has_passed(first));
  EXPECT_FALSE(table.has_passed(table.enter_barrier(0)));
}

TEST(store_tables, refuse_what_the_rank_may_not_do) {
  store_table table(2);
  ASSERT_TRUE(table.enter(1));
  EXPECT_EQ(table.enter(1).error().sentence,
            "two processes have rank 1 of one job: each rank needs a number of its own");
  ASSERT_TRUE(table.put(1, "key", "value"));
  EXPECT_FALSE(table.put(1, "key", "other"));
  EXPECT_EQ(*table.find(1, "key"), "value");
  EXPECT_EQ(table.find(0, "key"), nullptr);
  EXPECT_FALSE(table.put(1, "", "value"));
  EXPECT_FALSE(table.put(1, std::string(longest_key + 1, 'k'), "value"));
  EXPECT_FALSE(table.put(1, "long", std::string(longest_value + 1, 'v')));
  int puts = 0;
  while (puts < 100 && table.put(1, "n" + std::to_string(puts), std::string(longest_value, 'v'))) ++puts;
  EXPECT_EQ(puts, 15) << "16 values of 64 KiB and their keys exceed 1 MiB";
  table.end(1, presence::gone);
  EXPECT_FALSE(table.enter(1)) << "a rank that ended does not come again";
}

TEST(words, name_ranks) {
  EXPECT_EQ(ranks_in_words({3}), "rank 3");
  EXPECT_EQ(ranks_in_words({1, 2}), "ranks 1 and 2");
  EXPECT_EQ(ranks_in_words({1, 4, 5, 6, 9}), "ranks 1, 4 to 6 and 9");
  EXPECT_EQ(ranks_in_words({0, 2, 4, 6, 8, 10, 12, 14, 16, 18}), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 2 more");
  EXPECT_EQ(in_words(std::chrono::milliseconds(1500)), "1500 ms");
  EXPECT_EQ(in_words(std::chrono::seconds(30)), "30 s");
}

}  // namespace
