// SPDX-License-Identifier: Apache-2.0
//
// Connected endpoints of the libfabric backend: refused connects, the limit of links, and no leak after a link is gone.
#include "libfabric_shapes.hpp"
#include "peer.hpp"

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

/// A connect to a port where nobody listens.
template <class Shape>
address_bytes nobody() {
  port_options options;
  options.node = "127.0.0.1";
  options.listens = true;
  return port_of<Shape>::open(options).value()->address();
}

TEST(libfabric_port_connected, connecting_where_nobody_listens_is_refused_by_the_deadline) {
  const address_bytes gone = nobody<tcp_shape>();
  side<tcp_shape> self;
  ASSERT_EQ(self.open({}), "");
  auto dialled = self.port->dial(gone, 1);
  if (!dialled) {
    EXPECT_EQ(dialled.why().code, errc::unreachable) << dialled.error().sentence;
    return;
  }
  self.peer = *dialled;
  EXPECT_TRUE(self.pump_until([&] { return self.refused; }));
  EXPECT_FALSE(self.established);
  self.port->hang_up(self.peer);
}

TEST(libfabric_port_connected, a_handler_without_a_tag_rejects) {
  port_options options;
  options.node = "127.0.0.1";
  options.listens = true;
  auto listener = port_of<tcp_shape>::open(options).value();
  side<tcp_shape> self;
  ASSERT_EQ(self.open({}), "");
  self.peer = self.port->dial(listener->address(), 1).value();
  int asked = 0;
  EXPECT_TRUE(self.pump_until([&] {
    listener->poll_links([&](link_change change, std::uint32_t, auto) {
      asked += change == link_change::arrived;
      return no_tag;
    });
    return self.refused || self.established;
  }));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(self.refused);
}

TEST(libfabric_port_connected, a_port_refuses_more_connections_than_its_limit) {
  port_options options;
  options.node = "127.0.0.1";
  options.listens = true;
  options.links = 1;
  auto listener = port_of<tcp_shape>::open(options).value();
  side<tcp_shape> first, second;
  ASSERT_EQ(first.open({}), "");
  ASSERT_EQ(second.open({}), "");
  const auto listen = [&] { listener->poll_links([](link_change, std::uint32_t, auto) { return 1u; }); };
  first.peer = first.port->dial(listener->address(), 1).value();
  EXPECT_TRUE(first.pump_until([&] {
    listen();
    return first.established;
  }));
  second.peer = second.port->dial(listener->address(), 1).value();
  EXPECT_TRUE(second.pump_until([&] {
    listen();
    return second.refused;
  }));
  EXPECT_FALSE(second.established);
}

TEST(libfabric_port_connected, opened_and_closed_connections_leave_nothing_behind) {
  port_options options;
  options.node = "127.0.0.1";
  options.listens = true;
  options.sleeps = true;
  auto listener = port_of<tcp_shape>::open(options).value();
  auto caller = port_of<tcp_shape>::open({}).value();
  std::size_t before = 0;
  for (int i = 0; i < 300; ++i) {
    if (i == 20) before = open_descriptors();
    auto dialled = caller->dial(listener->address(), 1);
    ASSERT_TRUE(dialled) << i << ": " << dialled.error().sentence;
    port_of<tcp_shape>::link far{};
    bool established = false, lost = false;
    const auto step = [&] {
      caller->poll([](const completion_entry&) {});
      listener->poll([](const completion_entry&) {});
      caller->poll_links([&](link_change change, std::uint32_t tag, auto) {
        established |= change == link_change::established && tag == 1;
        return 0u;
      });
      listener->poll_links([&](link_change change, std::uint32_t tag, auto at) {
        if (change == link_change::arrived) far = at;
        lost |= change == link_change::lost && tag == 5;
        return 5u;
      });
    };
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!established && std::chrono::steady_clock::now() < end) step();
    ASSERT_TRUE(established) << i;
    caller->hang_up(*dialled);
    EXPECT_EQ(dialled->endpoint, nullptr);
    while (!lost && std::chrono::steady_clock::now() < end) step();
    ASSERT_TRUE(lost) << i;
    listener->hang_up(far);
  }
  EXPECT_LE(open_descriptors(), before);
}

}  // namespace
}  // namespace weft::testing
