// SPDX-License-Identifier: Apache-2.0
//
// Shared memory of dead processes is removed, and that of living ones is not (backends/libfabric/leftovers.hpp).
#include <weft/backends/libfabric/leftovers.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace weft::backends::libfabric {
namespace {

namespace files = std::filesystem;

class leftovers : public testing::Test {
 protected:
  void SetUp() override {
    child = ::fork();
    if (child == 0)
      for (;;) ::pause();
    ASSERT_GT(child, 0);
    folder = files::temp_directory_path() / ("weft-leftovers-" + std::to_string(::getpid()));
    files::create_directory(folder);
    region = folder / (std::to_string(child) + ":0:0");
    std::ofstream(region) << "bytes";
  }
  void TearDown() override {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    files::remove_all(folder);
  }
  int sweep() const { return sweep_leftovers_of(child, folder.c_str()); }

  pid_t child = 0;
  files::path folder, region;
};

TEST_F(leftovers, of_a_living_process_stay) {
  EXPECT_EQ(sweep(), 0);
  EXPECT_TRUE(files::exists(region));
}

/// A parent may ask for the end of its child at any time, or never.
TEST_F(leftovers, of_a_dead_process_are_removed_before_its_parent_asks_for_it) {
  ::kill(child, SIGKILL);
  siginfo_t how{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(sweep(), 1);
  EXPECT_FALSE(files::exists(region));
}

TEST_F(leftovers, of_a_process_that_is_forgotten_are_removed) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(sweep(), 1);
  EXPECT_FALSE(files::exists(region));
}

TEST(numbers_of_no_process, sweep_nothing) {
  EXPECT_EQ(sweep_leftovers_of(0), 0);
  EXPECT_EQ(sweep_leftovers_of(-1), 0);
}

}  // namespace
}  // namespace weft::backends::libfabric
