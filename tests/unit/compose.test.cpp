// SPDX-License-Identifier: Apache-2.0
//
// Small parts: addresses as text, keys, the pool of operations, regions and their bounds.
#include <weft/compose/connecting/host_and_service.hpp>
#include <weft/compose/engine/key_source.hpp>
#include <weft/compose/engine/operations.hpp>
#include <weft/compose/region.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace weft {
using namespace detail;  // NOLINT(google-build-using-namespace): under test
namespace {

TEST(host_and_service, host_and_service_are_parsed) {
  const auto is = [](const char* text, const char* host, const char* service) {
    const auto parsed = host_and_service::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->host, host);
    EXPECT_EQ(parsed->service, service);
  };
  is("node7:7471", "node7", "7471");
  is("127.0.0.1:1", "127.0.0.1", "1");
  is("[::1]:7471", "::1", "7471");
  is("[fe80::1%eth0]:7471", "fe80::1%eth0", "7471");
}

TEST(host_and_service, refuses_numbers_that_are_no_port) {
  const auto parsed = host_and_service::parse("127.0.0.1:70001");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().sentence, "service 70001 is no port: ports are numbers up to 65535");
  EXPECT_EQ(host_and_service::not_a_port("65535"), "");
  EXPECT_NE(host_and_service::not_a_port("65536"), "");
  EXPECT_EQ(host_and_service::not_a_port("0"), "");
  EXPECT_EQ(host_and_service::not_a_port("http"), "");
  EXPECT_NE(host_and_service::not_a_port("18446744073709551617"), "");
}

TEST(host_and_service, invalid_text_is_refused_and_quoted) {
  for (const char* text :
       {"", ":", "node7", "node7:", ":7471", "::1:7471", "[::1]", "[::1]7471", "[::1", "[]:7471", "[::1]:", "a:b:c"}) {
    const auto parsed = host_and_service::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.why().code, errc::invalid);
    EXPECT_NE(parsed.error().sentence.find('"' + std::string(text) + '"'), std::string::npos)
        << parsed.error().sentence;
  }
}

TEST(key_source, keys_have_the_row_s_width_and_are_never_zero_or_reused) {
  std::mt19937_64 draw(3);
  std::set<std::uint64_t> seen;
  for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}})
    for (int i = 0; i < 5000; ++i) {
      const auto key = key_source::draw(width, draw);
      ASSERT_TRUE(key);
      EXPECT_NE(*key, 0U);
      EXPECT_EQ(*key >> (width == 8 ? 63 : 32), 0U);
      EXPECT_TRUE(seen.insert(*key).second);
    }
  const auto stuck = [value = std::uint64_t{0}] { return value; };
  EXPECT_FALSE(key_source::draw(8, stuck)) << "0 is no key";
  const auto same = [] { return std::uint64_t{12345678901}; };
  EXPECT_TRUE(key_source::draw(8, same));
  EXPECT_FALSE(key_source::draw(8, same)) << "handed out twice";
}

TEST(key_source, an_exhausted_width_is_an_answer) {
  std::mt19937_64 draw(4);
  int keys = 0;
  while (key_source::draw(1, draw)) ASSERT_LT(++keys, 256);
  EXPECT_GT(keys, 200);
}

struct some_record {};
using slot = operation_slot<some_record, 0>;

TEST(operation_pool, gives_each_slot_once_and_counts) {
  operation_pool<slot> pool;
  int chunks = 0;
  pool.fill(8, [&](bytes memory) {
    ++chunks;
    EXPECT_GE(memory.size(), 8 * sizeof(slot));
    return nullptr;
  });
  EXPECT_EQ(chunks, 1);
  std::set<slot*> taken;
  for (int i = 0; i < 8; ++i) {
    slot* s = pool.take();
    ASSERT_NE(s, nullptr);
    s->use = slot_use::user;
    EXPECT_TRUE(taken.insert(s).second);
    EXPECT_EQ(pool.at(s->index), s);
  }
  EXPECT_EQ(pool.in_flight(), 8U);
  EXPECT_EQ(pool.left(), 0U);
  EXPECT_EQ(pool.take(), nullptr) << "one more than there are";
  slot* first = *taken.begin();
  const std::uint64_t name = first->named();
  pool.give(*first);
  EXPECT_EQ(pool.in_flight(), 7U);
  slot* again = pool.take();
  EXPECT_EQ(again, first);
  EXPECT_NE(again->named(), name) << "a late reply must not find the new operation";
  EXPECT_EQ(pool.at(8), nullptr);
}

TEST(operation_pool, keeps_reserved_slots_from_callers) {
  operation_pool<slot> pool;
  pool.keep_back(3);
  pool.fill(8, [](bytes) { return nullptr; });
  slot* last = nullptr;
  for (int i = 0; i < 5; ++i) {
    last = pool.take_above();
    ASSERT_NE(last, nullptr);
  }
  EXPECT_EQ(pool.left(), 3U);
  EXPECT_EQ(pool.in_flight(), 5U);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(pool.take_above(), nullptr) << "the others are reserved";
  EXPECT_EQ(pool.left(), 3U) << "a refused caller takes nothing";
  pool.give(*last);
  EXPECT_NE(pool.take_above(), nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_NE(pool.take(), nullptr);
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.left(), 0U);
}

TEST(operation_pool, grows_without_moving_slots) {
  operation_pool<slot> pool;
  const auto none = [](bytes) { return nullptr; };
  pool.fill(4, none);
  slot* old = pool.at(2);
  pool.fill(100, none);
  EXPECT_EQ(pool.at(2), old);
  EXPECT_EQ(pool.size(), 104U);
}

TEST(peer, a_null_handle_is_never_alive) {
  const peer nobody;
  EXPECT_FALSE(nobody);
  EXPECT_FALSE(nobody.alive());
}

TEST(remote_region, remaining_bytes_are_known) {
  const remote_region r(wire::region_record{wire::address_form::virtual_address, rights::remote_read, atomicity::target,
                                            8, 9, 0x5000, 100, 1});
  EXPECT_EQ(r.at(0).room, 100U);
  EXPECT_EQ(r.at(40).room, 60U);
  EXPECT_EQ(r.at(40).address, 0x5028U);
  EXPECT_EQ(r.at(40).key, 9U);
  EXPECT_EQ(r.at(100).room, 0U);
  EXPECT_EQ(r.at(101).room, 0U);
  EXPECT_EQ(r.at(~std::uint64_t{0}).room, 0U);
  EXPECT_EQ(r.at(0).granted, rights::remote_read);
}

TEST(region, slices_out_of_bounds_are_refused_with_their_size) {
  std::vector<std::byte> memory(64);
  const region r(registration{nullptr, nullptr, 1, memory.data(), memory.size()}, 1);
  EXPECT_EQ(r.slice(8, 56).data, memory.data() + 8);
  EXPECT_EQ(r.slice(8, 56).size, 56U);
  EXPECT_EQ(r.slice(64, 0).size, 0U);
  for (const local_memory wrong :
       {r.slice(8, 57), r.slice(65, 0), r.slice(~std::size_t{0}, 1), r.slice(0, ~std::size_t{0}), r.first(65)})
    EXPECT_EQ(wrong.size, ~std::size_t{0});
}

}  // namespace
}  // namespace weft
