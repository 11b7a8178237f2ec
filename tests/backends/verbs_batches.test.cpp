// SPDX-License-Identifier: Apache-2.0
//
// Batches of a transport over a device of this process (tests/stub_device). Members are built in the list that is
// posted, and one call takes up to 16. Whatever closes the list early, each member is posted once and completes once.
#include "../../compose/transport.hpp"
#include "../../compose/with.hpp"
#include "../stub_device/stub_device.hpp"
#include "../stub_device/tested_row.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

namespace weft {
namespace {
using fabric = stub_device::tested_row;
constexpr bool whole = stub_device::extended;  // the device takes built work completely or not at all
static_assert(detail::lists_members<detail::engine<fabric>>);
static_assert(!detail::lists_members<detail::engine<with<fabric, answers::notify::message_after_ordered_write>>>);

class verbs_batches : public testing::Test {
 protected:
  static constexpr std::uint32_t operations = 64;
  transport<fabric> there = open(true), net = open(false);
  owned_region landing = there.allocate(65536, rights::all).value(), source = net.allocate(65536, rights::none).value();
  peer other;
  remote_place place;
  std::map<void*, std::vector<errc>> ends;
  std::uint64_t notices = 0, messages = 0;
  char marks[128] = {};

  static transport<fabric> open(bool listens) {
    return weft::open<fabric>({.node = "127.0.0.1",
                               .listens = listens,
                               .max_message_bytes = 1024,
                               .receives = 128,
                               .operations = operations})
        .value();
  }
  void SetUp() override {
    bool stands = false;
    const auto accept = overloaded{[&](const requested& r) { ASSERT_TRUE(there.accept(r.peer)); }, [](auto&&) {}};
    other = net.start_connect(there.listen_address()).value();
    for (int i = 0; i < 1000 && !stands; ++i) {
      there.progress(accept);
      net.progress(overloaded{[&](const connected&) { stands = true; }, [](auto&&) {}});
    }
    ASSERT_TRUE(stands);
    settle();
    place = net.parse_region(there.export_region(landing)).value().at(0);
    stub_device::forget();
  }
  void TearDown() override { stub_device::forget(); }
  void settle() {
    for (int i = 0; i < 40; ++i) {
      there.progress(
          overloaded{[&](const notified&) { ++notices; }, [&](const received&) { ++messages; }, [](auto&&) {}});
      net.progress(overloaded{[&](const completed& c) { ends[c.context].push_back(errc::ok); },
                              [&](const failed& f) { ends[f.context].push_back(f.why.code); }, [](auto&&) {}});
    }
  }
  std::uint64_t word(std::size_t at) const {
    std::uint64_t read = 0;
    std::memcpy(&read, landing.data() + at, sizeof read);
    return read;
  }
  void expect_one_end(const void* of, errc how) {
    const auto& reported = ends[const_cast<void*>(of)];  // NOLINT(cppcoreguidelines-pro-type-const-cast): a key
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_EQ(reported[0], how);
  }
};

TEST_F(verbs_batches, members_of_every_kind_are_one_call_with_one_signal) {
  auto b = net.batch(other);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(b.put(source.first(8), place));
    ASSERT_TRUE(b.put_notify(source.first(8), place, 1));
    ASSERT_TRUE(b.send(source.first(8)));
  }
  EXPECT_EQ(stub_device::seen().doorbells, 0U);
  EXPECT_EQ(b.posted(), 11U);
  ASSERT_TRUE(b.close(marks));
  EXPECT_EQ(stub_device::seen().doorbells, 1U);
  EXPECT_EQ(stub_device::seen().longest, 12U);
  EXPECT_EQ(stub_device::seen().signalled, 1U);
  EXPECT_EQ(b.posted(), 12U);
  settle();
  expect_one_end(marks, errc::ok);
  EXPECT_EQ(notices, 4U);
  EXPECT_EQ(messages, 4U);
  EXPECT_EQ(net.in_flight(), 0U);
}

TEST_F(verbs_batches, longer_batches_are_one_call_for_each_16_members) {
  auto b = net.batch(other);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(b.put(source.first(8), place));
  ASSERT_TRUE(b.close());
  EXPECT_EQ(stub_device::seen().doorbells, 3U);
  EXPECT_EQ(stub_device::seen().requests, 40U);
  EXPECT_GE(stub_device::seen().signalled, 1U) << "the queue drains by itself";
}

TEST_F(verbs_batches, fetch_adds_complete_one_by_one_and_a_last_one_completes_the_batch) {
  auto b = net.batch(other);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(b.fetch_add(place, 2, &marks[i]));
  EXPECT_EQ(b.close(marks + 9).code, errc::invalid);
  ASSERT_TRUE(b.close());
  EXPECT_EQ(stub_device::seen().doorbells, 1U);
  settle();
  for (int i = 0; i < 5; ++i) expect_one_end(&marks[i], errc::ok);
  EXPECT_EQ(word(0), 10U);
}

TEST_F(verbs_batches, other_posts_follow_the_batch_and_the_batch_still_completes) {
  auto b = net.batch(other);
  ASSERT_TRUE(b.put(source.first(8), place));
  ASSERT_TRUE(net.put_notify(other, source.first(8), place, 3, marks));
  EXPECT_EQ(stub_device::seen().doorbells, 2U);
  EXPECT_EQ(b.posted(), 1U);
  ASSERT_TRUE(b.close(marks + 1));
  settle();
  expect_one_end(marks, errc::ok);
  expect_one_end(marks + 1, errc::ok);
}

TEST_F(verbs_batches, a_second_batch_posts_the_first) {
  auto one = net.batch(other);
  auto two = net.batch(other);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(one.put(source.first(8), place));
    ASSERT_TRUE(two.put_notify(source.first(8), place, 5));
  }
  auto heir = std::move(two);
  ASSERT_TRUE(heir.put(source.first(8), place));
  ASSERT_TRUE(one.close(marks));
  ASSERT_TRUE(heir.close(marks + 1));
  settle();
  EXPECT_EQ(stub_device::seen().requests, 13U + 2U)
      << "and a write of no bytes for each: its last member was posted already";
  EXPECT_EQ(notices, 6U);
  expect_one_end(marks, errc::ok);
  expect_one_end(marks + 1, errc::ok);
}

