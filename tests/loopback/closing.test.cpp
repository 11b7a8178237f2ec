// SPDX-License-Identifier: Apache-2.0
//
// close() right after accept(), while the queue takes no post: the accept is still unsent. The caller learns that it
// was accepted and that the connection was closed. It never learns of a rejection.
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;

struct answers {
  int connected = 0;
  int closed = 0;
  int others = 0;
};

/// One caller and one listener that accepts and closes at once. Each post begins a burst of a full queue with
/// probability 0.7; a burst lasts 300 us.
template <class Leave>
answers accept_and_leave(std::uint64_t seed, Leave leave) {
  loopback::faults trouble;
  trouble.full_queue = 0.7;
  trouble.full_queue_time = 300us;
  loopback::world w(seed, trouble);
  answers seen;
  bool over = false;
  w.spawn("listener", [&] {
    auto net = std::make_unique<transport<fabric>>(open<fabric>({.node = "listener", .service = "7471"}).value());
    peer asked;
    const auto on = overloaded{[&](const requested& r) { asked = r.peer; }, [](auto&&) {}};
    EXPECT_TRUE(net->until([&] { return bool(asked); }, 10s, on));
    EXPECT_TRUE(net->accept(asked));
    leave(net, asked, on);
    while (!over) {
      if (net) net->progress(on);
      loopback::sleep_for(10us);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<fabric>({}).value();
    const auto on =
        overloaded{[&](const connected&) { ++seen.connected; },
                   [&](const lost& l) { ++(l.why.code == errc::closed ? seen.closed : seen.others); }, [](auto&&) {}};
    EXPECT_TRUE(net.start_connect("listener:7471"));
    EXPECT_TRUE(net.until([&] { return seen.closed + seen.others != 0; }, 10s, on));
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
  return seen;
}

void expect_accepted_then_closed(const answers& seen, std::uint64_t seed) {
  EXPECT_EQ(seen.connected, 1) << "seed " << seed;
  EXPECT_EQ(seen.closed, 1) << "seed " << seed;
  EXPECT_EQ(seen.others, 0) << "seed " << seed << ": a rejection, or a loss";
}

TEST(close_right_after_accept, with_a_full_queue_is_no_rejection) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    expect_accepted_then_closed(
        accept_and_leave(seed, [](auto& net, const peer& p, auto& on) { EXPECT_TRUE(net->close(p, 1s, on)); }), seed);
}

TEST(close_right_after_accept, by_the_end_of_the_transport_is_no_rejection) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    expect_accepted_then_closed(accept_and_leave(seed, [](auto& net, const peer&, auto&) { net.reset(); }), seed);
}

}  // namespace
}  // namespace weft
