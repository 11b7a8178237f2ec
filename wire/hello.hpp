// SPDX-License-Identifier: Apache-2.0
//
// The handshake: hello, accept, reject. A hello is the first message on every fabric, connected or addressed.
// Reason: private data of 0 to 64 bytes must reach the peer before it accepts, but connection managers carry 56 bytes
// or none. The initiator speaks first, as iWARP demands.
// A hello names the wire version, the fabric, its fingerprint and the answers that both sides share. Peers of other
// builds refuse each other with a sentence.
// The fields before the fingerprint keep their place in every wire version, so a peer of another version gets a reply.
// The first message of a connection has no proof, because each side learns the other's proof from these messages. A
// reply therefore repeats the hello's nonce, and a wrong one is dropped.
// Hot path: no. Threads: values.
#pragma once

#include "../core/port.hpp"
#include "message_tag.hpp"
#include "reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::wire {

inline constexpr std::uint32_t magic = 0x74666577;  // "weft"
inline constexpr std::uint16_t version = 7;
inline constexpr std::uint16_t first_version_with_proof = 6;
inline constexpr std::size_t largest_private_data = 64;
inline constexpr std::size_t largest_address = 256;
inline constexpr std::size_t largest_handshake = 768;
inline constexpr std::size_t largest_shared = 256;
inline constexpr std::size_t largest_reason = 160;
// wire/authentication.hpp says what they are.
inline constexpr std::size_t nonce_bytes = 16;
inline constexpr std::size_t code_bytes = 16;
inline constexpr std::size_t largest_authentication = 2 * nonce_bytes + code_bytes;

/// The place of a peer's notification ring; no entries where the fabric needs none.
struct ring_place {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint32_t entries = 0;
};

/// What each side says about itself in the handshake.
struct introduction {
  std::uint16_t wire_version = version;
  std::uint64_t fingerprint = 0;
  /// The connection word of the side that said hello. It tells a repeated hello from a new one, and a reply repeats it.
  std::uint64_t nonce = 0;
  /// The sender's number of this connection: every message to the sender carries it.
  connection_number connection{};
  /// The sender's proof: every message to the sender carries it too, where the row has room. In a hello the nonce has
  /// the same bits, at a place that every wire version keeps.
  std::uint32_t proof = 0;
  std::uint32_t max_message_bytes = 0;  ///< The largest message that the sender can receive, in bytes.
  std::uint64_t process = 0;            ///< For liveness by process descriptor; meaningful on one host only.
  std::uint32_t heartbeat_ms = 0;  ///< How often this side expects a heartbeat, in milliseconds; 0: it expects none.
  ring_place ring{};
  const_bytes address{};  ///< hello only, on addressed fabrics: the address for the reply.
  const_bytes fabric{};   ///< The fabric's name, for error sentences.
  const_bytes shared{};  ///< Answers and facts that both sides must share, as "family=answer ...", for error sentences.
  bool has_private_data = false;  ///< No private data differs from empty private data.
  const_bytes private_data{};
  const_bytes authentication{};  ///< Empty without authentication; else see wire/authentication.hpp.

  constexpr connection_word own_word() const noexcept { return connection_word::of(connection, proof); }
};

/// Returns the bytes used, or 0 if `into` is too small. Copies the spans.
constexpr std::size_t encode(const introduction& i, bytes into) noexcept {
  writer w(into);
  w.number(magic);
  w.number(i.wire_version);
  w.number(i.nonce);
  w.number(i.connection.value);
  w.counted(i.address);
  w.counted(i.fabric);
  w.number(i.fingerprint);
  w.number(i.proof);
  w.counted(i.shared);
  w.number(i.max_message_bytes);
  w.number(i.process);
  w.number(i.heartbeat_ms);
  w.number(i.ring.address);
  w.number(i.ring.key);
  w.number(i.ring.entries);
  w.number(static_cast<std::uint8_t>(i.has_private_data));
  w.counted(i.private_data);
  w.counted(i.authentication);
  return w.good() ? w.size() : 0;
}

