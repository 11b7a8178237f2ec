// SPDX-License-Identifier: Apache-2.0
//
// transport_options::silence_limit under each answer of the liveness family, in virtual time: a peer that is stopped or
// unreachable is lost by the limit, and not before. Without a limit only heartbeat rows have one. Hot path: no.
// Threads: one.
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

constexpr duration limit = 200ms;

/// A caller with a silence limit, and a listener with options of its own that makes progress until the end.
template <class Row>
class meeting {
 public:
  explicit meeting(std::uint64_t seed) : world(seed) {}

  loopback::world world;
  std::uint32_t losses = 0;
  std::uint32_t losses_of_listener = 0;
  std::string reason;

  /// Runs `body(net)` on the caller as soon as the two are connected.
  template <class Body>
  void run(const transport_options& callers, Body body) {
    world.serve("listener", [this] {
      auto net = open<Row>({.node = "listener", .service = "7471", .sleeps = true, .silence_limit = patient()}).value();
      const auto on = overloaded{[&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); },
                                 [&](const lost&) { ++losses_of_listener; }, [](auto&&) {}};
      (void)net.until([] { return false; }, 1h, on);
    });
    world.spawn("caller", [callers, body] {
      loopback::sleep_for(1ms);
      auto net = open<Row>(callers).value();
      ASSERT_TRUE(net.connect("listener:7471", 1s));
      body(net);
    });
    const auto outcome = world.run(30min);
    EXPECT_TRUE(outcome) << outcome.sentence;
  }
  /// The limit of the listener: as good as none.
  static constexpr duration patient() {
    if (answer<Row, liveness_family>::speaks) return 1h;
    return {};
  }
  /// The caller makes progress for `span`, or until it loses its peer.
  void pass(transport<Row>& net, duration span) {
    const auto on = overloaded{[&](const lost&) {
                                 ++losses;
                                 reason = net.reason();
                               },
                               [](auto&&) {}};
    (void)net.until([this] { return losses != 0; }, span, on);
  }
};

constexpr transport_options limited() { return {.sleeps = true, .silence_limit = limit}; }

template <class Row>
class silence : public testing::Test {};
using rows = testing::Types<with<fabrics::loopback, answers::liveness::provider>,
                            with<fabrics::loopback, answers::liveness::process>,
                            with<fabrics::loopback, answers::liveness::heartbeat>>;
TYPED_TEST_SUITE(silence, rows);

TYPED_TEST(silence, of_a_stopped_peer_is_its_loss_by_the_limit) {
  meeting<TypeParam> m(1);
  m.run(limited(), [&](auto& net) {
    m.pass(net, 1s);
    const instant before = net.now();
    m.world.pause("listener", 10s);
    m.pass(net, 5s);
    EXPECT_EQ(m.losses, 1U);
    EXPECT_GE(net.now() - before, limit / 2) << "the last heartbeat is at most a quarter of the limit old";
    EXPECT_LE(net.now() - before, limit + limit / 4);
    EXPECT_NE(m.reason.find("silence_limit"), std::string::npos) << m.reason;
  });
}

TYPED_TEST(silence, of_half_the_limit_is_no_loss_at_any_moment) {
  meeting<TypeParam> m(2);
  m.run(limited(), [&](auto& net) {
    for (int i = 0; i < 50 && m.losses == 0; i += 3) {
      m.pass(net, limit + i * 1ms);  // another moment between two heartbeats
      m.world.pause("listener", limit / 2);
      m.pass(net, limit / 2);
    }
    m.pass(net, 1s);
    EXPECT_EQ(m.losses, 0U) << m.reason;
    EXPECT_EQ(m.losses_of_listener, 0U);
  });
}

TYPED_TEST(silence, of_a_peer_behind_a_broken_path_is_its_loss) {
  meeting<TypeParam> m(3);
  m.run(limited(), [&](auto& net) {
    m.world.cut("listener", "caller");
    m.pass(net, 5s);
    EXPECT_EQ(m.losses, 1U);
    m.world.heal("listener", "caller");
  });
}

/// This side was stopped itself: messages that arrived meanwhile are unread.
TYPED_TEST(silence, of_an_absent_owner_is_no_loss) {
  meeting<TypeParam> m(4);
  m.run(limited(), [&](auto& net) {
    m.pass(net, 1s);
    loopback::sleep_for(30s);
    m.pass(net, 1s);
    EXPECT_EQ(m.losses, 0U) << m.reason;
  });
}

TYPED_TEST(silence, without_a_limit_is_a_loss_on_heartbeat_rows_only) {
  meeting<TypeParam> m(5);
  m.run({.sleeps = true}, [&](auto& net) {
    m.world.pause("listener", 20s);
    m.pass(net, 10s);
    constexpr bool has_a_limit = answer<TypeParam, liveness_family>::speaks;
    EXPECT_EQ(m.losses, has_a_limit ? 1U : 0U);
  });
}

TEST(silence_limit, must_be_8_ms_at_least_or_0) {
  loopback::world w(6);
  w.spawn("caller", [] {
    EXPECT_TRUE(open<fabrics::loopback>({.silence_limit = 0ms}));
    EXPECT_TRUE(open<fabrics::loopback>({.silence_limit = 8ms}));
    const auto refused = open<fabrics::loopback>({.silence_limit = 7ms});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().sentence.find("silence_limit"), std::string::npos);
  });
  EXPECT_TRUE(w.run(1s));
}

}  // namespace
}  // namespace weft
