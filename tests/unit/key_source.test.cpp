// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of the kernel, where it gives none (compose/engine/key_source.hpp).
#include <weft/compose/engine/key_source.hpp>
#include <weft/compose/engine/random_number.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <unordered_set>

namespace weft::detail {
namespace {

TEST(unguessable, a_failure_of_the_kernel_ends_the_call) {
  int calls = 0;
  const auto refuses = [&](void*, std::size_t) -> ssize_t {
    ++calls;
    errno = ENOSYS;
    return -1;
  };
  EXPECT_EQ(unguessable_by(refuses), 0U);
  EXPECT_EQ(calls, 1);
}

TEST(unguessable, interrupts_do_not_end_the_call_but_are_not_awaited_for_ever) {
  int calls = 0;
  const auto interrupted = [&](void* into, std::size_t size) -> ssize_t {
    if (++calls < 10) {
      errno = EINTR;
      return -1;
    }
    std::memset(into, 7, size);
    return static_cast<ssize_t>(size);
  };
  EXPECT_EQ(unguessable_by(interrupted), 0x0707'0707'0707'0707U);
  EXPECT_EQ(calls, 10);
  calls = -1'000'000;
  EXPECT_EQ(unguessable_by(interrupted), 0U);
}

TEST(unguessable, the_kernel_gives_different_numbers) { EXPECT_NE(unguessable(), unguessable()); }

TEST(key_source, draws_no_key_where_the_kernel_gives_no_number) {
  std::unordered_set<std::uint64_t> used;
  EXPECT_FALSE(key_source::draw(
      8, [] { return std::uint64_t{0}; }, used));
}

}  // namespace
}  // namespace weft::detail
