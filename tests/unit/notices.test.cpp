// SPDX-License-Identifier: Apache-2.0
//
// Uses of immediates: layouts of fields, sequence numbers that wrap, counts by id.
#include <weft/compose/immediate_layout.hpp>
#include <weft/compose/notification_counter.hpp>
#include <weft/compose/operation_counter.hpp>
#include <weft/compose/sequence_window.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace weft {
namespace {

enum class kind : std::uint8_t { call = 1, reply = 2 };
using call = immediate_layout<field<"source", 8>, field<"id", 16>, field<"kind", 8>>;
using wide = spilled_layout<field<"slot", 8>, field<"id", 40>, field<"kind", 8>, field<"stamp", 64>>;

static_assert(sizeof(call) == 4 && call::header_bytes == 0);
static_assert(call(7, 2, 1).immediate() == 0x07000201);
static_assert(call::of(0x07000201).get<"source">() == 7 && call::of(0x07000201).get<"id">() == 2);
static_assert(std::uint32_t{call(1, 2, kind::reply)} == 0x01000202);
static_assert(immediate_layout<field<"a", 3>, field<"b", 2>>(5, 1).immediate() == 0b10101,
              "unused bits are zero, at the top");
static_assert(immediate_layout<field<"all", 32>>(0xffffffffU).get<"all">() == 0xffffffffU);
static_assert(!spilling_layout<call> && spilling_layout<wide>);
static_assert(wide::header_bytes == 16, "40, 8 and 64 bits in 5 + 1 + 8 bytes, in whole words");

TEST(immediate_layout, every_field_is_independent_of_the_others) {
  std::mt19937 draw(1);
  using odd = immediate_layout<field<"a", 1>, field<"b", 13>, field<"c", 7>, field<"d", 11>>;
  for (int i = 0; i < 2000; ++i) {
    const auto bits = [&](std::uint32_t mask) { return static_cast<std::uint32_t>(draw()) & mask; };
    const std::uint32_t a = bits(1), b = bits(0x1fff), c = bits(0x7f), d = bits(0x7ff);
    odd packed(a, b, c, d);
    EXPECT_EQ(odd::of(packed.immediate()), packed);
    EXPECT_EQ(packed.get<"a">(), a);
    EXPECT_EQ(packed.get<"b">(), b);
    EXPECT_EQ(packed.get<"c">(), c);
    EXPECT_EQ(packed.get<"d">(), d);
    packed.set<"c">(~c & 0x7f);
    EXPECT_EQ(packed, odd(a, b, ~c & 0x7f, d));
  }
}

TEST(immediate_layout, unchecked_numbers_are_judged) {
  EXPECT_TRUE(call::checked(255, 65535, kind::call));
  EXPECT_FALSE(call::checked(256, 0, 0));
  EXPECT_FALSE(call::checked(0, 65536, 0));
  EXPECT_FALSE(call::checked(0, -1, 0));
  EXPECT_FALSE(call::checked(0, ~std::uint64_t{0}, 0));
}

TEST(immediate_layout, fields_that_do_not_fit_go_before_the_payload) {
  const wide one(200, 0xfedcba9876U, 3, 0x0123456789abcdefU);
  EXPECT_EQ(one.immediate(), 200U) << "the first field travels in the immediate";
  std::byte there[24]{};
  EXPECT_TRUE(place_header(one, {there, sizeof there, nullptr}));
  const auto back = wide::of(one.immediate(), const_bytes(there));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, one);
  EXPECT_EQ(back->get<"id">(), 0xfedcba9876U);
  EXPECT_EQ(back->get<"kind">(), 3U);
  EXPECT_EQ(back->get<"stamp">(), 0x0123456789abcdefU);
  EXPECT_EQ(wide::leading(one.immediate()).get<"slot">(), 200U);
  EXPECT_FALSE(wide::of(200, const_bytes(there).first(15))) << "shorter than the header";
  EXPECT_FALSE(place_header(one, {there, 15, nullptr}));
  EXPECT_FALSE(place_header(one, {nullptr, ~std::size_t{0}, nullptr})) << "a slice past its region";
}

