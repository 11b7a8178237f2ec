// SPDX-License-Identifier: Apache-2.0
//
// Parts of socket streams that the conformance suites do not reach: frames and hellos that no port of this build sends,
// places in regions, and callers that stay silent. Hot path: no. Threads: one.
#include "../../../backends/streams/regions.hpp"
#include "../../../backends/streams/strangers.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace weft::backends::streams {
namespace {

TEST(stream_frames, have_40_bytes_and_are_read_back) {
  const frame sent{frame_kind::write_immediate, true, 7, 100, 0x1122334455667788, 24, 99};
  std::array<std::byte, frame_bytes> all;
  encode(sent, all.data());
  const std::pair<std::size_t, int> places[] = {{0, 3},     {1, 1},     {4, 7},   {8, 100},
                                                {16, 0x88}, {23, 0x11}, {24, 24}, {32, 99}};
  for (const auto& [at, value] : places) EXPECT_EQ(all.at(at), std::byte(value)) << at;
  const auto came = parse(all.data());
  ASSERT_TRUE(came);
  EXPECT_TRUE(came->kind == sent.kind && came->asks && came->acked == sent.acked && came->size == sent.size &&
              came->immediate == sent.immediate && came->address == sent.address && came->key == sent.key);
}

TEST(stream_frames, that_no_port_sends_are_refused) {
  const auto accepted = [](std::uint32_t first, std::uint64_t size) {
    std::array<std::byte, frame_bytes> all{};
    store(all.data(), first);
    store(all.data() + 8, size);
    return parse(all.data()).has_value();
  };
  for (const std::uint32_t kind : {1U, 2U, 3U, 4U, 5U}) EXPECT_TRUE(accepted(kind, 1)) << kind;
  for (const std::uint32_t kind : {6U, 7U}) {
    EXPECT_TRUE(accepted(kind, 0)) << kind;
    EXPECT_FALSE(accepted(kind, 1)) << kind << " has no payload";
  }
  EXPECT_TRUE(accepted(1U | 1U << 8U, 0)) << "a frame that asks";
  for (const std::uint32_t first : {0U, 8U, 0xffU, 1U | 1U << 9U, 1U | 1U << 31U})
    EXPECT_FALSE(accepted(first, 0)) << first;
}

TEST(stream_hellos, are_read_strictly) {
  const auto good = hello{16}.bytes();
  ASSERT_TRUE(hello::of(good));
  for (std::size_t i = 0; i < hello::magic.size(); ++i) {
    auto other = good;
    other.at(i) ^= std::byte{1};
    EXPECT_FALSE(hello::of(other)) << i;
  }
  for (std::size_t i = 12; i < hello::size; ++i) {
    auto other = good;
    other.at(i) = std::byte{1};
    EXPECT_FALSE(hello::of(other)) << i;
  }
  for (const std::uint32_t window : {0U, 1U, 8U, 15U, 17U, 24U, 32768U, ~0U})
    EXPECT_FALSE(hello::of(hello{window}.bytes())) << window;
  for (const std::uint32_t window : {16U, 1024U, 16384U}) EXPECT_EQ(hello::of(hello{window}.bytes())->window, window);
}

TEST(stream_regions, check_key_rights_and_bounds) {
  std::array<std::byte, 64> memory{};
  regions own;
  own.add(5, memory, rights::remote_write);
  const auto why = [&](std::uint64_t key, std::uint64_t offset, std::uint64_t size, rights asked) {
    return own.reach(key, offset, size, asked).why;
  };
  EXPECT_EQ(own.reach(5, 60, 4, rights::remote_write).at, memory.data() + 60);
  EXPECT_EQ(why(5, 64, 0, rights::remote_write), errc::ok);
  for (const auto& [offset, size] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 65}, {61, 4}, {65, 0}, {~0ULL, 1}, {~0ULL - 3, 8}, {1, ~0ULL}})
    EXPECT_EQ(why(5, offset, size, rights::remote_write), errc::out_of_range) << offset << ", " << size;
  EXPECT_EQ(why(5, 0, 4, rights::remote_read), errc::denied);
  EXPECT_EQ(why(6, 0, 4, rights::remote_write), errc::denied);
  EXPECT_EQ(why(0, 0, 0, rights::remote_write), errc::denied) << "a free entry is no region";
}

TEST(stream_regions, are_found_after_others_with_the_same_place_left) {
  std::array<std::byte, 64> memory{};
  regions own;
  const auto found = [&](std::uint64_t key) { return own.reach(key, 0, 1, rights::remote_write).why == errc::ok; };
  // Of 16 places the first three have the fifth for their own, and 8 stands at its own behind them.
  for (const std::uint64_t key : {5U, 21U, 37U, 8U, 6U}) own.add(key, memory, rights::remote_write);
  own.erase(5);
  EXPECT_TRUE(!found(5) && found(21) && found(37) && found(8) && found(6));
  own.erase(37);
  EXPECT_TRUE(found(21) && !found(37) && found(8) && found(6));
  own.erase(37);
  own.erase(0);
  for (std::uint64_t key = 100; key < 400; ++key) own.add(key, memory, rights::remote_write);
  for (std::uint64_t key = 100; key < 400; ++key) EXPECT_TRUE(found(key)) << key;
  EXPECT_TRUE(found(21) && found(8) && found(6));
}

TEST(stream_strangers, the_oldest_leaves_where_all_places_are_taken) {
  int two[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, two), 0);
  const owned_socket caller(two[1]);
  const auto is_hung_up = [&caller] {
    char none = 0;
    return ::recv(caller.get(), &none, 1, 0) == 0;
  };
  strangers all;
  (void)all.admit(owned_socket(two[0]));
  std::vector<strangers::stranger*> others;
  while (others.size() < strangers::most - 1) others.push_back(&all.admit(owned_socket()));
  EXPECT_FALSE(is_hung_up());
  others.push_back(&all.admit(owned_socket()));
  EXPECT_TRUE(is_hung_up());
  EXPECT_TRUE(std::all_of(others.begin(), others.end(), [&all](const auto* each) { return all.holds(each); }));
  others.back()->leaves = true;
  all.forget();
  EXPECT_TRUE(all.holds(others.front()) && !all.holds(others.back()));
}
TEST(stream_strangers, that_stay_silent_leave) {
  strangers all;
  strangers::stranger& one = all.admit(owned_socket());
  one.since -= 2 * strangers::patience;
  all.forget();
  EXPECT_TRUE(all.empty());
}

}  // namespace
}  // namespace weft::backends::streams
