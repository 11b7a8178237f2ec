// SPDX-License-Identifier: Apache-2.0
//
// A set whose libraries are loaded by the program (weft_add_fabric_set with LOADED): a process without peers has no
// library of a fabric, and the first use of a fabric loads its library. Hot path: no. Threads: one.
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace weft {
namespace {

bool is_loaded(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

TEST(libraries_of_a_set, are_loaded_when_a_fabric_of_theirs_is_needed) {
  ASSERT_FALSE(is_loaded("libfabric.so")) << "the program must not link the library";
  auto net = open<selected>({.node = "127.0.0.1"}).value();
  EXPECT_TRUE(net.is_open<fabrics::mapped>());
  EXPECT_FALSE(is_loaded("libfabric.so")) << "no peer needs it";
  EXPECT_NE(net.on<fabrics::tcp>(), nullptr);
  EXPECT_TRUE(is_loaded("libfabric.so"));
  EXPECT_TRUE(net.is_open<fabrics::tcp>());
}

TEST(libraries_of_a_set, are_loaded_by_a_listener_at_once) {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true}).value();
  EXPECT_TRUE(is_loaded("libfabric.so"));
  EXPECT_TRUE(net.is_open<fabrics::tcp>());
}
}  // namespace
}  // namespace weft