TEST_F(verbs_batches, a_full_queue_refuses_one_member_and_posts_the_others) {
  int taken = 0;
  {
    auto b = net.batch(other);
    status s;
    for (; taken < 1000 && (s = b.put(source.first(8), place)); ++taken) {
    }
    EXPECT_EQ(s.waits_for(), waits_for::queue);
    EXPECT_EQ(stub_device::seen().requests, static_cast<unsigned>(taken));
    settle();
    ASSERT_TRUE(b.put(source.first(8), place));
  }
  EXPECT_EQ(stub_device::seen().requests, static_cast<unsigned>(taken) + 1);
}

TEST_F(verbs_batches, a_driver_that_takes_part_of_a_list_breaks_the_batch_and_each_signalled_member_ends) {
  {
    auto b = net.batch(other);
    ASSERT_TRUE(b.put(source.first(8), place));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(b.fetch_add(place, 1, &marks[i]));
    ASSERT_TRUE(b.put(source.first(8), place));
    stub_device::refuse_post(EINVAL, 2);
    EXPECT_EQ(b.close(marks + 9).code, errc::invalid);
    EXPECT_EQ(b.posted(), whole ? 0U : 2U);
    EXPECT_FALSE(b.is_open());
  }
  settle();
  expect_one_end(&marks[0], whole ? errc::invalid : errc::ok);
  expect_one_end(&marks[1], errc::invalid);
  expect_one_end(&marks[2], errc::invalid);
  EXPECT_TRUE(ends[marks + 9].empty()) << "close() reported it";
  EXPECT_EQ(net.in_flight(), 0U);
  ASSERT_TRUE(net.put(other, source.first(8), place, marks + 10));
  settle();
  expect_one_end(marks + 10, errc::ok);
}

TEST_F(verbs_batches, a_refusal_after_the_call_is_reported_without_a_context) {
  {
    auto b = net.batch(other);
    ASSERT_TRUE(b.put(source.first(8), place));
    stub_device::refuse_post(EINVAL);
    ASSERT_TRUE(net.put(other, source.first(8), place, marks));
  }
  settle();
  expect_one_end(marks, errc::ok);
  expect_one_end(nullptr, errc::invalid);
}

TEST_F(verbs_batches, a_member_larger_than_the_largest_write_keeps_its_place) {
  constexpr std::size_t large = fabric::facts.largest_write + 8;
  owned_region much = net.allocate(large, rights::none).value(), room = there.allocate(large, rights::all).value();
  const remote_place far = net.parse_region(there.export_region(room)).value().at(0);
  std::memset(much.data(), 7, large);
  auto b = net.batch(other);
  ASSERT_TRUE(b.put(source.first(8), place));
  EXPECT_EQ(b.put(much.first(large), place).code, errc::out_of_range);
  ASSERT_TRUE(b.put(much.first(large), far));
  ASSERT_TRUE(b.put_notify(source.first(8), place, 1));
  ASSERT_TRUE(b.put_notify(much.first(large), far, 1));
  EXPECT_EQ(b.posted(), 3U);
  ASSERT_TRUE(b.close(marks));
  settle();
  expect_one_end(marks, errc::ok);
  EXPECT_EQ(std::to_integer<int>(room.data()[large - 1]), 7);
  EXPECT_EQ(notices, 2U);
}
}  // namespace
}  // namespace weft
