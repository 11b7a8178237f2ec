// SPDX-License-Identifier: Apache-2.0
//
// Mapped memory where the system or the program grants little: a limit on the size of files, and regions without rights
// for peers. Hot path: no. Threads: one.
#include "../../../backends/mapped/shared_regions.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <array>

namespace weft::backends::mapped {
namespace {

/// What make() gives while no file of this process may have more bytes.
auto arena_within(std::uint64_t bytes_of_files) {
  rlimit before{};
  EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{bytes_of_files, before.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  auto made = arena::make("test");
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  return made;
}
TEST(a_limit_on_files, shrinks_arenas_and_ends_no_process) {
  const auto made = arena_within(std::uint64_t{20} << 30);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->size(), std::uint64_t{16} << 30);
  const auto refused = arena_within(arena::least_bytes - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sentence, "test: ftruncate failed (File too large)");
}

TEST(regions_without_rights, have_keys_of_their_own) {
  shared_regions all(arena::make("test").value(), "test");
  std::array<std::byte, 64> mine{};
  const auto first = all.register_fresh(64, rights::none), second = all.register_fresh(64, rights::none),
             third = all.register_memory(mine, rights::none);
  ASSERT_TRUE(first && second && third);
  EXPECT_NE(first->key, 0U) << "messages name a region by its key, and the target executes their atomics";
  EXPECT_NE(first->key, second->key);
  EXPECT_NE(third->key, first->key);
  EXPECT_NE(third->key, second->key);
}

}  // namespace
}  // namespace weft::backends::mapped
