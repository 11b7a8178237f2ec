// SPDX-License-Identifier: Apache-2.0
//
// Short messages between connected transports: a notice of a write, an atomic request, its reply, ring credits.
// They exist for rows whose provider lacks the feature (no immediates, no atomics, no events).
// Hot path: on those rows, a few stores into a buffer. Threads: values.
#pragma once

#include "../core/atomics.hpp"
#include "reader.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace weft::wire {

/// An atomic that the target executes. `address` and `key` have the form of a write's; the target checks both.
struct atomic_request {
  std::uint64_t token = 0;  ///< The initiator's identifier of the request; the reply repeats it.
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint64_t operand = 0;   ///< The value to add, to write, or to swap in.
  std::uint64_t expected = 0;  ///< compare_swap only.
  atomic_operation operation{};
  number_type type{};
};
inline constexpr std::size_t atomic_request_bytes = 42;
constexpr std::size_t encode(const atomic_request& a, bytes into) noexcept {
  writer w(into);
  w.number(a.token);
  w.number(a.address);
  w.number(a.key);
  w.number(a.operand);
  w.number(a.expected);
  w.number(static_cast<std::uint8_t>(a.operation));
  w.number(static_cast<std::uint8_t>(a.type));
  return w.good() ? w.size() : 0;
}
/// Strict: accepts only a defined operation on a known type, values no wider than the type, and no bytes left over.
constexpr std::optional<atomic_request> parse_atomic_request(const_bytes from) noexcept {
  reader in(from);
  atomic_request a;
  a.token = in.number<std::uint64_t>();
  a.address = in.number<std::uint64_t>();
  a.key = in.number<std::uint64_t>();
  a.operand = in.number<std::uint64_t>();
  a.expected = in.number<std::uint64_t>();
  const auto operation = in.number<std::uint8_t>();
  const auto type = in.number<std::uint8_t>();
  if (!in.done() || operation < 1 || operation > atomic_operations || type < 1 || type > number_types)
    return std::nullopt;
  a.operation = static_cast<atomic_operation>(operation);
  a.type = static_cast<number_type>(type);
  if (!offered(a.operation, a.type)) return std::nullopt;
  if (size_of(a.type) == 4 && (a.operand | a.expected) >> 32 != 0) return std::nullopt;
  return a;
}

struct atomic_reply {
  std::uint64_t token = 0;
  std::uint64_t old = 0;
  std::uint8_t code = 0;  ///< An errc: ok, denied, out_of_range.
};
inline constexpr std::size_t atomic_reply_bytes = 17;
constexpr std::size_t encode(const atomic_reply& a, bytes into) noexcept {
  writer w(into);
  w.number(a.token);
  w.number(a.old);
  w.number(a.code);
  return w.good() ? w.size() : 0;
}
constexpr std::optional<atomic_reply> parse_atomic_reply(const_bytes from) noexcept {
  reader in(from);
  atomic_reply a;
  a.token = in.number<std::uint64_t>();
  a.old = in.number<std::uint64_t>();
  a.code = in.number<std::uint8_t>();
  if (!in.done()) return std::nullopt;
  return a;
}

/// One number: the immediate of a notice, or the number of ring entries that are free again.
constexpr std::size_t encode(std::uint32_t number, bytes into) noexcept {
  writer w(into);
  w.number(number);
  return w.good() ? w.size() : 0;
}
constexpr std::optional<std::uint32_t> parse_number(const_bytes from) noexcept {
  reader in(from);
  const auto number = in.number<std::uint32_t>();
  if (!in.done()) return std::nullopt;
  return number;
}

/// The initiator's identifier of a flush; the reply repeats it.
inline constexpr std::size_t token_bytes = 8;
constexpr std::size_t encode_token(std::uint64_t token, bytes into) noexcept {
  writer w(into);
  w.number(token);
  return w.good() ? w.size() : 0;
}
constexpr std::optional<std::uint64_t> parse_token(const_bytes from) noexcept {
  reader in(from);
  const auto token = in.number<std::uint64_t>();
  if (!in.done()) return std::nullopt;
  return token;
}

/// An entry of a notification ring: an immediate, and a sequence number that is never 0 in a written entry.
struct ring_entry {
  std::uint32_t sequence = 0;
  std::uint32_t immediate = 0;
};
static_assert(sizeof(ring_entry) == 8);

}  // namespace weft::wire
