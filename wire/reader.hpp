// SPDX-License-Identifier: Apache-2.0
//
// Bounds-checked reading and writing of wire bytes: little-endian, lengths before contents, no pointers.
// Bytes of a peer are never trusted. A reader that ran out of bytes stays bad, so a parser asks once, at the end
// (done()).
// Hot path: numbers, in notices and replies that are messages. Threads: values.
#pragma once

#include "../core/memory.hpp"

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace weft::wire {

/// Numbers have the same bytes in memory and on the wire: one copy replaces a shift per byte.
inline constexpr bool as_in_memory = std::endian::native == std::endian::little;

/// Reads values from a span. After a missing byte every read yields zero, and good() is false.
class reader {
 public:
  explicit constexpr reader(const_bytes from) noexcept : left_(from) {}

  template <std::unsigned_integral T>
  constexpr T number() noexcept {
    if (!take(sizeof(T))) return 0;
    if (as_in_memory && !std::is_constant_evaluated()) {
      T whole{};
      std::memcpy(&whole, last_.data(), sizeof whole);
      return whole;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= std::uint64_t{std::to_integer<std::uint8_t>(last_[i])} << (8 * i);
    return static_cast<T>(value);
  }
  /// Bytes after a 16-bit length. The span points into the source: copy it before the source is reused.
  constexpr const_bytes counted(std::size_t at_most) noexcept {
    const std::size_t length = number<std::uint16_t>();
    if (length > at_most || !take(length)) {
      good_ = false;
      return {};
    }
    return last_;
  }
  constexpr bool good() const noexcept { return good_; }
  /// True when every read succeeded and no byte is left over.
  constexpr bool done() const noexcept { return good_ && left_.empty(); }

 private:
  constexpr bool take(std::size_t count) noexcept {
    if (!good_ || left_.size() < count) return good_ = false;
    last_ = left_.first(count);
    left_ = left_.subspan(count);
    return true;
  }

  const_bytes left_;
  const_bytes last_{};
  bool good_ = true;
};

/// Writes values into a span of fixed size. A value that does not fit makes the writer bad; nothing is written past the
/// end.
class writer {
 public:
  explicit constexpr writer(bytes into) noexcept : into_(into) {}

  template <std::unsigned_integral T>
  constexpr void number(T value) noexcept {
    if (!room(sizeof(T))) return;
    if (as_in_memory && !std::is_constant_evaluated()) {
      std::memcpy(into_.data() + size_, &value, sizeof value);
      size_ += sizeof value;
      return;
    }
    for (std::size_t i = 0; i < sizeof(T); ++i)
      into_[size_++] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
  constexpr void counted(const_bytes contents) noexcept {
    number(static_cast<std::uint16_t>(contents.size()));
    if (contents.size() > 0xffff || !room(contents.size())) {
      good_ = false;
      return;
    }
    for (std::byte b : contents) into_[size_++] = b;
  }
  constexpr bool good() const noexcept { return good_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr const_bytes written() const noexcept { return into_.first(size_); }

 private:
  constexpr bool room(std::size_t count) noexcept { return good_ = good_ && into_.size() - size_ >= count; }

  bytes into_;
  std::size_t size_ = 0;
  bool good_ = true;
};

}  // namespace weft::wire
