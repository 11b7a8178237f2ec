// SPDX-License-Identifier: Apache-2.0
//
// A put_notify that travels in one message with its bytes, and the reply to it.
// It serves rows whose writes carry no immediate. There, one message is cheaper than a write and a second message.
// The target copies the bytes to the place where a write would have put them.
// Hot path: on those rows, a few stores into a buffer and one copy. Threads: values.
#pragma once

#include "hello.hpp"
#include "reader.hpp"

#include <cstdint>
#include <optional>

namespace weft::wire {

/// The header before the bytes. `address` and `key` have the form of a write's; the target checks both.
struct fused_head {
  /// The initiator's identifier; the reply repeats it. 0: the initiator does not wait, and the target replies to a
  /// refusal only.
  std::uint64_t token = 0;
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint32_t immediate = 0;
};
inline constexpr std::size_t fused_head_bytes = 28;
/// The largest payload that fits into a control message.
inline constexpr std::size_t largest_fused = largest_handshake - fused_head_bytes;

constexpr std::size_t encode(const fused_head& f, bytes into) noexcept {
  writer w(into);
  w.number(f.token);
  w.number(f.address);
  w.number(f.key);
  w.number(f.immediate);
  return w.good() ? w.size() : 0;
}
/// Parses the header of a message. The payload follows it and has any length.
constexpr std::optional<fused_head> parse_fused(const_bytes from) noexcept {
  if (from.size() < fused_head_bytes) return std::nullopt;
  reader in(from.first(fused_head_bytes));
  fused_head f;
  f.token = in.number<std::uint64_t>();
  f.address = in.number<std::uint64_t>();
  f.key = in.number<std::uint64_t>();
  f.immediate = in.number<std::uint32_t>();
  if (!in.done()) return std::nullopt;
  return f;
}

struct fused_reply {
  std::uint64_t token = 0;  ///< 0: the initiator did not wait.
  std::uint8_t code = 0;    ///< An errc: ok, denied, out_of_range.
};
inline constexpr std::size_t fused_reply_bytes = 9;
constexpr std::size_t encode(const fused_reply& r, bytes into) noexcept {
  writer w(into);
  w.number(r.token);
  w.number(r.code);
  return w.good() ? w.size() : 0;
}
constexpr std::optional<fused_reply> parse_fused_reply(const_bytes from) noexcept {
  reader in(from);
  fused_reply r;
  r.token = in.number<std::uint64_t>();
  r.code = in.number<std::uint8_t>();
  if (!in.done()) return std::nullopt;
  return r;
}

}  // namespace weft::wire
