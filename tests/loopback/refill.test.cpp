// SPDX-License-Identifier: Apache-2.0
//
// Consumed receives are posted again together, where the library takes several by one call. The test counts calls, not
// time. And the places of receives, which decide how fast some processors copy (docs/decisions/0023).
#include <weft/compose/fabric.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/kernel_tcp.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <set>

namespace weft {
using namespace detail;  // NOLINT(google-build-using-namespace): under test
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;
using state = engine<fabric>;

TEST(refill, one_poll_refills_all_its_receives_by_one_call) {
  static constexpr std::uint32_t count = 512;
  loopback::world w(3);
  bool over = false;
  w.spawn("listener", [&] {
    auto e = opening<state>::open({.node = "listener", .service = "7471", .sleeps = true, .receives = 32}).value();
    std::uint32_t came = 0;
    auto on = overloaded{[&](const received& m) {
                           EXPECT_EQ(std::to_integer<std::uint32_t>(m.message[0]), came % 251)
                               << "a receive was posted again too early";
                           ++came;
                         },
                         [](const auto&) {}};
    ASSERT_TRUE((connect_calls<state, blocking_calls<state>>(*e).accept_one(5s, on)));
    const std::uint64_t before = e->port->receive_calls();
    while (came < count) {
      loopback::sleep_for(1ms);  // so that the queue is full at the poll
      (void)blocking_calls<state>(*e).step(on);
    }
    const std::uint64_t calls = e->port->receive_calls() - before;
    EXPECT_GT(calls, 0U);
    EXPECT_LE(calls * 8, count) << calls << " calls for " << count << " messages";
    over = true;
    orderly_close<state>(*e).close_all(250ms);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({.sleeps = true}).value();
    const auto on = overloaded{[](auto&&) {}};
    const peer to = net.connect("listener:7471", 5s, on).value();
    std::byte letter[64]{};
    for (std::uint32_t i = 0; i < count;) {
      letter[0] = static_cast<std::byte>(i % 251);
      if (net.send(to, net.memory(letter))) ++i;  // injected
      else net.progress(on);
    }
    EXPECT_TRUE(net.until([&] { return over; }, 60s, on));
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// How far behind a line messages of this row come, when a receive has no round size.
template <class F>
std::set<std::uintptr_t> behind_lines() {
  static constexpr std::uint32_t count = 100;
  loopback::world w(4);
  std::set<std::uintptr_t> places;
  std::uint32_t came = 0;
  const auto on = overloaded{[&](const received& m) {
                               places.insert(reinterpret_cast<std::uintptr_t>(m.message.data()) % 64);
                               ++came;
                             },
                             [](const auto&) {}};
  w.spawn("listener", [&] {
    auto net = open<F>({.node = "listener", .service = "7471", .max_message_bytes = 1000, .receives = 8}).value();
    ASSERT_TRUE(net.accept_one(5s, on));
    EXPECT_TRUE(net.until([&] { return came == count; }, 60s, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<F>({}).value();
    const peer to = net.connect("listener:7471", 5s, on).value();
    std::byte letter[64]{};
    for (std::uint32_t i = 0; i < count;) {
      if (net.send(to, net.memory(letter))) ++i;  // injected
      else net.progress(on);
    }
    EXPECT_TRUE(net.until([&] { return came == count; }, 60s, on));
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
  return places;
}

TEST(receives, begin_at_lines_in_memory_of_one_host) { EXPECT_EQ(behind_lines<fabric>(), std::set<std::uintptr_t>{0}); }

TEST(receives, begin_16_bytes_behind_lines_over_a_network) {
  EXPECT_EQ((behind_lines<over<fabrics::kernel_tcp, loopback::port>>()), std::set<std::uintptr_t>{16});
}

}  // namespace
}  // namespace weft