/// No transport gives the number 0, and the bits above a number are the kind's.
constexpr bool is_a_number(connection_number n) noexcept { return n.value != 0 && n.value < connection_number::end; }

/// Nothing, a nonce or a code, or two nonces and a code.
constexpr bool is_authentication(const_bytes b) noexcept {
  static_assert(nonce_bytes == code_bytes);
  return b.empty() || b.size() == nonce_bytes || b.size() == largest_authentication;
}

/// Whether this side can use the bytes as an introduction.
enum class parse_verdict : std::uint8_t { good, garbled, other_wire_version };

/// Strict. A foreign wire version gives its own verdict; then only the fields with a fixed place are valid. `address`
/// is empty where it does not fit. Spans point into `from`.
constexpr parse_verdict parse(const_bytes from, introduction& out) noexcept {
  reader in(from);
  if (in.number<std::uint32_t>() != magic) return parse_verdict::garbled;
  out.wire_version = in.number<std::uint16_t>();
  if (!in.good()) return parse_verdict::garbled;
  out.nonce = in.number<std::uint64_t>();
  out.connection = {in.number<std::uint32_t>()};
  out.address = in.counted(largest_address);
  out.fabric = in.counted(64);
  if (out.wire_version != version) {
    out.proof = connection_word{out.nonce}.proof();
    if (!in.good() || !is_a_number(out.connection)) out.address = {};
    return parse_verdict::other_wire_version;
  }
  out.fingerprint = in.number<std::uint64_t>();
  out.proof = in.number<std::uint32_t>();
  out.shared = in.counted(largest_shared);
  out.max_message_bytes = in.number<std::uint32_t>();
  out.process = in.number<std::uint64_t>();
  out.heartbeat_ms = in.number<std::uint32_t>();
  out.ring.address = in.number<std::uint64_t>();
  out.ring.key = in.number<std::uint64_t>();
  out.ring.entries = in.number<std::uint32_t>();
  const auto flag = in.number<std::uint8_t>();
  out.private_data = in.counted(largest_private_data);
  out.authentication = in.counted(largest_authentication);
  if (!in.done() || flag > 1 || (flag == 0 && !out.private_data.empty())) return parse_verdict::garbled;
  if (!is_a_number(out.connection)) return parse_verdict::garbled;
  if (!is_authentication(out.authentication)) return parse_verdict::garbled;
  out.has_private_data = flag == 1;
  return parse_verdict::good;
}

/// A refusal and its sentence. Its form stays the same in every wire version from 6 on.
struct refusal_notice {
  std::uint8_t code = 0;    ///< An errc: rejected or incompatible.
  std::uint64_t nonce = 0;  ///< Of the hello that it answers.
  const_bytes reason{};
};
/// Up to wire version 5, refusals carried no nonce.
enum class refusal_form : std::uint8_t { with_nonce, without_nonce };
constexpr std::size_t encode(const refusal_notice& r, bytes into,
                             refusal_form form = refusal_form::with_nonce) noexcept {
  writer w(into);
  w.number(magic);
  w.number(r.code);
  if (form == refusal_form::with_nonce) w.number(r.nonce);
  w.counted(r.reason);
  return w.good() ? w.size() : 0;
}
constexpr std::optional<refusal_notice> parse_refusal(const_bytes from,
                                                      refusal_form form = refusal_form::with_nonce) noexcept {
  reader in(from);
  const auto seen = in.number<std::uint32_t>();
  refusal_notice r;
  r.code = in.number<std::uint8_t>();
  if (form == refusal_form::with_nonce) r.nonce = in.number<std::uint64_t>();
  r.reason = in.counted(largest_reason);
  if (!in.done() || seen != magic) return std::nullopt;
  return r;
}

}  // namespace weft::wire
