// SPDX-License-Identifier: Apache-2.0
//
// A killed executor leaves nothing in /dev/shm, also if it was killed before it had a peer. A warm parent that says
// nothing hinders no start. The sentence of a killed executor says who killed it, and why.
#include <invocation/allocation.hpp>
#include <invocation/spawning.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::invocation {
namespace {

namespace files = std::filesystem;

/// A file with the name that the library gives to shared memory of `process`.
files::path left_by(std::uint64_t process, const std::string& end) {
  const files::path name = "/dev/shm/" + std::to_string(process) + ":" + std::to_string(::geteuid()) + ":" + end;
  std::ofstream(name) << "bytes";
  return name;
}

result<process_spawner::child> started() {
  executor_order order;
  order.common.manager = order.common.client = "nowhere:1";
  return process_spawner({.executor = WEFT_SLEEPER, .folder = {}, .trusted = {}, .confined = {}}).start(order);
}

TEST(invocation_spawning, the_memory_of_a_killed_executor_is_removed) {
  auto child = started();
  ASSERT_TRUE(child) << child.error().sentence;
  const files::path region = left_by(child->number(), "0"), message = left_by(child->number(), "0_12");
  const files::path other = "/dev/shm/" + std::to_string(child->number()) + ":weft-test";
  std::ofstream(other) << "bytes";
  EXPECT_FALSE(child->ended());
  EXPECT_TRUE(files::exists(region)) << "it belongs to a living process";
  child->kill();
  while (!child->ended()) ::usleep(1000);  // it was killed: this ends
  EXPECT_FALSE(files::exists(region));
  EXPECT_FALSE(files::exists(message));
  EXPECT_TRUE(files::exists(other)) << "this name is not the library's";
  files::remove(other);
}

TEST(invocation_spawning, the_memory_of_a_dropped_executor_is_removed) {
  files::path region;
  {
    auto child = started();
    ASSERT_TRUE(child) << child.error().sentence;
    region = left_by(child->number(), "3");
  }
  EXPECT_FALSE(files::exists(region));
}

TEST(invocation_spawning, a_silent_warm_parent_is_not_waited_for) {
  pid_t parent = 0;
  {
    process_spawner spawn({.executor = WEFT_SLEEPER,
                           .folder = {},
                           .trusted = {},
                           .confined = {},
                           .fresh = false,
                           .pool = 2,
                           .node = {},
                           .fabrics = {}});
    spawn.tend();
    parent = spawn.warm_parent().process();
    EXPECT_GT(parent, 0);
    EXPECT_FALSE(spawn.warm_parent().ready());
    executor_order order;
    order.common.manager = order.common.client = "nowhere:1";
    auto child = spawn.start(order);
    ASSERT_TRUE(child) << child.error().sentence;
    EXPECT_FALSE(child->ended());
    EXPECT_EQ(spawn.started().executed, 1U);
    EXPECT_EQ(spawn.started().copied + spawn.started().from_pool, 0U);
    EXPECT_EQ(spawn.warm_parent().waiting(), 0U);
  }
  EXPECT_EQ(::kill(parent, 0), -1) << "it was killed and reaped with its manager";
}

TEST(invocation_spawning, a_warm_parent_that_cannot_start_is_no_error) {
  process_spawner spawn({.executor = "/nonexistent/executor",
                         .folder = {},
                         .trusted = {},
                         .confined = {},
                         .fresh = false,
                         .pool = 1,
                         .node = {},
                         .fabrics = {}});
  spawn.tend();
  EXPECT_EQ(spawn.warm_parent().process(), 0);
  executor_order order;
  const auto child = spawn.start(order);
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().sentence.find("/nonexistent/executor"), std::string::npos);
}

TEST(invocation_warm_order, keeps_its_arguments_apart) {
  const std::vector<std::string> words{"executor", "--client", std::string("host:1\0--unconfined\0", 21), "",
                                       "--slots"};
  const std::string packet = warm::packed(words);
  EXPECT_EQ(warm::unpacked(packet), words);
  for (std::size_t size = 1; size < packet.size(); ++size)
    if (const auto some = warm::unpacked(std::string_view(packet).substr(0, size))) {
      EXPECT_LT(some->size(), words.size());
    }
  EXPECT_FALSE(warm::unpacked(packet + "x")) << "a length has four bytes";
  EXPECT_FALSE(warm::unpacked(std::string("\x05\0\0\0word", 8))) << "the word is longer than the packet";
}

/// A channel's packets keep their boundaries and bring a descriptor; the receiver learns that an end was closed.
TEST(invocation_warm_channel, packets_arrive_whole) {
  using namespace std::chrono_literals;
  auto ends = warm::make_channel();
  ASSERT_TRUE(ends);
  auto& [here, there] = *ends;
  EXPECT_FALSE(warm::receive(there, 0ms)) << "nothing was sent";
  const int file = ::memfd_create("weft-test", 0);
  ASSERT_TRUE(warm::send(here, "first", file));
  ASSERT_TRUE(warm::send(here, std::string("se\0cond", 7)));
  auto first = warm::receive(there, 0ms);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, "first");
  EXPECT_TRUE(first->file);
  EXPECT_NE(first->file.number(), file) << "a copy arrives";
  auto second = warm::receive(there, 0ms);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->bytes, std::string("se\0cond", 7));
  EXPECT_FALSE(second->file);
  ASSERT_TRUE(warm::send(here, "too large for the receiver"));
  EXPECT_FALSE(warm::receive(there, 0ms, 4));
  here.reset();
  EXPECT_FALSE(warm::receive(there, std::nullopt)) << "the other end is closed";
  EXPECT_FALSE(warm::send(there, "nobody reads"));
  ::close(file);
}

/// An executor that ends when the test wants it.
struct made_up_child {
  int kills = 0;
  void kill() noexcept { ++kills; }
};
struct made_up_executor : allocation<made_up_child> {
  made_up_executor() : allocation({}, {}) {}
  std::string end_of_signal() {
    ended({false, "process 7 was killed by signal 9"});
    return end->sentence;
  }
};

TEST(invocation_ends, say_why_the_manager_killed_an_executor) {
  made_up_executor by_others;
  EXPECT_EQ(by_others.end_of_signal(), "process 7 was killed by signal 9");
  made_up_executor late;
  late.kill();
  EXPECT_EQ(late.child.kills, 1);
  EXPECT_EQ(late.end_of_signal(), "process 7 was killed by signal 9: its workers did not come in time");
  made_up_executor silent;
  silent.hurry(instant(), "the peer said nothing for 2000 ms");
  silent.kill();
  EXPECT_EQ(silent.end_of_signal(),
            "process 7 was killed by signal 9: the manager had lost its worker (the peer said nothing for 2000 ms)");
  made_up_executor slow;
  slow.state = allocation_state::finishing;
  slow.kill();
  slow.state = allocation_state::over;
  slow.kill();  // the first reason stays
  EXPECT_EQ(slow.end_of_signal(), "process 7 was killed by signal 9: it did not settle in time");
}

}  // namespace
}  // namespace weft::invocation
