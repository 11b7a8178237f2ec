// SPDX-License-Identifier: Apache-2.0
//
// A link of socket streams whose peer lies: frames and counts that no port of this build sends end the link, and no
// operation ends twice or too early. A test is the peer, and writes its bytes into a socket.
// Hot path: no. Threads: one.
#include "../../../backends/streams/receiving.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

namespace weft::backends::streams {
namespace {

using step = receiver::step;

/// A link with a region of 64 bytes and a window of 16. What the peer says arrives through a socket.
class stream_links : public testing::Test {
 protected:
  static constexpr std::uint64_t key = 77;

  stream_links() {
    int two[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, two) != 0) throw std::bad_alloc();
    ours_ = owned_socket(two[0]);
    theirs_ = owned_socket(two[1]);
    own.add(key, memory, rights::remote_write);
    link.phase = link_phase::established;
    link.socket_number = ours_.get();
    link.make_room(16, 16);
  }
  void hear(const frame& f, const std::string& payload = "") {
    std::string all(frame_bytes, '\0');
    encode(f, reinterpret_cast<std::byte*>(all.data()));
    hear(all + payload);
  }
  void hear(const std::string& all) {
    ASSERT_EQ(::send(theirs_.get(), all.data(), all.size(), MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
  }
  /// Takes every frame that is there. `finished`: the link ends.
  step take() {
    receiver in(link, ends, own);
    step last{};
    while ((last = in.take_next()) == step::taken) {
    }
    return last;
  }
  void post(int count, std::uint8_t kind = 0) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(ends.reserve());
      link.awaited[link.posted++] = {&contexts.at(static_cast<std::size_t>(i)),
                                     static_cast<std::uint8_t>(awaited_end::reported | kind)};
    }
  }
  void post_read(bool sent = true) {
    ASSERT_TRUE(ends.reserve());
    posted_read& r = link.reads[link.reads_posted++];
    r.into.each[0] = {read.data(), read.size()};
    r.into.count = 1;
    r.size = read.size();
    r.context = read.data();
    if (!sent) ++link.reads_unsent;
  }
  /// The ends of operations, in words.
  std::string ended() {
    std::string all;
    while (!ends.empty()) {
      const pending_completion e = ends.pop();
      all += e.context == read.data() ? "read" : std::to_string(static_cast<int*>(e.context) - contexts.data());
      all += e.how == errc::ok ? " " : e.how == errc::denied ? "(denied) " : "(other) ";
    }
    return all;
  }
  bool is_untouched(std::size_t from = 0) const {
    return std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(from), memory.end(),
                       [](std::byte each) { return each == std::byte{}; });
  }

  std::array<std::byte, 64> memory{};
  std::array<std::byte, 16> read{};
  std::array<int, 16> contexts{};
  regions own;
  pending_completions ends{64};
  connection link{2};

 private:
  owned_socket ours_, theirs_;
};
frame counted(std::uint32_t acked) { return {frame_kind::acknowledgement, false, acked}; }
frame refused(std::uint32_t acked, errc why) {
  return {frame_kind::refusal, false, acked, 0, static_cast<std::uint64_t>(why)};
}
frame replied(std::uint64_t size, std::uint64_t why) { return {frame_kind::read_reply, false, 0, size, why}; }
frame written(std::uint64_t size, std::uint64_t at, std::uint64_t key) {
  return {frame_kind::write, false, 0, size, 0, at, key};
}

TEST_F(stream_links, end_what_an_acknowledgement_counts_once_and_in_order) {
  post(4);
  hear(counted(3));
  hear(counted(3));
  EXPECT_EQ(take(), step::nothing);
  EXPECT_EQ(ended(), "0 1 2 ");
  hear(counted(4));
  EXPECT_EQ(take(), step::nothing);
  EXPECT_EQ(ended(), "3 ");
}
TEST_F(stream_links, end_at_a_count_of_frames_that_were_not_posted) {
  post(4);
  hear(counted(5));
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(ended(), "");
}
TEST_F(stream_links, end_at_a_count_of_frames_that_were_not_sent) {
  post(4);
  link.unsent = 2;
  hear(counted(3));
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(ended(), "");
}
TEST_F(stream_links, end_at_a_count_that_falls) {
  post(4);
  hear(counted(3));
  hear(counted(2));
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(ended(), "0 1 2 ");
}
TEST_F(stream_links, end_at_a_frame_more_than_the_window) {
  for (int i = 0; i < 16; ++i) hear(written(1, 0, key), "x");
  EXPECT_EQ(take(), step::nothing);
  hear(written(1, 8, key), "y");
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(link.in.taken, 16U);
  EXPECT_TRUE(is_untouched(1));
}
TEST_F(stream_links, end_at_a_read_more_than_the_window) {
  for (int i = 0; i < 16; ++i) hear(frame{frame_kind::read, true, 0, 8, 0, 0, key});
  EXPECT_EQ(take(), step::nothing);
  hear(frame{frame_kind::read, true, 0, 8, 0, 0, key});
  EXPECT_EQ(take(), step::finished);
}
TEST_F(stream_links, answer_a_read_without_the_right_by_no_byte) {
  hear(frame{frame_kind::read, true, 0, 8, 0, 0, key});
  EXPECT_EQ(take(), step::nothing);
  ASSERT_EQ(link.out.answers_last, 1U);
  const read_answer& a = link.out.answers[0];
  EXPECT_TRUE(a.from == nullptr && a.size == 0 && a.how == errc::denied);
}

