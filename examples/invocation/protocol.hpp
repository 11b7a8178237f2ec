// SPDX-License-Identifier: Apache-2.0
//
// Wire format of each invocation, and the greeting that identifies a peer. Immediates have 32 bits, as on every fabric.
// Lengths travel in headers, because a completion need not carry them (fi_cq(3), FI_REMOTE_CQ_DATA).
// The peer may write to the memory of headers at any time. A header is copied once, then checked, and only the copy is
// used. Hot path: headers and words yes, greeting no. Threads: values.
#pragma once

#include <weft/compose/immediate_layout.hpp>
#include <weft/core/memory.hpp>
#include <weft/wire/reader.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace weft::invocation {

inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::uint16_t most_slots = 64;     ///< Per worker; free slots are one bit each.
inline constexpr std::uint16_t most_workers = 255;  ///< Per allocation; 8 bits of a reply's word.

inline constexpr std::uint32_t most_peers =
    256;  ///< Of one transport, on every fabric: shared memory has no larger address table.

using token = std::array<std::byte, 16>;

/// Compares in constant time, so the duration does not show where the difference is.
constexpr bool same_token(const token& a, const token& b) noexcept {
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{0};
}

enum class role : std::uint8_t { client = 1, worker = 2 };

/// The private data of every connection: the kind of peer, and the secret that proves it. Clients have none.
struct greeting {
  role who = role::client;
  std::uint16_t worker = 0;
  token secret{};
};
inline constexpr std::size_t greeting_bytes = 20;

constexpr std::array<std::byte, greeting_bytes> encode(const greeting& g) noexcept {
  std::array<std::byte, greeting_bytes> into{};
  wire::writer w(into);
  w.number(protocol_version);
  w.number(static_cast<std::uint8_t>(g.who));
  w.number(g.worker);
  for (const std::byte b : g.secret) w.number(std::to_integer<std::uint8_t>(b));
  return into;
}
constexpr std::optional<greeting> parse_greeting(const_bytes from) noexcept {
  wire::reader in(from);
  const auto version = in.number<std::uint8_t>();
  const auto who = in.number<std::uint8_t>();
  greeting g;
  g.worker = in.number<std::uint16_t>();
  for (std::byte& b : g.secret) b = std::byte{in.number<std::uint8_t>()};
  if (!in.done() || version != protocol_version || who < 1 || who > 2) return std::nullopt;
  g.who = static_cast<role>(who);
  return g;
}

/// The immediate of an invocation. The worker has one client, so the slot is enough; the sequence exposes duplicates.
struct call_word {
  using fields = immediate_layout<field<"slot", 8>, field<"sequence", 24>>;
  static constexpr std::uint32_t sequence_mask = field<"sequence", 24>::largest;
  std::uint8_t slot = 0;
  std::uint32_t sequence = 0;  ///< 24 bits, counted per slot.

  static constexpr call_word of(std::uint32_t immediate) noexcept {
    const auto f = fields::of(immediate);
    return {static_cast<std::uint8_t>(f.get<"slot">()), f.get<"sequence">()};
  }
  constexpr std::uint32_t immediate() const noexcept { return fields(slot, sequence & sequence_mask); }
  friend constexpr bool operator==(const call_word&, const call_word&) = default;
};

/// The immediate of a reply. It names the worker, because some fabrics do not name the writer.
struct reply_word {
  using fields = immediate_layout<field<"worker", 8>, field<"slot", 8>, field<"sequence", 16>>;
  std::uint8_t worker = 0;
  std::uint8_t slot = 0;
  std::uint16_t sequence = 0;  ///< The low bits of the call's sequence.

  static constexpr reply_word of(std::uint32_t immediate) noexcept {
    const auto f = fields::of(immediate);
    return {static_cast<std::uint8_t>(f.get<"worker">()), static_cast<std::uint8_t>(f.get<"slot">()),
            static_cast<std::uint16_t>(f.get<"sequence">())};
  }
  constexpr std::uint32_t immediate() const noexcept { return fields(worker, slot, sequence); }
  friend constexpr bool operator==(const reply_word&, const reply_word&) = default;
};

/// Before the payload in an input slot.
struct call_header {
  std::uint64_t id = 0;
  std::uint32_t function = 0;
  std::uint32_t length = 0;    ///< Payload bytes.
  std::uint32_t sequence = 0;  ///< As in the word: reveals a slot whose bytes belong to another call.
  std::uint32_t flags = 0;     ///< Bit 0: the caller sleeps. Other bits are refused.
};
static_assert(sizeof(call_header) == 24);
inline constexpr std::uint32_t caller_sleeps = 1;

/// How a call ended at the worker.
enum class reply_code : std::uint32_t { ok, no_such_function, too_large, function_failed, bad_request };
inline constexpr std::uint32_t reply_codes = 5;

/// Before the result in an output slot.
struct reply_header {
  std::uint64_t id = 0;
  std::uint64_t execution_ns = 0;
  std::int64_t detail = 0;  ///< The function's return value, where it failed.
  std::uint32_t length = 0;
  std::uint32_t code = 0;  ///< A reply_code.
};
static_assert(sizeof(reply_header) == 32);
static_assert(std::endian::native == std::endian::little,
              "weft: invocation headers are little-endian and copied as they are");

/// One copy from memory that a peer can write; later code uses only the copy.
template <class Header>
Header copy_header(const std::byte* from) noexcept {
  Header h;
  std::memcpy(&h, from, sizeof h);
  return h;
}

inline void put_word(std::byte* to, std::uint64_t word) noexcept { std::memcpy(to, &word, sizeof word); }
/// Writes a header before a payload that is sent at once, word by word. A header that is built in memory and copied in
/// larger pieces would stall: a processor forwards only one earlier store to a load.
inline void put_words(std::byte* to, const call_header& h) noexcept {
  put_word(to, h.id);
  put_word(to + 8, h.function | std::uint64_t{h.length} << 32);
  put_word(to + 16, h.sequence | std::uint64_t{h.flags} << 32);
}
inline void put_words(std::byte* to, const reply_header& h) noexcept {
  put_word(to, h.id);
  put_word(to + 8, h.execution_ns);
  put_word(to + 16, static_cast<std::uint64_t>(h.detail));
  put_word(to + 24, h.length | std::uint64_t{h.code} << 32);
}

/// The worker's check of a call. `capacity` is the payload that a slot holds.
constexpr reply_code judge(const call_header& h, std::uint32_t sequence, std::uint32_t functions,
                           std::uint32_t capacity) noexcept {
  if (h.sequence != sequence || (h.flags & ~caller_sleeps) != 0) return reply_code::bad_request;
  if (h.function >= functions) return reply_code::no_such_function;
  if (h.length > capacity) return reply_code::too_large;
  return reply_code::ok;
}

/// Distance between slots: header and payload, rounded up to a cache line so that slots do not share one.
constexpr std::size_t slot_stride(std::size_t header, std::size_t payload) noexcept {
  return (header + payload + 63) / 64 * 64;
}

}  // namespace weft::invocation
