// SPDX-License-Identifier: Apache-2.0
//
// Several messages and puts in one message. Members follow each other at multiples of 8 bytes, so payloads are aligned
// as in single messages.
// A member has: size 2, kind 1, zero 1, number 4; for puts address 8, key 8; the payload; zeros up to a multiple of 8.
// All numbers are little-endian.
// The number is the immediate of a put_notify, or the operation and error of a refusal.
// The price of a post forces the format: for few bytes, no library makes that price depend on their number.
// Hot path: all of it. Threads: values.
#pragma once

#include "hello.hpp"
#include "reader.hpp"

#include <cstdint>
#include <cstring>

namespace weft::wire {

enum class group_kind : std::uint8_t {
  message,
  put,
  put_notify,
  /// From the target: it refused a put or put_notify of an earlier group. `number` is the operation plus 256 times the
  /// error.
  refusal,
};
inline constexpr std::uint32_t group_kinds = 4;
/// Most members of one group.
inline constexpr std::uint32_t largest_group = 64;
inline constexpr std::size_t group_head_bytes = 8;
inline constexpr std::size_t group_place_bytes = 16;

struct group_member {
  group_kind kind = group_kind::message;
  std::uint32_t number = 0;
  std::uint64_t address = 0;  ///< Puts: in the form of a write's; the target checks both.
  std::uint64_t key = 0;
  const_bytes payload{};
};

constexpr bool is_put(group_kind k) noexcept { return k == group_kind::put || k == group_kind::put_notify; }
/// Bytes that a member takes. Requires: size below 65536.
constexpr std::size_t group_member_bytes(group_kind k, std::size_t size) noexcept {
  return group_head_bytes + (is_put(k) ? group_place_bytes : 0) + (size + 7) / 8 * 8;
}

namespace detail {
inline void store(std::byte* at, std::uint64_t value) noexcept {
  if constexpr (as_in_memory) std::memcpy(at, &value, sizeof value);
  else
    for (unsigned i = 0; i < 8; ++i) at[i] = static_cast<std::byte>(value >> 8 * i);
}
inline std::uint64_t load(const std::byte* at) noexcept {
  std::uint64_t value = 0;
  if constexpr (as_in_memory) std::memcpy(&value, at, sizeof value);
  else
    for (unsigned i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(at[i]) << 8 * i;
  return value;
}
/// Stores the bytes, and zeros up to a multiple of 8. The most frequent sizes are copied without a call.
[[gnu::always_inline]] inline void store_payload(std::byte* at, const std::byte* from, std::size_t size) noexcept {
  if (size == 0) return;
  if (size % 8 != 0) store(at + size / 8 * 8, 0);
  if (size == 16) std::memcpy(at, from, 16);
  else if (size == 8) std::memcpy(at, from, 8);
  else std::memcpy(at, from, size);
}
}  // namespace detail

/// Writes a member and returns the place of the next one. Requires: group_member_bytes() of room.
[[gnu::always_inline]] inline std::byte* encode_message(std::byte* at, const std::byte* from,
                                                        std::size_t size) noexcept {
  detail::store(at, size);
  detail::store_payload(at + group_head_bytes, from, size);
  return at + group_member_bytes(group_kind::message, size);
}
inline std::byte* encode(const group_member& m, std::byte* at) noexcept {
  detail::store(at, m.payload.size() | static_cast<std::uint64_t>(m.kind) << 16 | std::uint64_t{m.number} << 32);
  std::byte* behind = at + group_head_bytes;
  if (is_put(m.kind)) {
    detail::store(behind, m.address);
    detail::store(behind + 8, m.key);
    behind += group_place_bytes;
  }
  detail::store_payload(behind, m.payload.data(), m.payload.size());
  return at + group_member_bytes(m.kind, m.payload.size());
}

/// Bytes behind a group that say here, and not on the wire, that no member follows.
inline constexpr std::size_t group_end_bytes = 8;
/// Writes them. No member begins so, and the reader stops there.
[[gnu::always_inline]] inline void end_group(std::byte* at) noexcept { detail::store(at, ~std::uint64_t{0}); }

enum class group_verdict : std::uint8_t { member, end, garbled };

/// Reads the members of a group one by one. Strict: it accepts known kinds only, a number only where the format has
/// one, zeros as padding, whole members, and at most largest_group of them. Reading stops at a garbled member.
class group_reader {
 public:
  explicit group_reader(const_bytes body) noexcept : at_(body.data()), left_(body.size()) {}

  /// Whether the size of the bytes permits a group.
  static bool possible(const_bytes body) noexcept { return !body.empty() && body.size() % 8 == 0; }

  [[gnu::always_inline]] group_verdict next(group_member& m) noexcept {
    if (left_ == 0) return group_verdict::end;
    if (left_ < group_head_bytes || ++read_ > largest_group) return group_verdict::garbled;
    const std::uint64_t head = detail::load(at_);
    const std::size_t size = head & 0xffff;
    if (((head >> 16) & 0xffff) >= group_kinds) return group_verdict::garbled;
    m.kind = static_cast<group_kind>(head >> 16);
    m.number = static_cast<std::uint32_t>(head >> 32);
    const std::size_t whole = group_member_bytes(m.kind, size);
    if (whole > left_) return group_verdict::garbled;
    const std::byte* payload = at_ + group_head_bytes;
    if (m.kind != group_kind::message) [[unlikely]]
      if (!rest(m, payload, size)) return group_verdict::garbled;
    if (m.kind == group_kind::message && m.number != 0) return group_verdict::garbled;
    if (size % 8 != 0 && detail::load(payload + size / 8 * 8) >> size % 8 * 8 != 0) return group_verdict::garbled;
    m.payload = {payload, size};
    at_ += whole;
    left_ -= whole;
    return group_verdict::member;
  }

 private:
  static bool rest(group_member& m, const std::byte*& payload, std::size_t size) noexcept {
    if (m.kind == group_kind::refusal) return size == 0;
    if (m.kind == group_kind::put && m.number != 0) return false;
    m.address = detail::load(payload);
    m.key = detail::load(payload + 8);
    payload += group_place_bytes;
    return true;
  }

  const std::byte* at_;
  std::size_t left_;
  std::uint32_t read_ = 0;
};

}  // namespace weft::wire
