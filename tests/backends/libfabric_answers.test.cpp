// SPDX-License-Identifier: Apache-2.0
//
// Behaviour of the libfabric backend that depends on the row: framing, every operation signalled, two queues, virtual
// addresses, counters of remote writes, settings. Then what rxd does with datagrams of others (docs/limitations.md):
// weft cannot mend that, and a test that fails there says that the library does it better now.
#include "libfabric_shapes.hpp"
#include "peer.hpp"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace weft::testing {
namespace {

TEST(libfabric_port_answers, framed_messages_begin_with_their_header) {
  initiator<framed_shape> self;
  ASSERT_EQ(self.meet(), "");
  for (const char* text : {"E", "Eh", "E a longer one"}) {
    ASSERT_TRUE(self.say(text, 1));
    const auto echo = self.hear();
    EXPECT_EQ(echo.body, text);
    EXPECT_EQ(echo.immediate, 0u);
  }
  EXPECT_TRUE(self.part());
}

TEST(libfabric_port_answers, unsignalled_completions_are_dropped_without_selective_completion) {
  initiator<every_operation_shape> self;
  ASSERT_EQ(self.meet(), "");
  const local_memory from = self.staged("E", 1);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(self.post([&] { return self.port->send<post_mode::unsignalled>(self.peer, from, 5, token(1)); }));
    ASSERT_TRUE(
        self.post([&] { return self.port->write<post_mode::unsignalled>(self.peer, from, self.there, token(2)); }));
    ASSERT_TRUE(
        self.post([&] { return self.port->write<post_mode::signalled>(self.peer, from, self.there, token(3)); }));
    ASSERT_TRUE(self.end_of(token(3)));
    ASSERT_EQ(self.hear().body, "E");
  }
  EXPECT_TRUE(self.ended.empty());
  EXPECT_TRUE(self.part());
}

/// The descriptor of two queues: a completion wakes it, a received message wakes it, and an error is found in either
/// queue.
TEST(libfabric_port_answers, each_of_two_queues_wakes_the_descriptor_and_reports_its_errors) {
  initiator<two_queues_shape> self;
  ASSERT_EQ(self.meet(true), "");
  const auto wakes = [&] {
    pollfd of{self.port->descriptor(), POLLIN, 0};
    return ::poll(&of, 1, 10'000) == 1;
  };
  const local_memory from = self.staged("E", 1);
  ASSERT_TRUE(self.post([&] { return self.port->send<post_mode::signalled>(self.peer, from, 5, token(1)); }));
  EXPECT_TRUE(wakes());
  ASSERT_TRUE(self.end_of(token(1)));
  EXPECT_EQ(self.hear().body, "E");
  self.target.kill_now();
  ASSERT_TRUE(self.pump_until([&] { return self.lost; }));
  const status s = self.port->send<post_mode::signalled>(self.peer, from, 5, token(2));
  EXPECT_EQ((s ? self.end_of(token(2), 3s) : s).code, errc::peer_lost);
}

TEST(libfabric_port_answers, a_failed_unsignalled_operation_reports_its_context) {
  initiator<tcp_shape> self;
  ASSERT_EQ(self.meet(), "");
  self.target.kill_now();
  ASSERT_TRUE(self.pump_until([&] { return self.lost; }));
  const local_memory from = self.staged("E", 1);
  const status s = self.port->send<post_mode::unsignalled>(self.peer, from, 5, token(1));
  const status end = s ? self.end_of(token(1), 3s) : s;
  EXPECT_EQ(end.code, errc::peer_lost) << end.native_code;
}

TEST(libfabric_port_answers, virtual_addresses_are_used_where_the_row_says_so) {
  initiator<shm_pointer_shape> self;
  ASSERT_EQ(self.meet(), "");
  ASSERT_NE(self.there.address, 0u);
  const local_memory from = self.staged("by pointer", 10);
  ASSERT_TRUE(self.post([&] {
    return self.port->write<post_mode::delivered>(self.peer, from, {self.there.address + 5, self.there.key}, token(1));
  }));
  ASSERT_TRUE(self.end_of(token(1)));
  ASSERT_TRUE(self.say("L5"));
  EXPECT_EQ(self.hear().body.substr(0, 10), "by pointer");
  const status s = self.post([&] {
    return self.port->write<post_mode::signalled>(self.peer, from, {self.there.address, self.there.key + 1}, token(2));
  });
  const status end = s ? self.end_of(token(2), 1s) : s;
  std::printf("[ observed ] shm, virtual addresses: wrong key, signalled: %s (%d)\n", end ? "success" : "error",
              end.native_code);
  EXPECT_TRUE(self.part());
}

template <class Shape>
void count_landed_writes() {
  initiator<Shape> self;
  ASSERT_EQ(self.meet(), "");
  const local_memory from = self.staged("plain", 5);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(self.post(
        [&] { return self.port->template write<post_mode::delivered>(self.peer, from, self.there, token(1)); }));
    ASSERT_TRUE(self.end_of(token(1)));
  }
  ASSERT_TRUE(self.say("C"));
  EXPECT_EQ(self.hear().body, "12");
  EXPECT_TRUE(self.part());
}
TEST(libfabric_port_answers, a_remote_counter_counts_plain_writes_on_sockets) {
  count_landed_writes<counting_sockets_shape>();
}
TEST(libfabric_port_answers, a_remote_counter_counts_plain_writes_on_shm) { count_landed_writes<counting_shm_shape>(); }

