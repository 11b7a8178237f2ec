// SPDX-License-Identifier: Apache-2.0
//
// Threads that put operations into one queue, over mapped memory: each operation is posted once, in its thread's order,
// and ends once; a full queue and a refused post are said.
#include "../../threads/submission_queue.hpp"
#include "../../compose/transport.hpp"
#include "../../core/describe.hpp"
#include "../../generated/mapped.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace {
using namespace weft;
using fabric = fabrics::mapped;

class submissions : public testing::Test {
 protected:
  void SetUp() override {
    std::jthread accepting([this] { far_peer_ = target_.accept_one(10s).value(); });
    peer_ = net_.connect(target_.listen_address(), 10s).value();
    accepting.join();
    place_ = net_.parse_region(peer_, target_.export_region(far_peer_, landing_, owner_polls)).value();
  }

  transport<fabric> target_ = open<fabric>({.node = "127.0.0.1", .listens = true}).value();
  transport<fabric> net_ = open<fabric>({.node = "127.0.0.1", .sleeps = true}).value();
  owned_region landing_ = target_.allocate(4096, rights::all).value();
  owned_region source_ = net_.allocate(64, rights::none).value();
  peer peer_, far_peer_;
  remote_region place_;
};

constexpr std::uint32_t workers = 4, each = 5'000;

TEST_F(submissions, of_each_thread_are_posted_in_its_order_and_end_once) {
  submission_queue queue(256);
  std::atomic<bool> over = false;
  std::array<std::uint32_t, workers> seen{};
  bool ordered = true;
  std::jthread far([&] {
    while (!over)
      if (target_.progress(overloaded{[&](const notified& n) {
                                        std::uint32_t& next = seen.at(n.immediate >> 16U);
                                        ordered &= (n.immediate & 0xffffU) == next++;
                                      },
                                      [](auto&&) {}}) == 0)
        std::this_thread::yield();
  });
  std::array<std::array<std::uint32_t, each>, workers> ends{};
  std::vector<std::jthread> crew;
  for (std::uint32_t w = 0; w < workers; ++w)
    crew.emplace_back([&, w] {
      for (std::uint32_t i = 0; i < each; ++i)
        while (!queue.put_notify(peer_, {source_.data(), 8}, place_.at(8 * w), w << 16U | i, &ends[w][i]))
          std::this_thread::yield();
    });
  std::uint32_t ended = 0;
  const auto on = overloaded{[&](const completed& c) { ++ended, ++*static_cast<std::uint32_t*>(c.context); },
                             [](const failed& f) { ADD_FAILURE() << describe(f.why); }, [](auto&&) {}};
  while (ended < workers * each && !HasFailure())
    if (queue.progress(net_, on) == 0) queue.wait(net_, 10s);
  for (std::jthread& one : crew) one.join();
  ASSERT_TRUE(net_.until([&] { return net_.in_flight() == 0; }, 10s, on));
  const auto all_seen = [&] { return seen == std::array<std::uint32_t, workers>{each, each, each, each}; };
  for (int i = 0; i < 5000 && !all_seen(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  over = true;
  far.join();
  EXPECT_TRUE(all_seen() && ordered);
  for (const auto& one : ends)
    for (const std::uint32_t times : one) ASSERT_EQ(times, 1U);
}

TEST_F(submissions, beyond_the_capacity_are_refused) {
  submission_queue queue(3);
  int taken = 0;
  while (queue.put(peer_, {source_.data(), 8}, place_.at(0)) && taken < 100) ++taken;
  EXPECT_EQ(taken, 3);
  bool room = false;
  for (int i = 0; i < 10'000 && !room; ++i) {
    (void)queue.progress(net_, [](auto&&) {});
    (void)target_.progress([](auto&&) {});
    room = queue.put(peer_, {source_.data(), 8}, place_.at(0));
  }
  EXPECT_TRUE(room);
}

TEST_F(submissions, that_the_transport_refuses_fail_with_their_context) {
  submission_queue queue(8);
  int context = 0;
  ASSERT_TRUE(queue.put(peer_, {source_.data(), 8}, place_.at(4090), &context));
  std::vector<failed> refused;
  for (int i = 0; i < 10'000 && refused.empty(); ++i) {
    (void)queue.progress(net_, overloaded{[&](const failed& f) { refused.push_back(f); }, [](auto&&) {}});
    (void)target_.progress([](auto&&) {});
  }
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_TRUE(refused[0].context == &context && refused[0].what == operation::put &&
              refused[0].why.code == errc::out_of_range);
}

}  // namespace
