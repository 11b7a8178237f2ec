// SPDX-License-Identifier: Apache-2.0
//
// After a warm-up the loopback allocates nothing. Allocations that a test counts above it belong to the layers above.
#include "test_side.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {
std::size_t allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* at = std::malloc(size == 0 ? 1 : size); at != nullptr) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace weft::test {
namespace {

TEST(steady_state, allocates_nothing) {
  using side = test_side<consuming>;
  loopback::faults trouble;
  trouble.loss = 0.05;
  trouble.reorder = 0.2;
  trouble.full_queue = 0.01;
  loopback::world w(31, trouble);
  side* server = nullptr;
  bool over = false;
  std::size_t counted = ~std::size_t{0};
  const auto reserve = [](side& me) {
    me.ended.reserve(100'000);
    me.received.reserve(100'000);
    me.landed.reserve(100'000);
  };
  const auto run = converse<consuming>(
      w,
      [&](side& me) {
        reserve(me);
        server = &me;
        while (!over) {
          me.net->poll(
              [&](const completion_entry& reported) { me.post_receive(me.link, me.slot_of(reported.context)); });
          (void)me.net->wait(me.net->now() + 20us);
        }
      },
      [&](side& me) {
        reserve(me);
        while (server == nullptr) loopback::sleep_for(1us);
        for (std::uint32_t i = 0; i < 6'000; ++i) {
          if (i == 3'000) counted = allocations;
          ASSERT_TRUE(me.insist(
              [&] { return me.net->send<post_mode::signalled>(me.link, me.staged(0, i % 100), i, nullptr); }));
          ASSERT_TRUE(me.insist([&] {
            return me.net->write_immediate<post_mode::unsignalled>(me.link, me.staged(0, 512), server->spot(0), i,
                                                                   nullptr);
          }));
          ASSERT_TRUE(i % 8 != 7 || me.until([&] { return me.ended.size() >= i - 3; }));
        }
        counted = allocations - counted;
        over = true;
      });
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(counted, 0U);
}

}  // namespace
}  // namespace weft::test