TEST(libfabric_port_attests, the_users_environment_wins_over_the_row) {
  setenv("WEFT_TEST_SET", "user", 1);
  unsetenv("WEFT_TEST_UNSET");
  ASSERT_TRUE(port_of<environment_shape>::open({}));
  EXPECT_STREQ(getenv("WEFT_TEST_SET"), "user");
  EXPECT_STREQ(getenv("WEFT_TEST_UNSET"), "row");
}

sockaddr_in socket_of(const address_bytes& address) {
  sockaddr_in at{};
  std::memcpy(&at, address.data(), sizeof at);
  return at;
}

/// Says hello to the target from this port, or from any. Whether an answer came.
bool is_answered(const target_process& target, const std::string& service, std::string& used) {
  side<udp_rxd_shape> self;
  port_options options;
  options.node = "127.0.0.1";
  options.service = service;
  EXPECT_EQ(self.open(options), "");
  self.peer = self.port->dial(target.address(), 7).value();
  used = std::to_string(ntohs(socket_of(self.port->address()).sin_port));
  std::string hello = "H";
  for (const std::byte each : self.port->address()) hello += static_cast<char>(each);
  return self.say(hello, 0, 2s) && self.hear(2s).body.size() == sizeof(region_card);
}

TEST(libfabric_port_datagrams, of_a_later_process_at_a_used_port_get_no_answer) {
  const target_process target("udp_rxd", "127.0.0.1");
  std::string used, again;
  ASSERT_TRUE(is_answered(target, "", used));
  EXPECT_FALSE(is_answered(target, used, again));
  EXPECT_EQ(again, used);
  EXPECT_TRUE(is_answered(target, "", again)) << "from another port";
}

TEST(libfabric_port_datagrams, that_name_an_unknown_peer_end_the_process) {
  target_process target("udp_rxd", "127.0.0.1");
  const sockaddr_in to = socket_of(target.address());
  std::array<std::byte, 128> packet{};  // the base header of rxd: version, type, flags, the peer's number
  packet[0] = std::byte{2};
  packet[4] = std::byte{7};
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::sendto(socket, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), 128);
  close(socket);
  siginfo_t how{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(target.id()), &how, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(how.si_code == CLD_KILLED && how.si_status == SIGALRM) << "it served until its own limit";
  EXPECT_NE(target.join(), 0);
}

}  // namespace
}  // namespace weft::testing
