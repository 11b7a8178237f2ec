// SPDX-License-Identifier: Apache-2.0
//
// What every row's loopback can do: messages, writes, notifications, reads, refusals, each as the row has it.
#include "test_side.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace weft::test {
namespace {

template <class Row>
class exchange : public testing::Test {};
using rows = testing::Types<silent_refusal, consuming, unordered, counting, deathless>;
TYPED_TEST_SUITE(exchange, rows);

static_assert(port<loopback::port<shape_of<silent_refusal>>> && port<loopback::port<shape_of<consuming>>> &&
              port<loopback::port<shape_of<unordered>>> && port<loopback::port<shape_of<counting>>> &&
              port<loopback::port<shape_of<deathless>>>);

TYPED_TEST(exchange, messages_arrive_unchanged_with_their_immediate) {
  using side = test_side<TypeParam>;
  loopback::world w(3);
  const auto text = pattern(100);
  const auto run = converse<TypeParam>(
      w,
      [&](side& me) {
        ASSERT_TRUE(me.until([&] { return me.received.size() == 40; }));
        for (std::size_t i = 0; i < 40; ++i) {
          EXPECT_EQ(me.received[i].length, i);
          EXPECT_EQ(me.messages[i],
                    std::vector<std::byte>(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i)));
          EXPECT_EQ(me.received[i].immediate, side::shape::framed ? 0 : 1000 + i);
        }
        ASSERT_TRUE(me.say(text, 5));
        ASSERT_TRUE(me.until([&] { return me.ended.size() == 1; }));
      },
      [&](side& me) {
        for (std::uint32_t i = 0; i < 40; ++i) {
          ASSERT_TRUE(me.say(const_bytes(text).first(i), 1000 + i));
          ASSERT_TRUE(me.until([&] { return me.ended.size() == i + 1; }));
        }
        ASSERT_TRUE(me.until([&] { return !me.messages.empty(); }));
        EXPECT_EQ(me.messages[0], text);
      });
  EXPECT_TRUE(run) << run.sentence;
}

TYPED_TEST(exchange, a_write_changes_its_target_bytes_and_no_others) {
  using side = test_side<TypeParam>;
  loopback::world w(4);
  side* server = nullptr;
  const auto text = pattern(64);
  const auto run = converse<TypeParam>(
      w,
      [&](side& me) {
        server = &me;
        EXPECT_TRUE(me.until([&] { return std::memcmp(me.home().data() + 96, text.data(), 64) == 0; }, 100ms) ||
                    !side::shape::facts.delivery_complete);
        me.idle(1ms);
        for (std::size_t i = 0; i < side::region_size; ++i)
          EXPECT_TRUE((i >= 96 && i < 160) || me.home()[i] == std::byte{}) << i;
      },
      [&](side& me) {
        ASSERT_TRUE(me.until([&] { return server != nullptr; }));
        std::copy(text.begin(), text.end(), me.staging.begin());
        ASSERT_TRUE(me.insist([&] {
          return me.net->template write<post_mode::signalled>(me.link, me.staged(0, 64), server->spot(96), nullptr);
        }));
        ASSERT_TRUE(me.until([&] { return me.ended.size() == 1; }));
        EXPECT_TRUE(me.ended[0].outcome);
        me.idle(200us);
      });
  EXPECT_TRUE(run) << run.sentence;
}

TYPED_TEST(exchange, a_notification_arrives_once_after_its_bytes) {
  using side = test_side<TypeParam>;
  if constexpr (!side::shape::write_immediate) {
    GTEST_SKIP() << TypeParam::name << ": write_immediate_bytes is 0";
  } else {
    loopback::faults trouble;
    trouble.loss = 0.1;
    trouble.reorder = 0.5;
    trouble.tear = 0.5;
    loopback::world w(5, trouble);
    side* server = nullptr;
    constexpr std::size_t count = 60;
    const auto run = converse<TypeParam>(
        w,
        [&](side& me) {
          server = &me;
          std::size_t checked = 0;
          ASSERT_TRUE(me.until(
              [&] {
                for (; checked < me.landed.size(); ++checked) {
                  const std::size_t n = me.landed[checked].immediate;
                  const auto should = pattern(16, static_cast<unsigned>(n));
                  EXPECT_EQ(std::memcmp(me.home().data() + n * 16, should.data(), 16), 0) << n;
                  EXPECT_EQ(me.landed[checked].context != nullptr, side::shape::receive_reserve);
                }
                return checked == count;
              },
              10s));
          std::array<int, count> seen{};
          for (const auto& each : me.landed) ++seen[each.immediate];
          for (const int each : seen) EXPECT_EQ(each, 1);
        },
        [&](side& me) {
          ASSERT_TRUE(me.until([&] { return server != nullptr; }));
          for (std::size_t i = 0; i < count; ++i) {
            const auto text = pattern(16, static_cast<unsigned>(i));
            std::copy(text.begin(), text.end(), me.staging.begin() + static_cast<std::ptrdiff_t>(i * 16));
            ASSERT_TRUE(me.insist([&] {
              return me.net->template write_immediate<post_mode::signalled>(
                  me.link, me.staged(i * 16, 16), server->spot(i * 16), 0xabc00000000 + i, nullptr);
            }));
          }
          ASSERT_TRUE(me.until([&] { return me.ended.size() == count; }));
          me.idle(50ms);
        });
    EXPECT_TRUE(run) << run.sentence;
  }
}

