// SPDX-License-Identifier: Apache-2.0
//
// Each fault of a simulated world does what it says, and no more than the row permits.
#include "test_side.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace weft::test {
namespace {

struct order_seen {
  bool messages_in_order = true;
  bool writes_before_messages = true;
  bool writes_in_order = true;
};

/// Writes i, sends i, for a while. Returns what the target sees of the order.
template <class Row>
order_seen watch_order(std::uint64_t seed, const loopback::faults& trouble) {
  using side = test_side<Row>;
  loopback::world w(seed, trouble);
  side* server = nullptr;
  order_seen seen;
  constexpr std::uint32_t count = 80;
  const auto run = converse<Row>(
      w,
      [&](side& me) {
        server = &me;
        std::size_t looked = 0;
        EXPECT_TRUE(me.until(
            [&] {
              for (; looked < me.messages.size(); ++looked) {
                std::uint32_t said = 0;
                std::memcpy(&said, me.messages[looked].data(), 4);
                seen.messages_in_order = seen.messages_in_order && said == looked;
                seen.writes_before_messages = seen.writes_before_messages && me.home()[said] == std::byte{1};
                bool gap = false;
                for (std::uint32_t i = 0; i < count; ++i) {
                  if (gap && me.home()[i] != std::byte{}) seen.writes_in_order = false;
                  gap = gap || me.home()[i] == std::byte{};
                }
              }
              return looked == count;
            },
            20s));
      },
      [&](side& me) {
        EXPECT_TRUE(me.until([&] { return server != nullptr; }));
        me.staging[1024] = std::byte{1};
        for (std::uint32_t i = 0; i < count; ++i) {
          std::memcpy(me.staging.data() + 4 * i, &i, 4);
          EXPECT_TRUE(me.insist([&] {
            return me.net->template write<post_mode::signalled>(me.link, me.staged(1024, 1), server->spot(i), nullptr);
          }));
          EXPECT_TRUE(me.insist(
              [&] { return me.net->template send<post_mode::signalled>(me.link, me.staged(4 * i, 4), 0, nullptr); }));
        }
        EXPECT_TRUE(me.until([&] { return me.ended.size() == 2 * count; }, 20s));
        me.idle(100ms);
      });
  EXPECT_TRUE(run) << run.sentence;
  return seen;
}

TEST(faults, reordering_keeps_the_orders_that_the_row_promises) {
  loopback::faults trouble;
  trouble.reorder = 1;
  trouble.loss = 0.1;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const order_seen kept = watch_order<consuming>(seed, trouble);
    EXPECT_TRUE(kept.messages_in_order && kept.writes_before_messages && kept.writes_in_order);
  }
  order_seen broken = watch_order<unordered>(1, trouble);
  EXPECT_FALSE(broken.messages_in_order);
  EXPECT_FALSE(broken.writes_before_messages);
  EXPECT_FALSE(broken.writes_in_order);
}

TEST(faults, without_faults_everything_is_in_order) {
  const order_seen kept = watch_order<unordered>(1, {});
  EXPECT_TRUE(kept.messages_in_order && kept.writes_before_messages && kept.writes_in_order);
}

/// One-way messages under raw faults. Returns how often each number arrived.
std::vector<int> count_messages(std::uint64_t seed, const loopback::faults& trouble) {
  loopback::world w(seed, trouble);
  std::vector<int> came(200);
  const auto run = converse<silent_refusal>(
      w,
      [&](auto& me) {
        me.idle(50ms);
        for (const auto& each : me.received)
          if (each.outcome) ++came[each.immediate];
      },
      [&](auto& me) {
        for (std::uint32_t i = 0; i < 200; ++i) EXPECT_TRUE(me.say(pattern(9), i));
        EXPECT_TRUE(me.until([&] { return me.ended.size() == 200; }));
        for (const auto& each : me.ended) EXPECT_TRUE(each.outcome);
        me.idle(60ms);
      });
  EXPECT_TRUE(run) << run.sentence;
  return came;
}

TEST(faults, packet_loss_only_delays) {
  loopback::faults trouble;
  trouble.loss = 0.3;
  const auto came = count_messages(1, trouble);
  EXPECT_TRUE(std::all_of(came.begin(), came.end(), [](int n) { return n == 1; }));
}

TEST(faults, raw_loss_and_duplication_show_at_the_receiver_alone) {
  loopback::faults trouble;
  trouble.raw_loss = 0.2;
  trouble.raw_duplication = 0.2;
  const auto came = count_messages(2, trouble);
  EXPECT_GT(std::count(came.begin(), came.end(), 0), 10);
  EXPECT_GT(std::count(came.begin(), came.end(), 2), 10);
  EXPECT_EQ(*std::max_element(came.begin(), came.end()), 2);
}

