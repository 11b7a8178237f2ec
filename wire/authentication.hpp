// SPDX-License-Identifier: Apache-2.0
//
// The bytes by which two sides prove a shared secret (policies/authentication.hpp). Four messages:
// 1. The caller's hello carries a fresh nonce.
// 2. The listener's challenge, a form of refusal, carries a nonce of its own.
// 3. The caller says hello again, with both nonces and a code (MAC) over them and the whole hello.
// 4. The listener's accept carries its code over the same nonces and the whole accept.
// A code covers a role, so nobody's own words prove anything to him. It covers the wire version, the fingerprint and
// the private data, because these are part of the introduction. Fresh nonces make recorded messages worthless. Hot
// path: no. Threads: values.
#pragma once

#include "hello.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::wire {

/// Nobody can guess a nonce, and nobody draws it twice.
using challenge_nonce = std::array<std::byte, nonce_bytes>;
/// The first half of an HMAC-SHA-256, as RFC 2104 permits and RFC 4868 uses it.
using authentication_code = std::array<std::byte, code_bytes>;

/// refusal_notice::code of a challenge. It is no errc. The reason is the listener's nonce.
inline constexpr std::uint8_t challenge_code = 0xff;

/// The listener's nonce in a challenge; nullopt where the refusal is none.
constexpr std::optional<challenge_nonce> parse_challenge(const refusal_notice& said) noexcept {
  if (said.code != challenge_code || said.reason.size() != nonce_bytes) return std::nullopt;
  challenge_nonce drawn{};
  std::copy(said.reason.begin(), said.reason.end(), drawn.begin());
  return drawn;
}

/// introduction::authentication of a hello.
struct hello_authentication {
  challenge_nonce callers{};
  bool answers = false;         ///< It answers a challenge. Only then the members below count.
  challenge_nonce listeners{};  ///< The challenge that it answers.
  authentication_code code{};
};
/// Returns the bytes used. Requires: `into` has largest_authentication bytes.
constexpr std::size_t encode(const hello_authentication& a, bytes into) noexcept {
  auto at = std::copy(a.callers.begin(), a.callers.end(), into.begin());
  if (!a.answers) return a.callers.size();
  at = std::copy(a.listeners.begin(), a.listeners.end(), at);
  std::copy(a.code.begin(), a.code.end(), at);
  return largest_authentication;
}
/// nullopt: no nonce; the caller does not know of authentication.
constexpr std::optional<hello_authentication> parse_hello_authentication(const_bytes from) noexcept {
  if (from.size() != nonce_bytes && from.size() != largest_authentication) return std::nullopt;
  hello_authentication a;
  a.answers = from.size() == largest_authentication;
  const auto take = [&from](auto& into) {
    std::copy(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(into.size()), into.begin());
    from = from.subspan(into.size());
  };
  take(a.callers);
  if (!a.answers) return a;
  take(a.listeners);
  take(a.code);
  return a;
}

/// Whose code it is.
enum class proving_side : std::uint8_t { caller = 1, listener = 2 };

inline constexpr std::string_view transcript_name = "weft authentication 1";
inline constexpr std::size_t largest_transcript = transcript_name.size() + 1 + 2 * nonce_bytes + largest_handshake;

/// The bytes that a code covers: a name, the role, both nonces, and the introduction without its authentication. The
/// parts before the introduction have a fixed length, so no two contents have the same bytes. Returns the bytes used,
/// or 0 if `into` is too small.
constexpr std::size_t transcript(proving_side side, const challenge_nonce& callers, const challenge_nonce& listeners,
                                 introduction said, bytes into) noexcept {
  constexpr std::size_t before = transcript_name.size() + 1 + 2 * nonce_bytes;
  if (into.size() < before) return 0;
  auto at = into.begin();
  for (const char c : transcript_name) *at++ = static_cast<std::byte>(c);
  *at++ = static_cast<std::byte>(side);
  at = std::copy(callers.begin(), callers.end(), at);
  std::copy(listeners.begin(), listeners.end(), at);
  said.authentication = {};
  const std::size_t size = encode(said, into.subspan(before));
  return size == 0 ? 0 : before + size;
}

}  // namespace weft::wire
