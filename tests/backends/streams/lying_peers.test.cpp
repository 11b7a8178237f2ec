// SPDX-License-Identifier: Apache-2.0
//
// A port of stream sockets beside an established peer that lies about what it took. Only writes can be refused. A
// refused message would end again what has ended, and by then its context may belong to an operation of another peer.
// Hot path: no. Threads: one.
#include "peers_by_socket.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft::backends::streams {
namespace {

class lying_peers : public testing::Test {
 protected:
  using mode = post_mode;

  port_by_socket own{16};
  std::array<std::byte, 64> memory{};
  std::array<local_memory, 2> two{{{memory.data(), 8, nullptr}, {memory.data() + 8, 8, nullptr}}};
  remote_memory there{0, 1};
  int of_liar = 0, of_honest = 0;

  std::size_t ended(const void* context, errc how) const {
    return static_cast<std::size_t>(std::count_if(own.ends.begin(), own.ends.end(), [&](const completion_entry& e) {
      return e.context == context && e.outcome.code == how;
    }));
  }
  static frame refused(std::uint32_t counted) {
    return {frame_kind::refusal, false, counted, 0, static_cast<std::uint64_t>(errc::denied)};
  }
  /// A peer refuses a message while an operation of another peer is outstanding.
  template <class Send>
  void refuse_a_message(std::size_t ends_when_sent, Send&& send) {
    own.ends.clear();
    met_peer liar = own.meet(), honest = own.meet();
    EXPECT_TRUE(send(liar.link));
    EXPECT_TRUE(own->read(honest.link, {memory.data() + 16, 8, nullptr}, there, &of_honest));
    own.poll_until_quiet();
    EXPECT_EQ(own.ends.size(), ends_when_sent);
    liar.say(refused(1));
    ASSERT_TRUE(own.hears_the_loss_of(liar));
    own.poll_until_quiet();
    EXPECT_EQ(own.ends.size(), ends_when_sent) << "nothing ended twice";
    EXPECT_EQ(ended(&of_liar, errc::ok), ends_when_sent);
    honest.say({frame_kind::read_reply, false, 0, 8}, "answered");
    EXPECT_TRUE(own.until([&] { return own.ends.size() == ends_when_sent + 1; }));
    EXPECT_EQ(ended(&of_honest, errc::ok), 1U);
    own->hang_up(liar.link);
    own->hang_up(honest.link);
    own.poll_until_quiet();
  }
  /// A peer refuses a write, as honest ones do.
  template <class Write>
  void refuse_a_write(std::size_t ends, Write&& write) {
    own.ends.clear();
    met_peer peer = own.meet();
    EXPECT_TRUE(write(peer.link));
    EXPECT_TRUE(own->read(peer.link, {memory.data() + 16, 8, nullptr}, there, &of_honest));
    peer.say(refused(1));
    peer.say({frame_kind::read_reply, false, 1, 8}, "answered");
    EXPECT_TRUE(own.until([&] { return own.ends.size() == ends + 1; }));
    EXPECT_EQ(ended(&of_liar, errc::denied), ends);
    EXPECT_EQ(ended(&of_honest, errc::ok), 1U);
    EXPECT_TRUE(peer.link.held->is_up());
    own->hang_up(peer.link);
    own.poll_until_quiet();
  }
};

TEST_F(lying_peers, that_refuse_a_message_end_their_link_alone) {
  refuse_a_message(1, [&](link_handle l) { return own->template send<mode::signalled>(l, two[0], 0, &of_liar); });
  refuse_a_message(0, [&](link_handle l) { return own->template send<mode::unsignalled>(l, two[0], 0, &of_liar); });
  refuse_a_message(0, [&](link_handle l) { return own->template send<mode::delivered>(l, two[0], 0, &of_liar); });
  refuse_a_message(0, [&](link_handle l) { return own->inject(l, const_bytes(memory).first(8), 0); });
  refuse_a_message(1, [&](link_handle l) { return own->template send_gather<mode::signalled>(l, two, 0, &of_liar); });
  refuse_a_message(0, [&](link_handle l) { return own->template send_gather<mode::unsignalled>(l, two, 0, &of_liar); });
  refuse_a_message(0, [&](link_handle l) { return own->template send_gather<mode::delivered>(l, two, 0, &of_liar); });
}

TEST_F(lying_peers, and_honest_ones_refuse_writes_as_before) {
  const auto posts = [&](auto which) {
    constexpr mode m = decltype(which)::value;
    refuse_a_write(1, [&](link_handle l) { return own->template write<m>(l, two[0], there, &of_liar); });
    refuse_a_write(1, [&](link_handle l) { return own->template write_immediate<m>(l, two[0], there, 7, &of_liar); });
    refuse_a_write(1, [&](link_handle l) { return own->template write_gather<m>(l, two, there, &of_liar); });
    refuse_a_write(1,
                   [&](link_handle l) { return own->template write_gather_immediate<m>(l, two, there, 7, &of_liar); });
  };
  posts(std::integral_constant<mode, mode::signalled>{});
  posts(std::integral_constant<mode, mode::delivered>{});
  posts(std::integral_constant<mode, mode::unsignalled>{});
  refuse_a_write(0,
                 [&](link_handle l) { return own->inject_write_immediate(l, const_bytes(memory).first(8), there, 7); });
}

TEST_F(lying_peers, that_take_back_what_they_took_end_their_link_alone) {
  for (const frame& lie : {refused(1), refused(3), frame{frame_kind::acknowledgement, false, 0},
                           frame{frame_kind::acknowledgement, false, 3},
                           frame{frame_kind::read_reply, false, 2, 0, static_cast<std::uint64_t>(errc::denied)}}) {
    own.ends.clear();
    met_peer liar = own.meet(), honest = own.meet();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(own->template write<mode::signalled>(liar.link, two[0], there, &of_liar));
    EXPECT_TRUE(own->read(honest.link, {memory.data() + 16, 8, nullptr}, there, &of_honest));
    liar.say({frame_kind::acknowledgement, false, 2});
    EXPECT_TRUE(own.until([&] { return own.ends.size() == 2; }));
    liar.say(lie);
    ASSERT_TRUE(own.hears_the_loss_of(liar));
    own.poll_until_quiet();
    EXPECT_EQ(own.ends.size(), 2U);
    honest.say({frame_kind::read_reply, false, 0, 8}, "answered");
    EXPECT_TRUE(own.until([&] { return own.ends.size() == 3; }));
    EXPECT_EQ(ended(&of_honest, errc::ok), 1U);
    own->hang_up(liar.link);
    own->hang_up(honest.link);
    own.poll_until_quiet();
  }
}

}  // namespace
}  // namespace weft::backends::streams
