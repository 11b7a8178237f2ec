// SPDX-License-Identifier: Apache-2.0
//
// Bytes that cross the wire. Golden bytes: a change of them changes wire::version. Strict parsing: truncated, longer or
// broken bytes are refused, or mean exactly what they say. Random bytes do no harm.
#include <weft/wire/control.hpp>
#include <weft/wire/hello.hpp>
#include <weft/wire/region_bytes.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace weft::wire {
namespace {

std::string hex(const_bytes all) {
  std::string text;
  for (const std::byte b : all) {
    constexpr char digits[] = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}
const_bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

introduction sample() {
  introduction i;
  i.fingerprint = 0x1122334455667788;
  i.nonce = 0xa1;
  i.proof = 0xc0ffee01;
  i.connection = connection_number::of(5, 2);
  i.max_message_bytes = 4096;
  i.process = 77;
  i.heartbeat_ms = 500;
  i.ring = {0x10, 0x20, 64};
  i.address = bytes_of("adr");
  i.fabric = bytes_of("fab");
  i.shared = bytes_of("a=b");
  i.has_private_data = true;
  i.private_data = bytes_of("hi");
  return i;
}
std::vector<std::byte> encoded(const introduction& i) {
  std::vector<std::byte> into(largest_handshake);
  into.resize(encode(i, into));
  return into;
}
region_record sample_region() {
  return {address_form::virtual_address,
          rights::remote_write,
          atomicity::target,
          8,
          0x0102030405060708,
          0x1000,
          0x2000,
          0x99};
}

TEST(golden, a_hello) {
  EXPECT_EQ(hex(encoded(sample())),
            "77656674"
            "0700"
            "a100000000000000"
            "05002000"
            "0300"
            "616472"
            "0300"
            "666162"
            "8877665544332211"
            "01eeffc0"
            "0300"
            "613d62"
            "00100000"
            "4d00000000000000"
            "f4010000"
            "1000000000000000"
            "2000000000000000"
            "40000000"
            "01"
            "0200"
            "6869"
            "0000");
}
TEST(golden, a_region) {
  EXPECT_EQ(hex(encode(sample_region())),
            "0202010208"
            "0807060504030201"
            "0010000000000000"
            "0020000000000000"
            "9900000000000000");
}
TEST(golden, a_refusal) {
  std::vector<std::byte> into(64);
  into.resize(encode(refusal_notice{7, 0x1122334455667788, bytes_of("no")}, into));
  EXPECT_EQ(hex(into),
            "77656674"
            "07"
            "8877665544332211"
            "0200"
            "6e6f");
  into.resize(64);
  into.resize(encode(refusal_notice{7, 1, bytes_of("no")}, into, refusal_form::without_nonce));
  EXPECT_EQ(hex(into),
            "77656674"
            "07"
            "0200"
            "6e6f")
      << "the form that peers of wire version 5 read";
}
TEST(golden, requests_replies_and_numbers) {
  std::byte request[atomic_request_bytes];
  EXPECT_EQ(encode(atomic_request{1, 2, 3, 4, 5, atomic_operation::compare_swap, number_type::int64}, request),
            atomic_request_bytes);
  EXPECT_EQ(hex(request),
            "0100000000000000"
            "0200000000000000"
            "0300000000000000"
            "0400000000000000"
            "0500000000000000"
            "0203");
  std::byte reply[atomic_reply_bytes];
  EXPECT_EQ(encode(atomic_reply{1, 2, 3}, reply), atomic_reply_bytes);
  EXPECT_EQ(hex(reply),
            "0100000000000000"
            "0200000000000000"
            "03");
  std::byte number[4];
  EXPECT_EQ(encode(0x80ff0001U, number), 4U);
  EXPECT_EQ(hex(number), "0100ff80");
}
TEST(golden, a_tag) {
  const connection_word to = connection_word::of(connection_number::of(0x01234, 0xbc), 0x89abcdef);
  EXPECT_EQ(to.value, 0x89abcdef'0bc01234U);
  EXPECT_EQ(message_tag::of(message_kind::user, to).word, to.value);
  EXPECT_EQ(message_tag::of(message_kind::notify, to).word, 0x89abcdef'6bc01234U);
  EXPECT_EQ(message_tag::of(message_kind::region, to).word, 0x89abcdef'fbc01234U);
  EXPECT_EQ(connection_number::of(5, 0xfff, 6).value, 0x3ffc5U) << "few records leave more bits to the generation";
  EXPECT_EQ(connection_number::of(5, ~0U, 6).value, 0x0fffffc5U) << "the kind's bits stay free";
}
TEST(a_tag, has_the_kind_the_number_and_the_proof_that_it_was_made_of) {
  for (std::uint32_t kind = 0; kind < message_kinds; ++kind)
    for (const std::uint32_t number : {1U, 0x7654321U, connection_number::end - 1})
      for (const std::uint32_t proof : {0U, 1U, 0x80000000U, ~0U}) {
        const auto tag = message_tag::of(static_cast<message_kind>(kind), connection_word::of({number}, proof));
        EXPECT_EQ(tag.kind_bits(), kind);
        EXPECT_EQ(tag.connection().number().value, number);
        EXPECT_EQ(tag.connection().proof(), proof);
      }
}

TEST(a_hello, comes_back_as_it_was) {
  const auto raw = encoded(sample());
  introduction back;
  ASSERT_EQ(parse(raw, back), parse_verdict::good);
  EXPECT_EQ(encoded(back), raw);
  for (const bool has : {false, true}) {
    introduction none = sample();
    none.has_private_data = has;
    none.private_data = {};
    const auto bytes_of_none = encoded(none);
    ASSERT_EQ(parse(bytes_of_none, back), parse_verdict::good);
    EXPECT_EQ(back.has_private_data, has) << "no private data differs from empty private data";
  }
}

TEST(a_hello, truncated_or_too_long_is_garbled) {
  auto raw = encoded(sample());
  introduction back;
  for (std::size_t n = 0; n < raw.size(); ++n)
    EXPECT_NE(parse(const_bytes(raw).first(n), back), parse_verdict::good) << n;
  raw.push_back({});
  EXPECT_EQ(parse(raw, back), parse_verdict::garbled);
}

TEST(a_hello, with_a_flipped_bit_is_refused_or_differs) {
  const auto raw = encoded(sample());
  for (std::size_t i = 0; i < raw.size() * 8; ++i) {
    auto broken = raw;
    broken[i / 8] ^= static_cast<std::byte>(1U << i % 8);
    introduction back;
    const auto verdict = parse(broken, back);
    if (i < 32) {
      EXPECT_EQ(verdict, parse_verdict::garbled) << "magic, bit " << i;
    } else if (i < 48) {
      EXPECT_EQ(verdict, parse_verdict::other_wire_version) << "version, bit " << i;
    } else if (verdict == parse_verdict::good) {
      EXPECT_EQ(encoded(back), broken) << "bit " << i << " was ignored";
    }
  }
}

TEST(a_hello, of_another_wire_version_is_still_answered) {
  introduction later = sample();
  later.wire_version = version + 1;
  later.nonce = 0x55443322'11000000U;
  auto raw = encoded(later);
  introduction back;
  for (const std::size_t unknown : {std::size_t{0}, raw.size() - 40}) {  // extra bytes that a later version may append
    ASSERT_EQ(parse(const_bytes(raw).first(raw.size() - unknown), back), parse_verdict::other_wire_version);
    EXPECT_EQ(back.address.size(), 3U);
    EXPECT_EQ(back.connection.value, later.connection.value);
    EXPECT_EQ(back.proof, later.nonce >> 32) << "the answer needs the peer's proof";
  }
  ASSERT_EQ(parse(const_bytes(raw).first(20), back), parse_verdict::other_wire_version);
  EXPECT_TRUE(back.address.empty()) << "truncated: no answer is possible";
}

TEST(a_hello, with_oversized_parts_is_refused) {
  introduction i = sample();
  std::vector<std::byte> large(largest_private_data + 1);
  i.private_data = large;
  introduction back;
  EXPECT_EQ(parse(encoded(i), back), parse_verdict::garbled);
  i = sample();
  large.resize(largest_address + 1);
  i.address = large;
  EXPECT_EQ(parse(encoded(i), back), parse_verdict::garbled);
  for (const std::size_t wrong : {1U, 15U, 17U, 32U, 47U, 49U}) {
    i = sample();
    large.assign(wrong, {});
    i.authentication = large;
    EXPECT_EQ(parse(encoded(i), back), parse_verdict::garbled) << wrong << " bytes of authentication";
  }
  i = sample();
  i.connection.value = 0x1000'0000;
  EXPECT_EQ(parse(encoded(i), back), parse_verdict::garbled)
      << "a connection number of more than 28 bits would spill into the kind";
  i.connection.value = 0;
  EXPECT_EQ(parse(encoded(i), back), parse_verdict::garbled) << "no transport gives the number 0";
}

TEST(a_hello, with_private_data_and_no_flag_is_refused) {
  introduction i = sample();
  const std::vector<std::byte> some(4);
  i.private_data = some;
  i.has_private_data = true;
  introduction back;
  EXPECT_EQ(parse(encoded(i), back), parse_verdict::good);
  i.has_private_data = false;
  EXPECT_EQ(parse(encoded(i), back), parse_verdict::garbled);
}

TEST(a_hello, of_the_largest_parts_fits_and_a_smaller_buffer_is_refused) {
  introduction i = sample();
  const std::vector<std::byte> address(largest_address), fabric(64), data(largest_private_data), shared(largest_shared),
      authentication(largest_authentication);
  i.shared = shared;
  i.authentication = authentication;
  i.address = address;
  i.fabric = fabric;
  i.private_data = data;
  EXPECT_GT(encoded(i).size(), 0U);
  introduction back;
  EXPECT_EQ(parse(encoded(i), back), parse_verdict::good);
  std::vector<std::byte> small(encoded(i).size() - 1);
  EXPECT_EQ(encode(i, small), 0U);
}

TEST(a_region, truncated_too_long_or_inconsistent_is_refused) {
  const auto good = encode(sample_region());
  EXPECT_EQ(parse_region(good), sample_region());
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(parse_region(const_bytes(good).first(n)));
  const auto with = [](auto change) {
    region_record r = sample_region();
    change(r);
    return parse_region(encode(r)).has_value();
  };
  EXPECT_TRUE(with([](region_record&) {}));
  EXPECT_FALSE(with([](region_record& r) { r.key_bytes = 0; }));
  EXPECT_FALSE(with([](region_record& r) { r.key_bytes = 9; }));
  EXPECT_FALSE(with([](region_record& r) { r.key_bytes = 4; })) << "a key wider than its width";
  EXPECT_FALSE(with([](region_record& r) { r.base = ~std::uint64_t{0}; })) << "past the end of the address space";
  EXPECT_FALSE(with([](region_record& r) { r.form = address_form::offset; })) << "offsets count from 0";
  EXPECT_FALSE(with([](region_record& r) {
    r.form = address_form::offset;
    r.base = 0;
    r.length = ~std::uint64_t{0};
  })) << "as long as an invalid slice";
  EXPECT_FALSE(with([](region_record& r) { r.form = static_cast<address_form>(3); }));
  EXPECT_FALSE(with([](region_record& r) { r.granted = static_cast<rights>(8); }));
}

TEST(a_region, with_a_flipped_bit_is_refused_or_differs) {
  const auto good = encode(sample_region());
  for (std::size_t i = 0; i < good.size() * 8; ++i) {
    auto broken = good;
    broken[i / 8] ^= static_cast<std::byte>(1U << i % 8);
    const auto back = parse_region(broken);
    EXPECT_FALSE(i < 8 && back) << "layout, bit " << i;
    EXPECT_TRUE(!back || encode(*back) == broken) << "bit " << i << " was ignored";
  }
}

TEST(control, truncated_or_too_long_is_refused) {
  std::vector<std::byte> request(atomic_request_bytes);
  encode(atomic_request{1, 2, 3, 4, 5, atomic_operation::add, number_type::float64}, request);
  ASSERT_TRUE(parse_atomic_request(request));
  for (std::size_t n = 0; n < request.size(); ++n) EXPECT_FALSE(parse_atomic_request(const_bytes(request).first(n)));
  const auto refused = [&](std::size_t operation, std::size_t type) {
    request[request.size() - 2] = static_cast<std::byte>(operation);
    request.back() = static_cast<std::byte>(type);
    return !parse_atomic_request(request);
  };
  EXPECT_TRUE(refused(0, 1) && refused(atomic_operations + 1, 1)) << "an unknown operation";
  EXPECT_TRUE(refused(1, 0) && refused(1, number_types + 1)) << "an unknown type";
  EXPECT_TRUE(refused(2, 6)) << "a double is not compared and swapped";
  EXPECT_FALSE(refused(1, 1));
  encode(atomic_request{1, 2, 3, 1ULL << 32, 5, atomic_operation::add, number_type::int32}, request);
  EXPECT_FALSE(parse_atomic_request(request)) << "an operand wider than its type";
  encode(atomic_request{1, 2, 3, 4, 1ULL << 32, atomic_operation::compare_swap, number_type::int32}, request);
  EXPECT_FALSE(parse_atomic_request(request)) << "an expected value wider than its type";
  std::vector<std::byte> reply(atomic_reply_bytes + 1);
  EXPECT_FALSE(parse_atomic_reply(reply));
  EXPECT_TRUE(parse_atomic_reply(const_bytes(reply).first(atomic_reply_bytes)));
  EXPECT_FALSE(parse_number(const_bytes(reply).first(3)));
  EXPECT_FALSE(parse_number(const_bytes(reply).first(5)));
}

TEST(a_refusal, with_another_mark_is_garbled) {
  std::vector<std::byte> raw(64);
  raw.resize(encode(refusal_notice{7, 9, bytes_of("no")}, raw));
  ASSERT_TRUE(parse_refusal(raw));
  EXPECT_EQ(parse_refusal(raw)->nonce, 9U);
  raw[0] ^= std::byte{1};
  EXPECT_FALSE(parse_refusal(raw));
}
TEST(a_refusal, truncated_too_long_or_in_the_other_form_is_garbled) {
  for (const refusal_form form : {refusal_form::with_nonce, refusal_form::without_nonce}) {
    std::vector<std::byte> raw(64);
    raw.resize(encode(refusal_notice{7, 0x1122334455667788, bytes_of("no")}, raw, form));
    ASSERT_TRUE(parse_refusal(raw, form));
    for (std::size_t n = 0; n < raw.size(); ++n) EXPECT_FALSE(parse_refusal(const_bytes(raw).first(n), form)) << n;
    EXPECT_FALSE(
        parse_refusal(raw, form == refusal_form::with_nonce ? refusal_form::without_nonce : refusal_form::with_nonce));
    raw.push_back({});
    EXPECT_FALSE(parse_refusal(raw, form));
  }
}
TEST(a_refusal, with_a_flipped_bit_is_refused_or_differs) {
  std::vector<std::byte> raw(64);
  raw.resize(encode(refusal_notice{7, 0x1122334455667788, bytes_of("no")}, raw));
  for (std::size_t i = 0; i < raw.size() * 8; ++i) {
    auto broken = raw;
    broken[i / 8] ^= static_cast<std::byte>(1U << i % 8);
    const auto back = parse_refusal(broken);
    if (!back) continue;
    std::vector<std::byte> again(64);
    again.resize(encode(*back, again));
    EXPECT_EQ(again, broken) << "bit " << i << " was ignored";
  }
}

TEST(random_bytes, are_refused_or_encode_to_themselves) {
  std::mt19937_64 draw(7);
  const auto good = encoded(sample());
  for (int round = 0; round < 300'000; ++round) {
    std::vector<std::byte> raw;
    if (round % 2 == 0) {
      raw = good;
      for (std::uint64_t k = 1 + draw() % 4; k > 0; --k) raw[draw() % raw.size()] = static_cast<std::byte>(draw());
      if (draw() % 4 == 0) raw.resize(draw() % (raw.size() + 20));
    } else {
      raw.resize(draw() % 128);
      for (auto& b : raw) b = static_cast<std::byte>(draw());
    }
    introduction back;
    ASSERT_TRUE(parse(raw, back) != parse_verdict::good || encoded(back) == raw);
    const auto r = parse_region(raw);
    ASSERT_TRUE(!r || std::equal(raw.begin(), raw.end(), encode(*r).begin()));
    (void)parse_refusal(raw);
    (void)parse_atomic_request(raw);
    (void)parse_atomic_reply(raw);
    (void)parse_number(raw);
  }
}

}  // namespace
}  // namespace weft::wire
