// SPDX-License-Identifier: Apache-2.0
//
// Long messages over mapped memory: the receiver copies them out of the sender's arena. When their end comes, which
// messages are copied at the post, and what happens where one side lies or ends in between. Hot path: no. Threads: two
// while two transports meet or sleep.
#include "two_that_met.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace weft::backends::mapped {
namespace {

TEST(a_lent_message, ends_when_it_was_copied) {
  two_that_met t;
  const auto source = t.from.allocate(longest, rights::none).value();
  int number = 0;
  for (const std::size_t size : {least_lent, std::size_t{16384}, longest}) {
    paint(source, size, ++number);
    const int before = t.completed_ends;
    ASSERT_TRUE(t.from.send(t.there, source.first(size), &t));
    for (int i = 0; i < 100; ++i) t.poll_sender();
    EXPECT_EQ(t.completed_ends, before) << "nobody has read the source";
    EXPECT_EQ(t.from.in_flight(), 1U);
    t.until([&] { return t.completed_ends > before; });
    ASSERT_EQ(t.came.size(), static_cast<std::size_t>(number));
    EXPECT_EQ(t.came.back(), painted(size, number));
    EXPECT_EQ(t.completed_ends, before + 1);
  }
}

TEST(a_lent_message, keeps_its_place_among_others) {
  two_that_met t;
  const auto source = t.from.allocate(longest, rights::none).value();
  paint(source, longest, 1);
  for (const std::size_t size : {std::size_t{8}, std::size_t{8192}, std::size_t{100}, std::size_t{32768}})
    ASSERT_TRUE(t.from.send(t.there, source.first(size)));
  t.until([&] { return t.came.size() == 4; });
  std::size_t i = 0;
  for (const std::size_t size : {std::size_t{8}, std::size_t{8192}, std::size_t{100}, std::size_t{32768}})
    EXPECT_EQ(t.came[i++], painted(size, 1));
}

TEST(a_lent_message, needs_no_more_room_than_a_line_and_all_arrive) {
  two_that_met t;
  const auto source = t.from.allocate(longest, rights::none).value();
  paint(source, longest, 3);
  constexpr int all = 300;  // more than may be lent at a time, and more than the ring has entries
  int posted = 0;
  t.until([&] {
    if (posted < all && t.from.send(t.there, source.first(8192), &t)) ++posted;
    return t.completed_ends == all && t.came.size() == all;
  });
  EXPECT_EQ(t.from.in_flight(), 0U);
  EXPECT_TRUE(std::all_of(t.came.begin(), t.came.end(), [](const auto& m) { return m == painted(8192, 3); }));
}

TEST(a_source, is_free_at_once_where_the_row_promises_it) {
  two_that_met t;
  const auto source = t.from.allocate(longest, rights::none).value();
  constexpr std::size_t size = fabric::facts.inject_bytes;
  paint(source, size, 1);
  ASSERT_TRUE(t.from.send(t.there, source.first(size)));
  paint(source, size, 2);
  t.until([&] { return t.came.size() == 1; });
  EXPECT_EQ(t.came.at(0), painted(size, 1));
}

TEST(a_source, of_one_byte_more_is_read_by_the_receiver) {
  two_that_met t;
  const auto source = t.from.allocate(longest, rights::none).value();
  constexpr std::size_t size = fabric::facts.inject_bytes + 1;
  paint(source, size, 1);
  ASSERT_TRUE(t.from.send(t.there, source.first(size)));
  paint(source, size, 2);  // too early: the program breaks the rule
  t.until([&] { return t.came.size() == 1; });
  EXPECT_EQ(t.came.at(0), painted(size, 2)) << "copied at the post: twice the time";
}

TEST(a_source, of_a_member_of_a_batch_is_free_when_the_last_one_ended) {
  two_that_met t;
  const auto source = t.from.allocate(longest, rights::none).value();
  paint(source, 8192, 1);
  auto all = t.from.batch(t.there);
  ASSERT_TRUE(all.send(source.first(8192)));
  ASSERT_TRUE(all.send(source.first(8)));
  ASSERT_TRUE(all.close(&t));
  for (int i = 0; i < 10; ++i) t.poll_sender();
  EXPECT_EQ(t.completed_ends, 1);
  paint(source, 8192, 2);
  t.until([&] { return t.came.size() == 2; });
  EXPECT_EQ(t.came.at(0), painted(8192, 1));
}

TEST(a_source, outside_of_the_arena_is_copied_at_the_post) {
  two_that_met t;
  auto mine = painted(8192, 5);
  ASSERT_TRUE(t.from.send(t.there, t.from.memory(mine), &t));
  std::fill(mine.begin(), mine.end(), std::byte{});
  for (int i = 0; i < 10; ++i) t.poll_sender();
  EXPECT_EQ(t.completed_ends, 1);
  t.until([&] { return t.came.size() == 1; });
  EXPECT_EQ(t.came.at(0), painted(8192, 5));
}

TEST(a_source, that_was_released_early_is_still_read) {
  two_that_met t;
  auto source = t.from.allocate(8192, rights::none).value();
  paint(source, 8192, 6);
  ASSERT_TRUE(t.from.send(t.there, source.first(8192)));
  source.reset();
  t.until([&] { return t.came.size() == 1; });
  EXPECT_EQ(t.came.at(0), painted(8192, 6));
}

TEST(a_lent_message, to_a_peer_that_ends_fails_once) {
  two_that_met t;
  const auto source = t.from.allocate(longest, rights::none).value();
  ASSERT_TRUE(t.from.send(t.there, source.first(8192), &t));
  ASSERT_TRUE(t.from.send(t.there, source.first(8192)));
  t.to.reset();
  t.until([&] { return t.failed_ends + t.completed_ends > 0 && !t.there.alive(); });
  for (int i = 0; i < 1000; ++i) t.poll_sender();
  EXPECT_EQ(t.failed_ends + t.completed_ends, 1);
  EXPECT_EQ(t.from.in_flight(), 0U);
}

/// A process that runs `body(pipe)` and is killed. The pipe's other end is here.
template <class Body>
class killed_process {
 public:
  explicit killed_process(Body body) {
    if (::pipe(pipe_.data()) != 0) throw std::runtime_error("pipe");
    child_ = ::fork();
    if (child_ != 0) return;
    body(pipe_[1]);  // it waits for its end
    ::_exit(1);
  }
  killed_process(const killed_process&) = delete;
  killed_process& operator=(const killed_process&) = delete;
  ~killed_process() { kill(); }
  std::string said() {
    std::array<char, 64> text{};
    const ssize_t size = ::read(pipe_[0], text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(std::exchange(child_, 0), nullptr, 0);
    for (const int each : pipe_) ::close(each);
  }

 private:
  std::array<int, 2> pipe_{};
  pid_t child_ = 0;
};
void say(int pipe, std::string_view text) { (void)!::write(pipe, text.data(), text.size()); }

TEST(a_lent_message, to_a_killed_peer_fails_once) {
  killed_process receiver([](int pipe) {
    auto net = open<fabric>({.node = "127.0.0.1", .listens = true, .max_message_bytes = longest}).value();
    say(pipe, net.listen_address());
    (void)net.accept_one(5s);
    ::pause();
  });
  auto net = open<fabric>({.max_message_bytes = longest}).value();
  const peer to = net.connect(receiver.said(), 5s).value();
  const auto source = net.allocate(8192, rights::none).value();
  ASSERT_TRUE(net.send(to, source.first(8192), &net));
  ASSERT_TRUE(net.send(to, source.first(8192)));
  receiver.kill();
  int completed_ends = 0, losses = 0;
  std::vector<errc> failures;
  const auto on =
      overloaded{[&](const completed&) { ++completed_ends; }, [&](const failed& f) { failures.push_back(f.why.code); },
                 [&](const lost&) { ++losses; }, [](auto&&) {}};
  EXPECT_TRUE(net.until([&] { return losses > 0; }, 10s, on));
  for (int i = 0; i < 1000; ++i) net.progress(on);
  EXPECT_EQ(completed_ends, 0);
  EXPECT_EQ(failures, std::vector<errc>{errc::peer_lost});
  EXPECT_EQ(losses, 1);
  EXPECT_EQ(net.in_flight(), 0U);
}

TEST(a_lent_message, of_a_killed_peer_arrives_whole) {
  auto net = open<fabric>({.node = "127.0.0.1", .listens = true, .max_message_bytes = longest}).value();
  const std::string where = net.listen_address();
  killed_process sender([&where](int pipe) {
    auto own = open<fabric>({.max_message_bytes = longest}).value();
    const auto source = own.allocate(8192, rights::none).value();
    paint(source, 8192, 4);
    if (auto to = own.connect(where, 5s); to && own.send(*to, source.first(8192))) say(pipe, "sent");
    ::pause();
  });
  ASSERT_TRUE(net.accept_one(5s));
  ASSERT_EQ(sender.said(), "sent");
  sender.kill();
  std::vector<std::byte> came;
  bool is_lost = false;
  const auto on = overloaded{[&](const received& m) { came.assign(m.message.begin(), m.message.end()); },
                             [&](const lost&) { is_lost = true; }, [](auto&&) {}};
  EXPECT_TRUE(net.until([&] { return is_lost; }, 10s, on));
  EXPECT_EQ(came, painted(8192, 4));
}

TEST(a_lent_message, wakes_its_sleeping_sender_when_it_was_copied) {
  two_that_met t(true);
  const auto source = t.from.allocate(longest, rights::none).value();
  ASSERT_TRUE(t.from.send(t.there, source.first(8192), &t));
  std::thread copies([&t] {
    std::this_thread::sleep_for(100ms);
    while (t.came.empty()) t.poll_receiver();
  });
  bool done = false;
  const status ended =
      t.from.until([&] { return done; }, 10s, overloaded{[&](const completed&) { done = true; }, [](auto&&) {}});
  copies.join();
  EXPECT_TRUE(ended) << "it sleeps on";
  EXPECT_EQ(t.from.sleeps().missed_wakes, 0U);
}

TEST(a_peers_arena, lends_only_bytes_of_its_file) {
  const auto own = arena::make("test").value();
  auto seen = peer_memory::of(own->memory(), own->size(), "test").value();
  const bytes far = own->take(std::size_t{600} << 20);  // its pages are never touched
  const bytes behind = own->take(64);
  behind[8] = std::byte{9};
  const auto at = static_cast<std::uint64_t>(behind.data() - own->start());
  const std::byte* const there = seen.lent(at, 64);
  ASSERT_NE(there, nullptr) << "beyond the first mapping, which grows";
  EXPECT_EQ(there[8], std::byte{9});
  EXPECT_EQ(seen.lent(own->size() - 63, 64), nullptr);
  EXPECT_EQ(seen.lent(own->size() + 1, 0), nullptr);
  EXPECT_EQ(seen.lent(~std::uint64_t{0}, 64), nullptr);
  EXPECT_EQ(seen.lent(own->size() - 64, 64), nullptr) << "in the file, and no region was ever there";
  own->give(far);
  own->give(behind);
}

}  // namespace
}  // namespace weft::backends::mapped
