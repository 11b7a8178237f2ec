// SPDX-License-Identifier: Apache-2.0
//
// authentication::shared_secret without a fabric: the codes of both sides, what they cover, and the secret's type.
#include <weft/compose/authentication.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace weft {
namespace {

using secret_fabric = with<fabrics::loopback, answers::authentication::shared_secret>;
static_assert(!answer<fabrics::loopback, authentication_family>::asks_secret);
static_assert(answer<secret_fabric, authentication_family>::asks_secret);
static_assert(sizeof(detail::engine<secret_fabric>::record) > sizeof(detail::engine<fabrics::loopback>::record),
              "only records of this answer hold nonces");

template <class T>
concept has_text = requires(std::ostringstream& into, const T& what) {
  into << what;
};
template <class T>
concept is_comparable = requires(const T& what) {
  what == what;
};
static_assert(!has_text<secret> && !is_comparable<secret>, "a test report or a log would show the bytes");

constexpr std::string_view known_text = "correct horse battery staple";
const_bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

wire::challenge_nonce nonce_of(std::uint8_t first) {
  wire::challenge_nonce n{};
  for (std::size_t i = 0; i < n.size(); ++i) n[i] = static_cast<std::byte>(first + i);
  return n;
}
wire::introduction sample() {
  wire::introduction i;
  i.fingerprint = 0x1122334455667788;
  i.connection = wire::connection_number::of(5, 2);
  i.proof = 0xc0ffee01;
  i.nonce = i.own_word().value;
  i.max_message_bytes = 4096;
  i.process = 77;
  i.ring = {0x10, 0x20, 64};
  i.address = bytes_of("adr");
  i.fabric = bytes_of("fab");
  i.shared = bytes_of("a=b");
  i.has_private_data = true;
  i.private_data = bytes_of("hi");
  return i;
}
std::string hex(const_bytes raw) {
  std::string text;
  for (const std::byte b : raw) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

using enum wire::proving_side;
wire::authentication_code code(const secret& known = secret(known_text), wire::proving_side side = caller,
                               const wire::challenge_nonce& callers = nonce_of(1),
                               const wire::challenge_nonce& listeners = nonce_of(100),
                               const wire::introduction& said = sample()) {
  return detail::code_of(known, side, callers, listeners, said).value();
}

/// RFC 4231, test case 2.
TEST(hmac, of_the_library_is_that_of_the_standard) {
  backends::openssl::hmac_sha256_result made{};
  ASSERT_TRUE(backends::openssl::hmac_sha256(bytes_of("Jefe"), bytes_of("what do ya want for nothing?"), made));
  EXPECT_EQ(hex(made), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_TRUE(backends::openssl::equal(made, made));
  EXPECT_FALSE(backends::openssl::equal(made, const_bytes(made).first(31)));
}

TEST(a_code, covers_secret_role_nonces_and_introduction) {
  const auto right = code();
  EXPECT_EQ(code(), right);
  EXPECT_NE(code(secret(known_text), listener), right) << "a side could be answered with its own words";
  EXPECT_NE(code(secret("correct horse battery stapl3")), right);
  EXPECT_NE(code(secret(known_text), caller, nonce_of(100), nonce_of(1)), right);
}

TEST(a_code, differs_after_a_flip_of_any_bit) {
  const auto right = code();
  const auto with_flip = [](auto nonce, std::size_t bit) {
    nonce[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    return nonce;
  };
  for (std::size_t bit = 0; bit < wire::nonce_bytes * 8; ++bit) {
    EXPECT_NE(code(secret(known_text), caller, with_flip(nonce_of(1), bit)), right) << "caller's nonce, bit " << bit;
    EXPECT_NE(code(secret(known_text), caller, nonce_of(1), with_flip(nonce_of(100), bit)), right)
        << "listener's nonce, bit " << bit;
  }
  std::string text(known_text);
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string other = text;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(code(secret(other)), right) << "secret, bit " << bit;
  }
  std::vector<std::byte> hello(wire::largest_handshake);
  hello.resize(wire::encode(sample(), hello));
  std::size_t parsed = 0;
  for (std::size_t bit = 0; bit < hello.size() * 8; ++bit) {
    auto changed = hello;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    wire::introduction said;
    if (wire::parse(changed, said) != wire::parse_verdict::good) continue;
    ++parsed;
    EXPECT_NE(code(secret(known_text), caller, nonce_of(1), nonce_of(100), said), right) << "hello, bit " << bit;
  }
  EXPECT_GT(parsed, hello.size() * 2);
}

TEST(a_code, is_refused_after_a_flip_of_any_of_its_bits) {
  const auto is_right = [](const_bytes shown) {
    return detail::is_code_of(shown, secret(known_text), caller, nonce_of(1), nonce_of(100), sample());
  };
  const auto right = code();
  EXPECT_TRUE(is_right(right));
  EXPECT_FALSE(is_right({}));
  EXPECT_FALSE(is_right(const_bytes(right).first(15)));
  for (std::size_t bit = 0; bit < right.size() * 8; ++bit) {
    auto wrong = right;
    wrong[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(is_right(wrong)) << bit;
  }
}

TEST(a_code, ignores_the_authentication_that_carries_it) {
  wire::introduction said = sample();
  const auto nonce = nonce_of(7);
  said.authentication = nonce;
  EXPECT_EQ(code(secret(known_text), caller, nonce_of(1), nonce_of(100), said), code());
}

TEST(authentication, of_a_hello_comes_back_as_it_was) {
  std::byte text[wire::largest_authentication];
  wire::hello_authentication said{nonce_of(1), false, {}, {}};
  ASSERT_EQ(wire::encode(said, text), 16U);
  auto back = wire::parse_hello_authentication(const_bytes(text).first(16));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->callers, said.callers);
  EXPECT_FALSE(back->answers);
  said = {nonce_of(1), true, nonce_of(100), code()};
  ASSERT_EQ(wire::encode(said, text), wire::largest_authentication);
  back = wire::parse_hello_authentication(text);
  ASSERT_TRUE(back && back->answers);
  EXPECT_EQ(back->callers, said.callers);
  EXPECT_EQ(back->listeners, said.listeners);
  EXPECT_EQ(back->code, said.code);
  for (std::size_t size = 0; size < sizeof text; ++size)
    EXPECT_EQ(wire::parse_hello_authentication(const_bytes(text).first(size)).has_value(), size == 16) << size;
}

TEST(a_challenge, is_a_refusal_with_a_code_of_its_own) {
  const auto drawn = nonce_of(9);
  EXPECT_EQ(wire::parse_challenge({wire::challenge_code, 1, drawn}), drawn);
  EXPECT_FALSE(wire::parse_challenge({static_cast<std::uint8_t>(errc::rejected), 1, drawn}));
  EXPECT_FALSE(wire::parse_challenge({wire::challenge_code, 1, const_bytes(drawn).first(15)}));
}

template <class F>
std::string refusal_of(const secret& with) {
  transport_options options;
  options.secret = with;
  const auto opened = open<F>(options);
  return opened ? std::string() : opened.error().sentence;
}
TEST(open, wants_a_secret_where_the_answer_is_shared_secret_and_only_there) {
  EXPECT_EQ(
      refusal_of<secret_fabric>({}),
      "transport_options::secret is empty, and authentication::shared_secret needs one of 16 to 64 bytes [WEFT-O013]");
  EXPECT_EQ(refusal_of<secret_fabric>(secret(std::string(15, 's'))),
            "transport_options::secret has 15 bytes; authentication::shared_secret needs 16 to 64 bytes [WEFT-O013]");
  EXPECT_EQ(refusal_of<secret_fabric>(secret(std::string(65, 's'))),
            "transport_options::secret has 65 bytes; authentication::shared_secret needs 16 to 64 bytes [WEFT-O013]");
  EXPECT_EQ(refusal_of<secret_fabric>(secret(std::string(16, 's'))), "");
  EXPECT_EQ(refusal_of<secret_fabric>(secret(std::string(64, 's'))), "");
  EXPECT_EQ(refusal_of<fabrics::loopback>(secret(known_text)),
            "secret is set, but this fabric's answer is authentication::none: use weft::with<loopback, "
            "weft::answers::authentication::shared_secret>");
  EXPECT_EQ(refusal_of<fabrics::loopback>({}), "");
}

/// The bytes are read after the end of the secret's life, in memory that this test owns.
TEST(a_secret, overwrites_its_bytes_when_it_ends) {
  alignas(secret) std::array<std::byte, sizeof(secret)> home;
  auto* const made = new (home.data()) secret(known_text);
  const auto holds = [&] {
    return std::string_view(reinterpret_cast<const char*>(home.data()), home.size()).find("battery") !=
           std::string_view::npos;
  };
  EXPECT_TRUE(holds());
  made->~secret();
  EXPECT_FALSE(holds());
}

}  // namespace
}  // namespace weft
