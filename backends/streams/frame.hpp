// SPDX-License-Identifier: Apache-2.0
//
// The bytes in front of each payload on a stream, and the first bytes of a link. All numbers are little-endian.
// A stream has no message boundaries (tcp(7)), so each frame says how many bytes follow.
// Everything here comes from a peer that may lie: parse() refuses what no port of this build sends, and the receiver
// checks each number against its own state before use.
// Hot path: encode, parse. Threads: values.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace weft::backends::streams {

enum class frame_kind : std::uint8_t {
  message = 1,
  write,
  write_immediate,
  read,             ///< A request; `size` bytes are wanted.
  read_reply,       ///< `immediate`: errc of the read. With an error no bytes follow.
  acknowledgement,  ///< Carries `acked` alone.
  refusal,          ///< The last of the frames counted by `acked`, a write, was refused; `immediate`: errc.
};

struct frame {
  frame_kind kind{};
  bool asks = false;  ///< Somebody waits for the acknowledgement of this frame.
  /// How many messages and writes of the other side were taken so far, modulo 2^32.
  std::uint32_t acked = 0;
  std::uint64_t size = 0;  ///< Bytes of the payload.
  std::uint64_t immediate = 0;
  std::uint64_t address = 0, key = 0;  ///< The place of a write or a read.
};
inline constexpr std::size_t frame_bytes = 40;

/// Copies a number to or from its little-endian bytes.
template <class T>
[[gnu::always_inline]] inline T little(T value) noexcept {
  if constexpr (std::endian::native == std::endian::little) return value;
  T turned{};
  for (std::size_t i = 0; i < sizeof(T); ++i) turned = static_cast<T>(turned << 8 | (value >> (8 * i) & 0xff));
  return turned;
}
template <class T>
[[gnu::always_inline]] inline void store(std::byte* at, T value) noexcept {
  value = little(value);
  std::memcpy(at, &value, sizeof value);
}
template <class T>
[[gnu::always_inline]] inline T load(const std::byte* at) noexcept {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return little(value);
}

/// Writes frame_bytes bytes.
[[gnu::always_inline]] inline void encode(const frame& f, std::byte* into) noexcept {
  store(into, static_cast<std::uint32_t>(f.kind) | std::uint32_t{f.asks} << 8);
  store(into + 4, f.acked);
  store(into + 8, f.size);
  store(into + 16, f.immediate);
  store(into + 24, f.address);
  store(into + 32, f.key);
}
/// Reads frame_bytes bytes. Nothing: no port of this build sends such a frame.
[[gnu::always_inline]] inline std::optional<frame> parse(const std::byte* from) noexcept {
  const auto first = load<std::uint32_t>(from);
  const std::uint32_t kind = first & 0xff;
  if (kind < static_cast<std::uint32_t>(frame_kind::message) ||
      kind > static_cast<std::uint32_t>(frame_kind::refusal) || first >> 9 != 0) [[unlikely]]
    return {};
  frame f{static_cast<frame_kind>(kind),  (first >> 8) != 0,
          load<std::uint32_t>(from + 4),  load<std::uint64_t>(from + 8),
          load<std::uint64_t>(from + 16), load<std::uint64_t>(from + 24),
          load<std::uint64_t>(from + 32)};
  if (f.kind >= frame_kind::acknowledgement && f.size != 0) [[unlikely]]
    return {};
  return f;
}

/// The first bytes of each side of a link.
struct hello {
  static constexpr std::size_t size = 16;
  static constexpr std::array<char, 8> magic{'w', 'e', 'f', 't', 's', 't', 'r', '1'};
  /// Most frames without an acknowledgement, and most reads without a reply, of the sender. A power of two.
  std::uint32_t window = 0;

  static constexpr std::uint32_t least_window = 16, most_window = 16384;
  std::array<std::byte, size> bytes() const noexcept {
    std::array<std::byte, size> made{};
    std::memcpy(made.data(), magic.data(), magic.size());
    store(made.data() + magic.size(), window);
    return made;
  }
  static std::optional<hello> of(const std::array<std::byte, size>& from) noexcept {
    if (std::memcmp(from.data(), magic.data(), magic.size()) != 0) return {};
    const hello came{load<std::uint32_t>(from.data() + magic.size())};
    if (!std::has_single_bit(came.window) || came.window < least_window || came.window > most_window ||
        load<std::uint32_t>(from.data() + magic.size() + 4) != 0)
      return {};
    return came;
  }
};

}  // namespace weft::backends::streams
