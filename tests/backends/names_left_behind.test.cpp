// SPDX-License-Identifier: Apache-2.0
//
// The names of a killed process's shared memory stay. A later process with the same number still opens.
#include <weft/compose/transport.hpp>
#include <weft/generated/shm.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {
namespace {

namespace files = std::filesystem;

/// Names of this process in /dev/shm: they begin with its number.
std::vector<files::path> own_names() {
  std::vector<files::path> found;
  for (const auto& each : files::directory_iterator("/dev/shm"))
    if (each.path().filename().string().starts_with(std::to_string(getpid()) + ":")) found.push_back(each.path());
  return found;
}

TEST(names_left_behind, names_of_dead_processes_do_not_block_a_reused_process_id) {
  std::vector<files::path> left;
  {
    auto net = open<fabrics::shm>({});
    ASSERT_TRUE(net) << net.error().sentence;
    const std::vector<files::path> own = own_names();
    if (own.empty()) GTEST_SKIP() << "this library has other names for its shared memory";
    const std::string name = own.front().string();
    for (int next = 0; next < 4; ++next) {  // the last part is the endpoint's number: the next endpoint may get these
      left.emplace_back(name.substr(0, name.rfind(':') + 1) + std::to_string(next));
      if (left.back() != own.front()) files::copy_file(own.front(), left.back());
    }
    files::copy_file(own.front(), "/dev/shm/weft-test-kept");
  }
  for (const files::path& each : left)
    if (!files::exists(each)) files::copy_file("/dev/shm/weft-test-kept", each);
  files::remove("/dev/shm/weft-test-kept");
  {
    auto net = open<fabrics::shm>({});
    EXPECT_TRUE(net) << net.error().sentence;
  }
  for (const files::path& each : left) files::remove(each);
}

}  // namespace
}  // namespace weft