TEST_F(stream_links, take_the_reply_to_a_read) {
  post_read();
  hear(replied(16, 0), "0123456789abcdef");
  EXPECT_EQ(take(), step::nothing);
  EXPECT_EQ(ended(), "read ");
  EXPECT_EQ(std::memcmp(read.data(), "0123456789abcdef", 16), 0);
  post_read();
  hear(replied(0, static_cast<std::uint64_t>(errc::denied)));
  EXPECT_EQ(take(), step::nothing);
  EXPECT_EQ(ended(), "read(denied) ");
}
TEST_F(stream_links, end_at_a_reply_that_nobody_asked_for) {
  hear(replied(16, 0), "0123456789abcdef");
  EXPECT_EQ(take(), step::finished);
}
TEST_F(stream_links, end_at_a_reply_to_a_read_that_was_not_sent) {
  post_read(false);
  hear(replied(16, 0), "0123456789abcdef");
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(ended(), "");
}
TEST_F(stream_links, end_at_a_reply_of_another_size) {
  post_read();
  hear(replied(17, 0), "0123456789abcdefg");
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(read, decltype(read){});
}
TEST_F(stream_links, end_at_a_reply_with_another_reason_than_ports_have) {
  post_read();
  hear(replied(0, static_cast<std::uint64_t>(errc::peer_lost)));
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(ended(), "");
}

TEST_F(stream_links, end_a_refused_write_and_those_before_it) {
  post(3);
  hear(refused(3, errc::denied));
  EXPECT_EQ(take(), step::nothing);
  EXPECT_EQ(ended(), "0 1 2(denied) ");
}
TEST_F(stream_links, end_at_a_refusal_of_a_write_that_was_not_posted) {
  hear(refused(1, errc::denied));
  EXPECT_EQ(take(), step::finished);
}
TEST_F(stream_links, end_at_a_refusal_of_a_message) {
  post(3, awaited_end::message);
  hear(refused(3, errc::denied));
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(ended(), "0 1 ");
}
TEST_F(stream_links, end_at_a_refusal_that_is_a_success) {
  post(1);
  hear(refused(1, errc::ok));
  EXPECT_EQ(take(), step::finished);
  EXPECT_EQ(ended(), "");
}

TEST_F(stream_links, count_a_refused_write_and_change_no_byte) {
  const std::string eight(8, 'x');
  hear(written(8, 60, key), eight);
  hear(written(8, 0, key + 1), eight);
  hear(written(8, ~0ULL - 3, key), eight);
  EXPECT_EQ(take(), step::nothing);
  EXPECT_TRUE(is_untouched());
  EXPECT_EQ(link.in.taken, 3U);
  EXPECT_TRUE(link.in.refuses && link.in.refused_at == 0U);
  EXPECT_TRUE(link.in.answers[0] == errc::out_of_range && link.in.answers[1] == errc::denied &&
              link.in.answers[2] == errc::out_of_range);
  hear(written(8, 0, key), eight);
  EXPECT_EQ(take(), step::nothing);
  EXPECT_EQ(std::memcmp(memory.data(), eight.data(), 8), 0);
  EXPECT_TRUE(is_untouched(8));
}
TEST_F(stream_links, write_no_byte_into_a_released_region) {
  std::string whole(frame_bytes, '\0');
  encode(written(32, 0, key), reinterpret_cast<std::byte*>(whole.data()));
  hear(whole + std::string(16, 'x'));
  EXPECT_EQ(take(), step::nothing);
  own.erase(key);
  forget_region(link, key);
  hear(std::string(16, 'y'));
  EXPECT_EQ(take(), step::nothing);
  EXPECT_TRUE(is_untouched(16));
  EXPECT_EQ(link.in.answers[0], errc::denied);
}
TEST_F(stream_links, write_no_byte_beyond_a_receive) {
  link.receives.post({memory.data(), 8, contexts.data()});
  hear(frame{frame_kind::message, false, 0, 9, 5}, "123456789");
  receiver in(link, ends, own);
  EXPECT_EQ(in.take_next(), step::taken);
  EXPECT_TRUE(in.has_entry && in.came.outcome.code == errc::truncated && in.came.immediate == 5);
  EXPECT_TRUE(is_untouched());
}
TEST_F(stream_links, wait_for_a_whole_frame) {
  hear(std::string(frame_bytes - 1, '\1'));
  EXPECT_EQ(take(), step::nothing);
  hear(std::string(1, '\0'));
  EXPECT_EQ(take(), step::finished) << "no frame begins so";
}

}  // namespace
}  // namespace weft::backends::streams
