// SPDX-License-Identifier: Apache-2.0
//
// The place of a handshake where peers prove a secret (policies/authentication.hpp), and the empty part that stands
// there by default. Only a program that asks for authentication::shared_secret includes the real part
// (connecting/shared_secret.hpp), which needs libcrypto. Hot path: none. Threads: the owner's.
#pragma once

#include "../../wire/authentication.hpp"
#include "../options.hpp"

#include <cstdint>
#include <string>

namespace weft::detail {

/// What a hello proves.
enum class hello_proof : std::uint8_t {
  enough,   ///< The application may hear of the caller.
  missing,  ///< The caller gets a challenge.
  wrong,    ///< The caller gets a refusal.
  garbled,  ///< No caller sends that.
};

/// What the record of a peer holds for authentication: nothing.
struct not_authenticated {};

/// What a transport keeps of transport_options::secret where nobody proves one.
struct no_secret {
  explicit no_secret(const secret& /*empty*/) noexcept {}
  static constexpr bool holds() noexcept { return true; }
};

/// The part of a transport that meets everybody.
template <class Engine>
struct no_authentication {
  using record = typename Engine::record;
  explicit no_authentication(Engine& /*engine*/) noexcept {}

  /// Empty, or why open() refuses the options.
  static std::string refusal(const transport_options& o) {
    if (o.secret.size() == 0) return {};
    return "secret is set, but this fabric's answer is authentication::none: use weft::with<" +
           std::string(Engine::fabric::name) + ", weft::answers::authentication::shared_secret>";
  }
  /// A caller begins. False: the kernel gives no random numbers.
  static constexpr bool begin(record& /*caller*/) noexcept { return true; }
  /// The first hellos of a caller. `refusal`: the sentence, where the proof is wrong.
  static hello_proof judge(record& /*caller*/, const wire::introduction& said, std::string& refusal) {
    if (said.authentication.empty()) return hello_proof::enough;
    refusal = "the caller asks for a shared secret, and this listener has none (authentication::none)";
    return hello_proof::wrong;
  }
  static constexpr std::size_t write_challenge(const record& /*caller*/, bytes /*into*/) noexcept { return 0; }
  static constexpr bool is_challenge(const wire::refusal_notice& /*said*/) noexcept { return false; }
  static constexpr void take_challenge(record& /*listener*/, const wire::refusal_notice& /*said*/) noexcept {}
  /// Whether an accept proves the listener.
  static constexpr bool is_proven(const record& /*listener*/, const wire::introduction& /*said*/) noexcept {
    return true;
  }
  /// The sentence where it does not.
  static std::string unproven_accept() { return {}; }
  /// The authentication of this side's hello or accept; its bytes are written into `words`.
  static constexpr const_bytes words(const record& /*peer*/, wire::message_kind /*kind*/,
                                     const wire::introduction& /*own*/, bytes /*words*/) noexcept {
    return {};
  }
};

template <class Answer>
consteval bool secret_has_its_header() {  // apart from the types, so that the compiler says nothing else
  static_assert(!Answer::asks_secret,
                "weft: authentication::shared_secret has a header of its own, which needs libcrypto: "
                "#include <weft/compose/authentication.hpp>, and link weft::authentication [WEFT-C015]");
  return true;
}

/// The types that an answer to `authentication` brings. connecting/shared_secret.hpp adds those of shared_secret.
template <class Answer>
struct authentication_of {
  static_assert(secret_has_its_header<Answer>());
  using peer_part = not_authenticated;
  using kept_secret = no_secret;
  template <class Engine>
  using type = no_authentication<Engine>;
};

}  // namespace weft::detail
