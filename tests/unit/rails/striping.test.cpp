// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of rails: every byte of a transfer travels once, on the rail of its page. Descriptions are parsed
// strictly.
#include "../../../compose/rails/striping.hpp"
#include "../../../wire/striped_region.hpp"

#include <gtest/gtest.h>

#include <map>

namespace weft {
namespace {

TEST(striping, each_byte_travels_once_on_the_rail_of_its_page) {
  for (const std::uint32_t count : {1U, 2U, 3U, 5U})
    for (std::uint64_t offset = 0; offset < 23; ++offset)
      for (std::uint64_t size = 0; size < 40; ++size) {
        const striping cut{4, count};
        std::map<std::uint64_t, int> carried;
        std::uint64_t pieces = 0;
        std::uint32_t rail = cut.rail_of(offset);
        std::uint64_t page_end = cut.page_end(offset);
        do {
          const stripe_piece piece = cut.piece(offset, size, page_end);
          for (std::uint64_t i = 0; i < piece.size; ++i) {
            ASSERT_EQ((piece.offset + i) / 4 % count, rail);
            ASSERT_EQ((piece.offset + i) / 4, page_end / 4 - 1);
            ++carried[piece.offset + i];
          }
          rail = (rail + 1) % count;
          page_end += 4;
          ++pieces;
        } while (page_end - 4 < offset + size);
        ASSERT_EQ(pieces, cut.pieces(offset, size)) << count << ' ' << offset << ' ' << size;
        ASSERT_EQ(carried.size(), size);
        for (const auto& [at, times] : carried) ASSERT_TRUE(times == 1 && at >= offset && at < offset + size);
      }
}

TEST(number_ring, numbers_come_back_in_order_around_the_ring) {
  number_ring ring(3);
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    ring.push(i);
    if (i % 3 == 0) continue;
    while (!ring.empty()) {
      EXPECT_EQ(ring.front(), next++);
      ring.pop();
    }
  }
  EXPECT_EQ(next, 20U);
}

wire::striped_record sample() {
  const wire::region_record one{.form = wire::address_form::offset,
                                .granted = rights::remote_write,
                                .key_bytes = 8,
                                .key = 7,
                                .base = 0,
                                .length = 4096,
                                .fingerprint = 99};
  wire::striped_record all{512, {one, one, one}};
  all.rails[1].key = 8;
  return all;
}

TEST(a_striped_region, comes_back_as_it_was) { EXPECT_EQ(wire::parse_striped(wire::encode(sample())), sample()); }
TEST(a_striped_region, truncated_too_long_or_inconsistent_is_refused) {
  const auto good = wire::encode(sample());
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(wire::parse_striped(const_bytes(good).first(n))) << n;
  auto longer = good;
  longer.push_back(std::byte{});
  EXPECT_FALSE(wire::parse_striped(longer));
  const auto refused = [](auto change) {
    auto r = sample();
    change(r);
    return !wire::parse_striped(wire::encode(r));
  };
  EXPECT_TRUE(refused([](auto& r) { r.page_bytes = 0; }));
  EXPECT_TRUE(refused([](auto& r) { r.rails.clear(); }));
  EXPECT_TRUE(refused([](auto& r) { r.rails.resize(65, r.rails[0]); }));
  EXPECT_TRUE(refused([](auto& r) { r.rails[2].length = 4095; }));
  EXPECT_TRUE(refused([](auto& r) { r.rails[2].granted = rights::all; }));
  EXPECT_TRUE(refused([](auto& r) { r.rails[2].fingerprint = 98; }));
  EXPECT_TRUE(refused([](auto& r) { r.rails[2].key_bytes = 0; }));
  EXPECT_FALSE(refused([](auto& r) { r.rails.resize(64, r.rails[0]); }));
}
TEST(a_striped_region, with_another_mark_or_version_is_refused) {
  for (const std::size_t at : {0U, 1U}) {
    auto broken = wire::encode(sample());
    broken[at] ^= std::byte{4};
    EXPECT_FALSE(wire::parse_striped(broken));
  }
}

TEST(rail_words, encode_and_parse_agree_or_refuse) {
  constexpr wire::rail_words words{2, 4, 65536, 0x1122334455667788};
  constexpr auto good = wire::encode(words);
  EXPECT_EQ(wire::parse_rail_words(good), words);
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(wire::parse_rail_words(const_bytes(good).first(n)));
  EXPECT_FALSE(wire::parse_rail_words(wire::encode(wire::rail_words{4, 4, 1, 1})));
  EXPECT_FALSE(wire::parse_rail_words(wire::encode(wire::rail_words{0, 65, 1, 1})));
}

}  // namespace
}  // namespace weft
