// SPDX-License-Identifier: Apache-2.0
//
// copy_long: the same bytes wherever in their pages source and target begin, and not one byte more.
#include "../../../backends/mapped/copying.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {
using namespace weft::backends::mapped;

constexpr std::size_t page = 4096;

TEST(mapped_copying, copies_the_same_bytes_from_any_place_to_any_place) {
  constexpr std::size_t most = 3 * page;
  std::vector<std::byte> source(most + 2 * page), target(most + 3 * page);
  for (std::size_t at = 0; at < source.size(); ++at) source[at] = static_cast<std::byte>(at * 7 + at / 251 + 1);
  for (const std::size_t size : {0UL, 1UL, 47UL, 2048UL, 2049UL, 4096UL, 4097UL, 6144UL, most}) {
    for (std::size_t further = 0; further < 40; ++further) {
      std::fill(target.begin(), target.end(), std::byte{0});
      const std::size_t from = 5;
      const auto aligned = page - reinterpret_cast<std::uintptr_t>(target.data()) % page;
      const auto of_source = (reinterpret_cast<std::uintptr_t>(source.data()) + from) % page;
      const std::size_t to = aligned + of_source + further;
      copy_long(target.data() + to, source.data() + from, size);
      ASSERT_TRUE(std::equal(source.data() + from, source.data() + from + size, target.data() + to))
          << size << " bytes, " << further << " further";
      ASSERT_EQ(target[to - 1], std::byte{0});
      ASSERT_EQ(target[to + size], std::byte{0}) << size << " bytes, " << further << " further";
    }
  }
}

}  // namespace
