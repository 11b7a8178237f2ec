// SPDX-License-Identifier: Apache-2.0
//
// A listener for socket streams whose process has no descriptor left. Hot path: no. Threads: one.
#include "../../../backends/streams/connections.hpp"
#include "../out_of_descriptors.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::backends::streams {
namespace {

TEST(a_listener_without_descriptors, turns_a_caller_away_and_sleeps) {
  port_options options;
  options.node = "127.0.0.1";
  options.links = 4;
  connections caller(options, 16, "caller");
  ASSERT_TRUE(caller.open(options));
  options.listens = true;
  connections listener(options, 16, "listener");
  ASSERT_TRUE(listener.open(options));
  listener.prepare_sleep();
  ASSERT_TRUE(caller.dial(listener.address(), 7));
  EXPECT_TRUE(would_wake(listener.events(), 10'000)) << "the kernel connects";
  {
    const out_of_descriptors now;
    listener.poll();
    EXPECT_FALSE(would_wake(listener.events())) << "the caller stays in the queue, and no sleep is one";
  }
  std::vector<link_change> heard;
  for (int i = 0; i < 100'000 && heard.empty(); ++i) heard = changes_in(caller);
  EXPECT_EQ(heard, std::vector{link_change::refused});
}

}  // namespace
}  // namespace weft::backends::streams
