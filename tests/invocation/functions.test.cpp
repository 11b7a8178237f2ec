// SPDX-License-Identifier: Apache-2.0
//
// The built-in functions, and the rules for names.
#include <invocation/functions.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <vector>

namespace weft::invocation {
namespace {

std::int64_t call(std::string_view name, const std::vector<std::byte>& in, std::vector<std::byte>& out) {
  static const function_table table = built_in_functions();
  const auto index = table.find(name);
  EXPECT_TRUE(index) << name;
  return table.at(*index)(in.data(), static_cast<std::uint32_t>(in.size()), out.data(),
                          static_cast<std::uint32_t>(out.size()));
}

std::vector<std::byte> text(std::size_t size) {
  std::vector<std::byte> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = std::byte("abcabcabd"[i % 9]);
  return all;
}

TEST(invocation_functions, function_names_are_short_and_plain) {
  EXPECT_TRUE(good_name("a"));
  EXPECT_TRUE(good_name("thumbnail_2"));
  EXPECT_TRUE(good_name(std::string(64, 'z')));
  for (const char* bad : {"", "A", "../x", "x.so", "a b", "a-b", "ä", "a/b", "a\n"})
    EXPECT_FALSE(good_name(bad)) << bad;
  EXPECT_FALSE(good_name(std::string(65, 'z')));
  EXPECT_FALSE(good_name(std::string_view("a\0b", 3)));
}

TEST(invocation_functions, the_table_is_sorted_and_refuses_bad_names) {
  function_table t;
  const function_call nothing = [](auto...) { return std::int64_t{0}; };
  EXPECT_TRUE(t.add("m", nothing));
  EXPECT_TRUE(t.add("a", nothing));
  EXPECT_TRUE(t.add("z", nothing));
  EXPECT_EQ(t.names(), "a\nm\nz\n");
  EXPECT_EQ(t.find("z"), 2U);
  EXPECT_FALSE(t.find("b"));
  EXPECT_FALSE(t.add("m", nothing)) << "twice";
  EXPECT_FALSE(t.add("n", nullptr));
  EXPECT_FALSE(t.add("../n", nothing));
  for (std::string name = "f"; t.size() < most_functions; name += 'f') EXPECT_TRUE(t.add(name, nothing));
  EXPECT_FALSE(t.add("one_more", nothing));
}

TEST(invocation_functions, echo_returns_its_input_and_respects_the_output_size) {
  const auto in = text(100);
  std::vector<std::byte> out(100);
  EXPECT_EQ(call("echo", in, out), 100);
  EXPECT_EQ(in, out);
  out.resize(99);
  EXPECT_EQ(call("echo", in, out), output_too_small);
  EXPECT_EQ(call("echo", {}, out), 0);
}

TEST(invocation_functions, checksum_is_fnv_1a) {
  std::vector<std::byte> out(8);
  EXPECT_EQ(call("checksum", {std::byte{'a'}}, out), 8);
  std::uint64_t sum = 0;
  std::memcpy(&sum, out.data(), 8);
  EXPECT_EQ(sum, 0xaf63dc4c8601ec8cU);
  out.resize(7);
  EXPECT_EQ(call("checksum", {}, out), output_too_small);
}

TEST(invocation_functions, spin_is_busy_for_the_requested_time) {
  const std::uint32_t microseconds = 2000;
  std::vector<std::byte> in(4);
  std::memcpy(in.data(), &microseconds, 4);
  std::vector<std::byte> out;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(call("spin", in, out), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::microseconds(2000));
  in.pop_back();
  EXPECT_EQ(call("spin", in, out), input_malformed);
}

TEST(invocation_functions, decompress_undoes_compress) {
  const auto in = text(50'000);
  std::vector<std::byte> packed(60'000);
  const std::int64_t size = call("compress", in, packed);
  ASSERT_GT(size, 0);
  EXPECT_LT(size, 5'000);
  packed.resize(static_cast<std::size_t>(size));
  std::vector<std::byte> out(50'000);
  EXPECT_EQ(call("decompress", packed, out), 50'000);
  EXPECT_EQ(in, out);
  out.resize(49'999);
  EXPECT_EQ(call("decompress", packed, out), output_too_small);
  packed[0] = std::byte{0};
  out.resize(50'000);
  EXPECT_EQ(call("decompress", packed, out), input_malformed);
  std::vector<std::byte> tiny(3);
  EXPECT_EQ(call("compress", in, tiny), output_too_small);
}

}  // namespace
}  // namespace weft::invocation
