// SPDX-License-Identifier: Apache-2.0
//
// A row whose library loses messages when its queue is full. The messages in flight stay below the queue's depth,
// whatever the program asks for, and each message has an end.
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <array>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

struct losing : fabrics::loopback {
  static constexpr std::string_view name = "losing";
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.full_queue = full_queue::loses;
    f.queue_depth = 64;
    return f;
  }();
};
static_assert(transport<losing>::inject_bytes == 0, "an injected message has no end");
static_assert(transport<losing>::put_inject_bytes == transport<fabrics::loopback>::put_inject_bytes);
static_assert(transport<fabrics::loopback>::inject_bytes > 0);

TEST(full_queue, messages_in_flight_stay_below_the_depth_of_a_queue_that_loses_them) {
  static constexpr std::uint32_t count = 200;
  loopback::world w(3);
  std::uint32_t came = 0;
  w.spawn("listener", [&] {
    auto net = open<losing>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto on = overloaded{[&](const received& m) {
                                 EXPECT_EQ(std::to_integer<std::uint32_t>(m.message[0]), came);
                                 ++came;
                               },
                               [](const auto&) {}};
    (void)net.accept_one(5s, on).value();
    EXPECT_TRUE(net.until([&] { return came == count; }, 60s, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<losing>({.sleeps = true, .operations = 4096}).value();
    const auto on = overloaded{[](auto&&) {}};
    const peer to = net.connect("listener:7471", 5s, on).value();
    auto memory = net.allocate(count, rights::none).value();
    std::uint32_t taken = 0;
    const auto say = [&] {
      memory.data()[taken] = static_cast<std::byte>(taken);
      const status s = net.send(to, memory.slice(taken, 1));
      taken += std::uint32_t{static_cast<bool>(s)};
      return s;
    };
    while (say()) ASSERT_LT(taken, losing::facts.queue_depth) << "the library would lose the next message";
    EXPECT_EQ(taken, losing::facts.queue_depth / 2);
    EXPECT_EQ(net.in_flight(), taken);
    while (taken < count)
      if (!say()) net.progress(on);
    EXPECT_TRUE(net.until([&] { return came == count && net.in_flight() == 0; }, 60s, on));
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

}  // namespace
}  // namespace weft