/// A writer and a target with a network between: every notice in flight arrives once or more, in any order, copies at
/// any time.
template <unsigned Bits, std::uint32_t Outstanding>
void every_number_is_fresh_once(std::uint64_t seed, std::uint64_t count) {
  std::mt19937_64 draw(seed);
  sequence_source<Bits, Outstanding> source;
  sequence_window<Bits, Outstanding> window;
  struct flying {
    std::uint64_t number;
    std::uint32_t sequence;
  };
  std::vector<flying> in_flight;
  std::vector<flying> answered;  // copies of these may still arrive, as long as their numbers are not used again:
                                 // the network's part
  std::map<std::uint64_t, int> fresh;
  std::uint64_t sent = 0;
  while (fresh.size() < count) {
    if (const auto action = draw() % 4; action != 0 && sent < count) {
      if (const auto s = source.next()) in_flight.push_back({sent++, *s});
      else EXPECT_EQ(source.outstanding(), Outstanding);
    } else if (!in_flight.empty()) {
      const std::size_t which = draw() % in_flight.size();
      const flying f = in_flight[which];
      const arrival judged = window.judge(f.sequence);
      EXPECT_EQ(judged == arrival::fresh, fresh[f.number]++ == 0) << "number " << f.number << " as " << f.sequence;
      EXPECT_NE(judged, arrival::beyond);
      if (draw() % 3 != 0) {
        in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(which));
        EXPECT_TRUE(source.retire(f.sequence));
        EXPECT_FALSE(source.retire(f.sequence)) << "retired twice";
        answered.push_back(f);
      }
    }
    if (!answered.empty() && draw() % 8 == 0) {
      const flying f = answered[draw() % answered.size()];
      if (sent - f.number <= Outstanding) {  // RFC 1982: no copy is older than half of the number space
        EXPECT_NE(window.judge(f.sequence), arrival::fresh) << "a copy of " << f.number;
      }
    }
  }
}

TEST(sequence_window, every_number_is_counted_once_through_many_wraps) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    every_number_is_fresh_once<2, 2>(seed, 3000);
    every_number_is_fresh_once<4, 8>(seed, 3000);
    every_number_is_fresh_once<8, 128>(seed, 5000);
    every_number_is_fresh_once<8, 100>(seed, 5000);
    every_number_is_fresh_once<16, 64>(seed, 5000);
  }
}

TEST(sequence_window, impossible_numbers_are_refused) {
  sequence_window<8, 16> window;
  EXPECT_EQ(window.judge(0), arrival::fresh);
  EXPECT_EQ(window.judge(0), arrival::late);
  EXPECT_EQ(window.judge(3), arrival::fresh);
  EXPECT_EQ(window.judge(3), arrival::duplicate);
  EXPECT_EQ(window.judge(17), arrival::beyond) << "1 is missing, so 1 to 16 are possible";
  EXPECT_EQ(window.judge(16), arrival::fresh);
  EXPECT_EQ(window.first_missing(), 1U);
}

TEST(sequence_window, the_source_stops_at_half_of_the_space) {
  sequence_source<4, 8> source;
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(source.next(), i);
  EXPECT_FALSE(source.next());
  EXPECT_TRUE(source.retire(5));
  EXPECT_FALSE(source.next()) << "0 is still in flight: 8 would be taken for it";
  EXPECT_TRUE(source.retire(0));
  EXPECT_EQ(source.next(), 8U);
  EXPECT_FALSE(source.retire(9)) << "never issued";
}

TEST(notification_counter, counts_by_id_and_releases_places) {
  std::mt19937 draw(5);
  notification_counter counter(64);
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> model;
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t id = static_cast<std::uint32_t>(draw() % 97) * 0x01000193U;
    switch (draw() % 8) {
      case 0:
        EXPECT_EQ(counter.reset(id), model[id].first);
        model.erase(id);
        break;
      case 1:
        if (counter.note_failure(id)) ++model[id].second;
        break;
      default:
        if (counter.note(id)) ++model[id].first;
    }
    for (const auto& [other, is] : model) {
      ASSERT_EQ(counter.seen(other), is.first);
      ASSERT_EQ(counter.errors(other), is.second);
    }
  }
  EXPECT_EQ(counter.overflowed(), 0U);
}

TEST(notification_counter, a_full_table_is_an_answer) {
  notification_counter counter(8);
  int taken = 0;
  for (std::uint32_t id = 0; id < 100; ++id) taken += counter.note(id) ? 1 : 0;
  EXPECT_GE(taken, 8);
  EXPECT_EQ(counter.overflowed(), 100U - static_cast<unsigned>(taken));
  EXPECT_TRUE(counter.note(0)) << "an id with a place is still counted";
  EXPECT_EQ(counter.seen(0), 2U);
  counter.clear();
  EXPECT_EQ(counter.seen(0), 0U);
  EXPECT_EQ(counter.overflowed(), 0U);
}

TEST(operation_counter, counts_its_own_operations_only) {
  operation_counter counter, other;
  EXPECT_FALSE(counter.note(completed{operation::put, {}, &other, 0}));
  EXPECT_FALSE(counter.note(failed{operation::put, {}, &other, error(errc::denied, "put")}));
  EXPECT_TRUE(counter.note(completed{operation::put, {}, &counter, 0}));
  EXPECT_FALSE(counter.note(completed{operation::put, {}, nullptr, 0}));
  EXPECT_TRUE(counter.note(failed{operation::put, {}, &counter, error(errc::denied, "put")}));
  EXPECT_EQ(counter.value(), 1U);
  EXPECT_EQ(counter.errors(), 1U);
  EXPECT_EQ(counter.last_error().code, errc::denied);
  counter.set(10);
  counter.add(5);
  EXPECT_EQ(counter.value(), 15U);
  counter.reset();
  EXPECT_EQ(counter.errors(), 0U);
}

}  // namespace
}  // namespace weft
