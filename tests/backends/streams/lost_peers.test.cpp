// SPDX-License-Identifier: Apache-2.0
//
// A port of stream sockets whose peers leave while operations are outstanding. Each lost operation gives its place back
// once: later peers find as many places as the first one did, and what they answer ends. A test is every peer, and
// speaks the frames by plain sockets. Hot path: no. Threads: one.
#include "peers_by_socket.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weft::backends::streams {
namespace {

class lost_peers : public testing::Test {
 protected:
  port_by_socket own{16};
  std::vector<std::byte> memory = std::vector<std::byte>(std::size_t{1} << 20U);
  local_memory all = {memory.data(), memory.size(), nullptr};
  local_memory eight = {memory.data(), 8, nullptr};
  int context = 0;

  /// Reads and writes that all ends of the port have room for. The peers answer none.
  std::size_t places() {
    std::vector<met_peer> silent;
    std::size_t taken = 0;
    for (int i = 0; i < 3; ++i) {  // the window of one peer is smaller than the table
      silent.push_back(own.meet());
      while (own->read(silent.back().link, eight, {0, 1}, &context)) ++taken;
      while (own->template write<post_mode::signalled>(silent.back().link, eight, {0, 1}, &context)) ++taken;
    }
    for (met_peer& each : silent) own->hang_up(each.link);
    return taken;
  }
  /// Between its sockets there is less room than `all` has bytes.
  met_peer meet_narrowly() {
    met_peer made = own.meet();
    const int few = 16384;
    ::setsockopt(made.link.held->socket_number, SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
    ::setsockopt(made.socket.get(), SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
    return made;
  }
  /// Outstanding operations of each kind: sent, sent in part, and waiting behind that.
  void post_to(met_peer& peer) {
    EXPECT_TRUE(own->template write<post_mode::signalled>(peer.link, eight, {0, 1}, &context));
    EXPECT_TRUE(own->template write<post_mode::unsignalled>(peer.link, eight, {0, 1}, &context));
    EXPECT_TRUE(own->template send<post_mode::delivered>(peer.link, eight, 0, &context));
    EXPECT_TRUE(own->template send<post_mode::signalled>(peer.link, eight, 0, &context)) << "ends at once";
    EXPECT_TRUE(own->read(peer.link, eight, {0, 1}, &context));
    EXPECT_TRUE(own->template send<post_mode::signalled>(peer.link, all, 0, &context));
    EXPECT_TRUE(peer.link.held->out.is_partial());
    EXPECT_TRUE(own->template send<post_mode::signalled>(peer.link, eight, 0, &context));
    EXPECT_TRUE(own->template send<post_mode::unsignalled>(peer.link, eight, 0, &context));
    EXPECT_TRUE(own->template write<post_mode::signalled>(peer.link, all, {0, 1}, &context));
    EXPECT_TRUE(own->read(peer.link, eight, {0, 1}, &context));
  }
};

TEST_F(lost_peers, give_every_place_back_once) {
  const std::size_t before = places();
  ASSERT_GE(before, 256U);
  EXPECT_EQ(places(), before) << "hung up by this side";
  for (std::size_t i = 0; i < before / 4; ++i) {  // each takes 7 places
    met_peer peer = meet_narrowly();
    post_to(peer);
    switch (i % 5) {
      case 0:  // it leaves, and the transport hears of it
        peer.socket = {};
        EXPECT_TRUE(own.hears_the_loss_of(peer));
        break;
      case 1:  // it leaves, and the transport hangs up before it hears of it
        peer.socket = {};
        EXPECT_TRUE(own.until([&] { return !peer.link.held->is_up(); }, false));
        break;
      case 2:  // it lies: its link ends
        peer.say({frame_kind::acknowledgement, false, 100});
        EXPECT_TRUE(own.hears_the_loss_of(peer));
        break;
      case 3: {  // it refuses a write, takes the message behind it, and leaves
        const std::size_t heard = own.ends.size();
        peer.say({frame_kind::refusal, false, 1, 0, static_cast<std::uint64_t>(errc::denied)});
        peer.say({frame_kind::refusal, false, 2, 0, static_cast<std::uint64_t>(errc::denied)});
        peer.say({frame_kind::acknowledgement, false, 3});
        EXPECT_TRUE(own.until([&] { return own.ends.size() == heard + 4; }));
        peer.socket = {};
        EXPECT_TRUE(own.hears_the_loss_of(peer));
        break;
      }
      default:  // the transport hangs up while the peer is there
        break;
    }
    own->hang_up(peer.link);
    own.poll();
  }
  own.poll_until_quiet();
  EXPECT_EQ(places(), before);

  met_peer last = own.meet();
  own.ends.clear();
  EXPECT_TRUE(own->template write<post_mode::signalled>(last.link, eight, {0, 1}, &memory[0]));
  EXPECT_TRUE(own->read(last.link, {&memory[8], 8, nullptr}, {0, 1}, &memory[1]));
  EXPECT_TRUE(own->template send<post_mode::signalled>(last.link, eight, 0, &memory[2]));
  last.say({frame_kind::read_reply, false, 2, 8}, "answered");
  EXPECT_TRUE(own.until([&] { return own.ends.size() == 3; }));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(std::count_if(own.ends.begin(), own.ends.end(),
                            [&](const completion_entry& e) { return e.context == &memory[i] && e.outcome; }),
              1)
        << i;
  EXPECT_EQ(std::memcmp(&memory[8], "answered", 8), 0);
}

TEST_F(lost_peers, keep_no_place_of_a_message_that_was_sent_in_parts) {
  const std::size_t before = places();
  for (int i = 0; i < 3; ++i) {
    met_peer peer = meet_narrowly();
    own.ends.clear();
    EXPECT_TRUE(own->template send<post_mode::signalled>(peer.link, all, 0, &context));
    EXPECT_TRUE(peer.link.held->out.is_partial());
    std::vector<std::byte> some(65536);
    EXPECT_TRUE(own.until([&] {
      (void)::recv(peer.socket.get(), some.data(), some.size(), MSG_DONTWAIT);
      return own.ends.size() == 1;
    }));
    own->hang_up(peer.link);
    own.poll();
  }
  EXPECT_EQ(places(), before);
}

/// Two callers come between two polls, and there is one place. Who was offered and refused is named to the transport:
/// otherwise it would keep a link that is gone.
TEST(callers_beyond_the_links, are_reported_as_refused) {
  using port_type = port_by_socket::port_type;
  const auto own = port_type::open({.node = "127.0.0.1", .listens = true, .links = 1}).value();
  const auto to = socket_address::of(own->address());
  std::vector<owned_socket> callers;
  for (int i = 0; i < 2; ++i) {
    const owned_socket& one = callers.emplace_back(::socket(to->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(one.get(), to->get(), to->size), 0);
    const auto said = hello{64}.bytes();
    ASSERT_EQ(::send(one.get(), said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
  }
  std::vector<std::uint32_t> arrived, established, refused;
  const auto follow = [&](link_change change, std::uint32_t tag, link_handle link) -> std::uint32_t {
    if (change == link_change::established) established.push_back(tag);
    if (change == link_change::refused) {
      refused.push_back(tag);
      own->hang_up(link);
    }
    if (change != link_change::arrived) return no_tag;
    arrived.push_back(static_cast<std::uint32_t>(arrived.size()) + 1);
    return arrived.back();
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((arrived.size() < 2 || established.empty()) && std::chrono::steady_clock::now() < end) {
    own->poll([](const auto&...) {});
    own->poll_links(follow);
  }
  EXPECT_EQ(refused, std::vector<std::uint32_t>{1});
  EXPECT_EQ(established, std::vector<std::uint32_t>{2});
  EXPECT_EQ(arrived.size(), 2U);
}

}  // namespace
}  // namespace weft::backends::streams
