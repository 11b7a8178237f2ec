// SPDX-License-Identifier: Apache-2.0
//
// A killed executor leaves nothing in /dev/shm, also if it was killed before it had a peer.
#include <invocation/spawning.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>

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

}  // namespace
}  // namespace weft::invocation