TEST(faults, raw_faults_of_immediates_keep_the_bytes) {
  using side = test_side<silent_refusal>;
  loopback::faults trouble;
  trouble.raw_loss = 0.3;
  trouble.raw_duplication = 0.3;
  loopback::world w(3, trouble);
  side* server = nullptr;
  const auto run = converse<silent_refusal>(
      w,
      [&](side& me) {
        server = &me;
        me.idle(20ms);
        for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(me.home()[i], std::byte{1}) << i;
        std::array<int, 100> came{};
        for (const auto& each : me.landed) ++came[each.immediate];
        EXPECT_GT(std::count(came.begin(), came.end(), 0), 5);
        EXPECT_GT(std::count(came.begin(), came.end(), 2), 5);
      },
      [&](side& me) {
        EXPECT_TRUE(me.until([&] { return server != nullptr; }));
        me.staging[0] = std::byte{1};
        for (std::size_t i = 0; i < 100; ++i)
          EXPECT_TRUE(me.insist([&] {
            return me.net->write_immediate<post_mode::signalled>(me.link, me.staged(0, 1), server->spot(i), i, nullptr);
          }));
        me.idle(30ms);
      });
  EXPECT_TRUE(run) << run.sentence;
}

TEST(faults, queue_full_faults_come_in_bursts_and_end) {
  loopback::faults trouble;
  trouble.full_queue = 0.2;
  loopback::world w(4, trouble);
  int full = 0;
  const auto run = converse<silent_refusal>(
      w, [](auto& me) { EXPECT_TRUE(me.until([&] { return me.messages.size() == 50; }, 10s)); },
      [&](auto& me) {
        for (int i = 0; i < 50;) {
          const status said = me.net->template send<post_mode::signalled>(me.link, me.staged(0, 4), 0, nullptr);
          if (said) ++i;
          if (said.is_again()) {
            EXPECT_EQ(said.waits_for(), waits_for::queue);
            ++full;
            me.turn();
          }
        }
        me.idle(10ms);
      });
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_GT(full, 50);
}

TEST(faults, a_paused_node_stops_and_then_continues) {
  loopback::world w(5);
  duration longest{};
  w.after(1ms, [&] { w.pause("server", 30ms); });
  const auto run = converse<silent_refusal>(
      w,
      [&](auto& me) {
        for (instant last = me.net->now(), end = last + 50ms; last < end;) {
          me.turn();
          longest = std::max(longest, me.net->now() - last);
          last = me.net->now();
        }
        EXPECT_EQ(me.messages.size(), 1U);
      },
      [](auto& me) {
        loopback::sleep_for(10ms);
        EXPECT_TRUE(me.say(pattern(5), 1));
        me.idle(60ms);
      });
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_GE(longest, 29ms);
}

TEST(faults, no_packet_passes_a_cut_and_all_arrive_in_order_after_it) {
  loopback::world w(6);
  const auto run = converse<silent_refusal>(
      w,
      [&](auto& me) {
        me.idle(20ms);
        EXPECT_TRUE(me.messages.empty());
        EXPECT_FALSE(me.lost);
        w.heal("client", "server");
        EXPECT_TRUE(me.until([&] { return me.messages.size() == 8; }));
        for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(me.received[i].immediate, i);
      },
      [&](auto& me) {
        w.cut("server", "client");
        for (std::uint32_t i = 0; i < 8; ++i) EXPECT_TRUE(me.say(pattern(5), i));
        me.idle(40ms);
      });
  EXPECT_TRUE(run) << run.sentence;
}

TEST(faults, a_wait_across_a_cut_ends_at_its_deadline) {
  loopback::world w(7);
  const auto run = converse<consuming>(
      w, [](auto& me) { me.idle(100ms); },
      [&](auto& me) {
        w.cut("server", "client");
        EXPECT_TRUE(me.insist([&] { return me.net->read(me.link, me.staged(0, 8), {0, 1}, nullptr); }));
        EXPECT_FALSE(me.until([&] { return !me.ended.empty(); }, 50ms));
      });
  EXPECT_TRUE(run) << run.sentence;
}

TEST(faults, death_at_any_packet_never_hangs_the_survivor) {
  for (std::uint64_t n = 1; n <= 24; ++n) {
    loopback::faults trouble;
    trouble.crash_at_packet = n;
    loopback::world w(n, trouble);
    bool survived = false;
    const auto run = converse<silent_refusal>(
        w,
        [&](auto& me) {
          EXPECT_TRUE(me.until([&] { return me.lost; }, 5s)) << n;
          EXPECT_LE(me.messages.size(), n - 1);
          survived = true;
        },
        [](auto& me) {
          for (std::uint32_t i = 0; i < 30; ++i) (void)me.say(pattern(4), i);
          ADD_FAILURE() << "the client survived its crash";
        });
    EXPECT_TRUE(run) << run.sentence;
    EXPECT_TRUE(survived);
  }
}

}  // namespace
}  // namespace weft::test
