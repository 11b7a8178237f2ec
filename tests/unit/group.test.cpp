// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a group (wire/group.hpp). Golden bytes: a change of them changes wire::version. Strict parsing:
// truncated, longer or flipped bytes are refused or mean something else, and nothing is read past the end.
#include <weft/wire/group.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace weft::wire {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text.data(), text.size()));
  return {raw.begin(), raw.end()};
}
std::string hex(const_bytes all) {
  std::string text;
  for (const std::byte b : all)
    for (const unsigned half : {std::to_integer<unsigned>(b) >> 4, std::to_integer<unsigned>(b) & 15})
      text += "0123456789abcdef"[half];
  return text;
}

/// A member with a copy of its payload.
struct kept {
  group_kind kind;
  std::uint32_t number;
  std::uint64_t address, key;
  std::vector<std::byte> payload;
  friend bool operator==(const kept&, const kept&) = default;
};
std::vector<std::byte> encoded(const std::vector<kept>& all) {
  std::vector<std::byte> into(65536 * 2);
  std::byte* at = into.data();
  for (const kept& k : all) at = encode(group_member{k.kind, k.number, k.address, k.key, k.payload}, at);
  into.resize(static_cast<std::size_t>(at - into.data()));
  return into;
}
/// Returns: whether all bytes were read. `into` gets the members before the first error.
bool parse(const_bytes from, std::vector<kept>& into) {
  into.clear();
  if (!group_reader::possible(from)) return false;
  const auto exact = std::make_unique<std::byte[]>(from.size());  // the sanitizer reports reads past the end
  std::copy(from.begin(), from.end(), exact.get());
  group_reader in({exact.get(), from.size()});
  for (group_member m;;) {
    const group_verdict found = in.next(m);
    if (found != group_verdict::member) return found == group_verdict::end;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.payload.data()) % 8, 0U) << "the alignment is kept";
    into.push_back({m.kind,
                    m.number,
                    is_put(m.kind) ? m.address : 0,
                    is_put(m.kind) ? m.key : 0,
                    {m.payload.begin(), m.payload.end()}});
  }
}

const std::vector<kept> sample{{group_kind::message, 0, 0, 0, bytes_of("hello")},
                               {group_kind::put, 0, 0x1020, 0x99, bytes_of("eight by")},
                               {group_kind::put_notify, 7, 0x30, 0x98, bytes_of("x")},
                               {group_kind::refusal, 0x0201, 0, 0, {}},
                               {group_kind::message, 0, 0, 0, {}}};

TEST(golden, a_group) {
  EXPECT_EQ(hex(encoded(sample)),
            "0500000000000000"
            "68656c6c6f000000"
            "0800010000000000"
            "2010000000000000"
            "9900000000000000"
            "6569676874206279"
            "0100020007000000"
            "3000000000000000"
            "9800000000000000"
            "7800000000000000"
            "0000030001020000"
            "0000000000000000");
}

TEST(a_group, comes_back_as_it_was) {
  std::vector<kept> back;
  ASSERT_TRUE(parse(encoded(sample), back));
  EXPECT_EQ(back, sample);
  std::mt19937_64 draw(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<kept> some(1 + draw() % largest_group);
    for (kept& k : some) {
      k.kind = static_cast<group_kind>(draw() % 4);
      k.number =
          k.kind == group_kind::put_notify || k.kind == group_kind::refusal ? static_cast<std::uint32_t>(draw()) : 0;
      if (is_put(k.kind)) k.address = draw(), k.key = draw();
      if (k.kind != group_kind::refusal) k.payload.resize(draw() % 40);
      for (std::byte& b : k.payload) b = static_cast<std::byte>(draw());
      if (k.kind == group_kind::message) {  // the short form writes the same bytes
        std::vector<std::byte> one(group_member_bytes(k.kind, k.payload.size()));
        EXPECT_EQ(encode_message(one.data(), k.payload.data(), k.payload.size()), one.data() + one.size());
        EXPECT_EQ(one, encoded({k}));
      }
    }
    ASSERT_TRUE(parse(encoded(some), back));
    EXPECT_EQ(back, some);
  }
}

TEST(a_group, truncated_or_with_too_many_members_is_garbled) {
  const auto raw = encoded(sample);
  std::vector<kept> back;
  for (std::size_t n = 0; n < raw.size(); ++n) {
    const bool whole = parse(const_bytes(raw).first(n), back);
    EXPECT_TRUE(!whole || encoded(back).size() == n) << n;
    EXPECT_LE(encoded(back).size(), n) << "a member reaches past the end";
  }
  std::vector<kept> many(largest_group, {group_kind::message, 0, 0, 0, {}});
  EXPECT_TRUE(parse(encoded(many), back));
  many.push_back(many.back());
  EXPECT_FALSE(parse(encoded(many), back));
  EXPECT_EQ(back.size(), largest_group);
}

TEST(a_group, that_is_still_open_ends_where_its_members_end) {
  std::vector<std::byte> buffer(128, std::byte{0});  // zeros would be empty messages
  std::byte* at = encode_message(buffer.data(), buffer.data(), 0);
  end_group(at);
  group_reader in(buffer);
  group_member m;
  EXPECT_EQ(in.next(m), group_verdict::member);
  EXPECT_NE(in.next(m), group_verdict::member);
}

TEST(a_group, with_a_flipped_bit_is_garbled_or_differs) {
  const auto raw = encoded(sample);
  for (std::size_t i = 0; i < raw.size() * 8; ++i) {
    auto broken = raw;
    broken[i / 8] ^= static_cast<std::byte>(1U << i % 8);
    std::vector<kept> back;
    if (parse(broken, back)) {
      EXPECT_EQ(encoded(back), broken) << "bit " << i << " was ignored";
    }
  }
}

TEST(a_group, with_a_number_or_bytes_where_the_format_has_none_is_garbled) {
  std::vector<kept> back;
  for (const kept& wrong : {kept{group_kind::message, 1, 0, 0, bytes_of("x")}, kept{group_kind::put, 1, 8, 9, {}},
                            kept{group_kind::refusal, 1, 0, 0, bytes_of("x")}})
    EXPECT_FALSE(parse(encoded({wrong}), back)) << static_cast<int>(wrong.kind);
}

TEST(a_group, has_a_size_that_is_a_multiple_of_8) {
  const auto raw = encoded(sample);
  EXPECT_TRUE(group_reader::possible(raw));
  EXPECT_FALSE(group_reader::possible(const_bytes(raw).first(raw.size() - 1)));
  EXPECT_FALSE(group_reader::possible({}));
}

TEST(a_group, has_zeros_as_padding_whatever_its_buffer_held) {
  for (const kept& k : sample) {
    std::vector<std::byte> used(group_member_bytes(k.kind, k.payload.size()), std::byte{0xff});
    encode(group_member{k.kind, k.number, k.address, k.key, k.payload}, used.data());
    EXPECT_EQ(used, encoded({k}));
  }
}

TEST(a_group, of_random_bytes_is_never_read_past_its_end) {
  std::mt19937_64 draw(2);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> some(draw() % 128);
    for (std::byte& b : some) b = static_cast<std::byte>(draw() % 3 == 0 ? draw() % 32 : 0);
    std::vector<kept> back;
    if (parse(some, back)) {
      EXPECT_EQ(encoded(back), some);
    }
  }
}

}  // namespace
}  // namespace weft::wire
