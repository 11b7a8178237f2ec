// SPDX-License-Identifier: Apache-2.0
//
// Must a peer prove that it may meet this side?
// Forced by fabrics on which anybody who reaches an address can say hello, and by rows whose connections do not say who
// dialled. No fabric proves who a peer is, so the answer is weft's own.
// Answers:
// - none: everybody who reaches this side may ask to connect. Choose it in networks whose members are trusted.
// - shared_secret: both sides prove that they know one secret, before the application hears of the other side. Choose
// it
//   where strangers reach the listener. It says who may meet; it hides and protects no byte afterwards
//   (docs/how-to/security/authenticate_peers.md). Its header is compose/authentication.hpp, and it needs libcrypto.
// Both sides must have the same answer. The handshake compares it: each side refuses the other one with a sentence.
// Absent: certificates and names of peers; a process that holds the secret is as good as each other one.
// Hot path: none; it costs one more round trip for each connection.
#pragma once

#include "../core/policy.hpp"

#include <concepts>

namespace weft {
struct authentication_family;
template <class P>
concept authentication_policy = answers_family<P, authentication_family> && requires {
  { P::asks_secret } -> std::convertible_to<bool>;
};

namespace answers::authentication {
struct none {
  using family = authentication_family;
  static constexpr bool asks_secret = false;
};
static_assert(authentication_policy<none>);

/// Challenge and response with transport_options::secret (wire/authentication.hpp).
struct shared_secret {
  using family = authentication_family;
  static constexpr bool asks_secret = true;
};
static_assert(authentication_policy<shared_secret>);
}  // namespace answers::authentication
}  // namespace weft
