// SPDX-License-Identifier: Apache-2.0
//
// Connected endpoints of the libfabric backend: refused connects, the limit of links, and no leak after a link is gone.
#include "libfabric_shapes.hpp"
#include "peer.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cerrno>
#include <cstring>
#include <vector>

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

/// A connection of a program that knows nothing of the library's protocol. It says `said`.
int stranger_to(const address_bytes& address, std::string_view said) {
  sockaddr_in to{};
  std::memcpy(&to, address.data(), sizeof to);
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  EXPECT_EQ(::send(made, said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
  return made;
}

/// Strangers connect, say this, and leave. The listener gives their descriptors back without an honest caller.
void keeps_no_descriptor_of_strangers_that_say(std::string_view said) {
  port_options options;
  options.node = "127.0.0.1";
  options.listens = true;
  auto listener = port_of<tcp_shape>::open(options).value();
  const auto step = [&] {
    errno = EAGAIN;  // as after any call that found nothing
    listener->poll_links([](link_change, std::uint32_t, auto) { return no_tag; });
    listener->poll([](const completion_entry&) {});
  };
  const std::size_t before = open_descriptors();
  std::vector<int> strangers;
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(stranger_to(listener->address(), said));
    step();
  }
  for (int i = 0; i < 200; ++i) step();
  for (const int each : strangers) ::close(each);
  for (int i = 0; i < 2000 && open_descriptors() > before; ++i) step();
  EXPECT_LE(open_descriptors(), before);
}
TEST(libfabric_port_connected, silent_strangers_that_left_keep_no_descriptor) {
  keeps_no_descriptor_of_strangers_that_say("");
}
TEST(libfabric_port_connected, strangers_that_left_after_one_byte_keep_no_descriptor) {
  keeps_no_descriptor_of_strangers_that_say("w");
}

TEST(libfabric_port_connected, a_host_has_one_number_whatever_its_port) {
  const auto four = [](const char* text, std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    EXPECT_EQ(inet_pton(AF_INET, text, &at.sin_addr), 1);
    const auto* first = reinterpret_cast<const std::byte*>(&at);
    return backends::libfabric::host_number(address_bytes(first, first + sizeof at));
  };
  const auto six = [](const char* text) {
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    EXPECT_EQ(inet_pton(AF_INET6, text, &at.sin6_addr), 1);
    const auto* first = reinterpret_cast<const std::byte*>(&at);
    return backends::libfabric::host_number(address_bytes(first, first + sizeof at));
  };
  EXPECT_EQ(four("10.0.0.1", 1), four("10.0.0.1", 2));
  EXPECT_NE(four("10.0.0.1", 1), four("10.0.0.2", 1));
  EXPECT_NE(four("0.0.0.0", 1), 0U);
  EXPECT_EQ(six("::ffff:10.0.0.1"), four("10.0.0.1", 7));
  EXPECT_EQ(six("2001:db8::1"), six("2001:db8::2")) << "a host has as many addresses of its network as it wants";
  EXPECT_NE(six("2001:db8::1"), six("2001:db8:0:1::1"));
  EXPECT_NE(six("::1"), 0U);
  EXPECT_EQ(backends::libfabric::host_number(address_bytes(5)), 0U);
}

}  // namespace
}  // namespace weft::testing