TYPED_TEST(exchange, a_read_returns_the_bytes) {
  using side = test_side<TypeParam>;
  loopback::world w(6);
  side* server = nullptr;
  bool over = false;
  const auto text = pattern(200);
  const auto run = converse<TypeParam>(
      w,
      [&](side& me) {
        std::copy(text.begin(), text.end(), me.home().begin() + 32);
        server = &me;
        ASSERT_TRUE(me.until([&] { return over; }));
      },
      [&](side& me) {
        ASSERT_TRUE(me.until([&] { return server != nullptr; }));
        ASSERT_TRUE(me.insist([&] { return me.net->read(me.link, me.staged(0, 200), server->spot(32), nullptr); }));
        ASSERT_TRUE(me.until([&] { return me.ended.size() == 1; }));
        EXPECT_EQ(std::memcmp(me.staging.data(), text.data(), 200), 0);
        over = true;
      });
  EXPECT_TRUE(run) << run.sentence;
}

TYPED_TEST(exchange, a_refused_access_changes_nothing_and_fails_as_the_row_says) {
  using side = test_side<TypeParam>;
  constexpr bool reported = side::shape::facts.refused_write == refusal::reported;
  constexpr bool hidden = side::shape::facts.refused_write == refusal::hidden;
  loopback::world w(7);
  side* server = nullptr;
  bool over = false;
  const auto run = converse<TypeParam>(
      w,
      [&](side& me) {
        server = &me;
        ASSERT_TRUE(me.until([&] { return over; }));
        EXPECT_EQ(me.net->refused(), side::shape::delivery_complete ? 5U : 3U);
        for (const std::byte each : me.memory) ASSERT_EQ(each, std::byte{});
      },
      [&](side& me) {
        ASSERT_TRUE(me.until([&] { return server != nullptr; }));
        me.staging[0] = std::byte{1};
        remote_memory wrong_key = server->spot(0);
        wrong_key.key ^= 0x5a;
        remote_memory other_form = server->spot(0);
        other_form.address ^= reinterpret_cast<std::uintptr_t>(server->region.base);
        const auto put = [&]<post_mode M>(remote_memory to) {
          me.ended.clear();
          ASSERT_TRUE(me.insist([&] { return me.net->template write<M>(me.link, me.staged(0, 8), to, nullptr); }));
          ASSERT_TRUE(me.until([&] { return me.ended.size() == 1; }));
          EXPECT_EQ(bool(me.ended[0].outcome), hidden || (M == post_mode::signalled && !reported));
          me.idle(100us);
        };
        put.template operator()<post_mode::signalled>(wrong_key);
        put.template operator()<post_mode::signalled>(server->spot(side::region_size - 7));
        put.template operator()<post_mode::signalled>(other_form);
        if constexpr (side::shape::delivery_complete) {
          put.template operator()<post_mode::delivered>(wrong_key);
          put.template operator()<post_mode::delivered>(server->spot(side::region_size - 7));
        }
        over = true;
      });
  EXPECT_TRUE(run) << run.sentence;
}

TYPED_TEST(exchange, atomics_are_exact) {
  using side = test_side<TypeParam>;
  if constexpr (!side::shape::native_atomics) {
    GTEST_SKIP() << TypeParam::name << ": atomics is none";
  } else {
    loopback::world w(8);
    side* server = nullptr;
    bool over = false;
    const auto run = converse<TypeParam>(
        w,
        [&](side& me) {
          server = &me;
          ASSERT_TRUE(me.until([&] { return over; }));
          std::uint64_t sum = 0;
          std::memcpy(&sum, me.home().data(), 8);
          EXPECT_EQ(sum, 42U);
        },
        [&](side& me) {
          ASSERT_TRUE(me.until([&] { return server != nullptr; }));
          auto* old = reinterpret_cast<std::uint64_t*>(me.staging.data());
          for (std::uint64_t i = 0; i < 6; ++i) {
            ASSERT_TRUE(me.insist([&] {
              return me.net->fetch_add(me.link, 3, old, me.staging_held.descriptor, server->spot(0), nullptr);
            }));
            ASSERT_TRUE(me.until([&] { return me.ended.size() == i + 1; }));
            EXPECT_EQ(old[0], 3 * i);
          }
          for (const std::uint64_t expected : {17U, 18U}) {
            me.ended.clear();
            ASSERT_TRUE(me.insist([&] {
              return me.net->compare_swap(me.link, expected, 42, old, me.staging_held.descriptor, server->spot(0),
                                          nullptr);
            }));
            ASSERT_TRUE(me.until([&] { return me.ended.size() == 1; }));
            EXPECT_EQ(old[0], 18U);
          }
          over = true;
        });
    EXPECT_TRUE(run) << run.sentence;
  }
}

TEST(exchange_counter, counts_plain_writes) {
  using side = test_side<counting>;
  loopback::world w(9);
  side* server = nullptr;
  const auto run = converse<counting>(
      w,
      [&](side& me) {
        server = &me;
        ASSERT_TRUE(me.until([&] { return me.net->counted_writes() == 12; }));
      },
      [&](side& me) {
        ASSERT_TRUE(me.until([&] { return server != nullptr; }));
        for (int i = 0; i < 12; ++i)
          ASSERT_TRUE(me.insist([&] {
            return me.net->write<post_mode::unsignalled>(me.link, me.staged(0, 8), server->spot(0), nullptr);
          }));
        me.idle(1ms);
        EXPECT_TRUE(me.ended.empty());
      });
  EXPECT_TRUE(run) << run.sentence;
}

}  // namespace
}  // namespace weft::test
