// SPDX-License-Identifier: Apache-2.0
//
// The handshake of authentication::shared_secret (policies/authentication.hpp; messages: wire/authentication.hpp).
// A caller without the secret stays in the state `arrived`, as one that says nothing. So the limits of silent callers
// hold for it too, and the application never hears of it. Lost and repeated messages do no harm: a nonce stays the same
// while its record lives, and an answer to another nonce gets the challenge again. Hot path: no. Threads: the owner's.
#pragma once

#include "../../backends/openssl/hmac.hpp"
#include "../../core/secret_page.hpp"
#include "../../policies/authentication.hpp"
#include "../engine/no_authentication.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace weft::detail {

/// The code of one side (wire/authentication.hpp). nullopt: libcrypto refused.
inline std::optional<wire::authentication_code> code_of(const secret& known, wire::proving_side side,
                                                        const wire::challenge_nonce& callers,
                                                        const wire::challenge_nonce& listeners,
                                                        const wire::introduction& said) noexcept {
  namespace openssl = backends::openssl;
  std::byte text[wire::largest_transcript];
  const std::size_t size = wire::transcript(side, callers, listeners, said, text);
  openssl::hmac_sha256_result whole{};
  if (size == 0 || !openssl::hmac_sha256(known.revealed(), {text, size}, whole)) return std::nullopt;
  wire::authentication_code code{};
  std::copy_n(whole.begin(), code.size(), code.begin());
  openssl::cleanse(whole);
  return code;
}
/// The same where the caller wants a comparison with received bytes.
inline bool is_code_of(const_bytes shown, const secret& known, wire::proving_side side,
                       const wire::challenge_nonce& callers, const wire::challenge_nonce& listeners,
                       const wire::introduction& said) noexcept {
  const auto right = code_of(known, side, callers, listeners, said);
  return right && backends::openssl::equal(shown, *right);
}

/// What the record of a peer holds while it meets: both nonces.
struct challenged_peer {
  wire::challenge_nonce callers{};
  wire::challenge_nonce listeners{};
  bool has_callers = false;
  bool has_listeners = false;
  void reset() noexcept { has_callers = has_listeners = false; }
};

template <class Engine>
class shared_secret_handshake {
 public:
  using record = typename Engine::record;

  explicit shared_secret_handshake(Engine& e) noexcept : e_(e) {}

  static std::string refusal(const transport_options& o) {
    if (o.secret.has_good_size()) return {};
    if (o.secret.size() == 0)
      return "transport_options::secret is empty, and authentication::shared_secret needs one of " + sizes() +
             " [WEFT-O013]";
    return "transport_options::secret has " + std::to_string(o.secret.size()) +
           " bytes; authentication::shared_secret needs " + sizes() + " [WEFT-O013]";
  }
  bool begin(record& r) noexcept { return r.has_callers = draw(r.callers); }

  hello_proof judge(record& r, const wire::introduction& said, std::string& refusal) {
    const auto words = wire::parse_hello_authentication(said.authentication);
    if (!words) {
      refusal =
          "this listener asks for a shared secret, and the caller has none: build the caller with "
          "authentication::shared_secret";
      return hello_proof::wrong;
    }
    if (!r.has_callers) {
      if (!(r.has_listeners = draw(r.listeners))) {
        refusal = "this listener gets no random numbers from its kernel (getrandom(2))";
        return hello_proof::wrong;
      }
      r.callers = words->callers;
      r.has_callers = true;
      return hello_proof::missing;  // a proof before the challenge is an old one
    }
    if (words->callers != r.callers) return hello_proof::garbled;
    if (!words->answers || words->listeners != r.listeners) return hello_proof::missing;
    if (is_code_of(words->code, e_.known_secret.get(), wire::proving_side::caller, r.callers, r.listeners, said))
      return hello_proof::enough;
    refusal = "the shared secrets differ: give both sides the same transport_options::secret";
    return hello_proof::wrong;
  }
  static std::size_t write_challenge(const record& r, bytes into) noexcept {
    return wire::encode(wire::refusal_notice{wire::challenge_code, r.theirs.value, r.listeners}, into);
  }

  static bool is_challenge(const wire::refusal_notice& said) noexcept {
    return wire::parse_challenge(said).has_value();
  }
  /// Requires: is_challenge().
  static void take_challenge(record& r, const wire::refusal_notice& said) noexcept {
    r.listeners = wire::parse_challenge(said).value_or(wire::challenge_nonce{});
    r.has_listeners = true;
  }
  bool is_proven(const record& r, const wire::introduction& said) const noexcept {
    return r.has_callers && r.has_listeners && said.authentication.size() == wire::code_bytes &&
           is_code_of(said.authentication, e_.known_secret.get(), wire::proving_side::listener, r.callers, r.listeners,
                      said);
  }
  static std::string unproven_accept() { return "the listener did not prove that it knows the shared secret"; }

  /// Empty, and the peer refuses it, where libcrypto refused.
  const_bytes words(const record& r, wire::message_kind kind, const wire::introduction& own,
                    bytes into) const noexcept {
    const secret& known = e_.known_secret.get();
    if (kind == wire::message_kind::accept) {
      const auto code = code_of(known, wire::proving_side::listener, r.callers, r.listeners, own);
      if (!code) return {};
      std::copy(code->begin(), code->end(), into.begin());
      return into.first(code->size());
    }
    wire::hello_authentication hello{r.callers, r.has_listeners, r.listeners, {}};
    if (hello.answers) {
      const auto code = code_of(known, wire::proving_side::caller, r.callers, r.listeners, own);
      hello.answers = code.has_value();
      hello.code = code.value_or(wire::authentication_code{});
    }
    return into.first(wire::encode(hello, into));
  }

 private:
  static std::string sizes() {
    return std::to_string(secret::least_bytes) + " to " + std::to_string(secret::most_bytes) + " bytes";
  }
  /// False: the kernel gives no random numbers.
  bool draw(wire::challenge_nonce& into) noexcept {
    for (std::size_t at = 0; at < into.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t random = e_.entropy();
      if (random == 0) return false;
      std::memcpy(into.data() + at, &random, sizeof random);
    }
    return true;
  }

  Engine& e_;
};

template <>
struct authentication_of<authentication::shared_secret> {
  using peer_part = challenged_peer;
  using kept_secret = secret_page;
  template <class Engine>
  using type = shared_secret_handshake<Engine>;
};

}  // namespace weft::detail
