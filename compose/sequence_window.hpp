// SPDX-License-Identifier: Apache-2.0
//
// Sequence numbers of few bits that wrap without aliasing: at most half of the space is outstanding, so a number names
// one operation (serial number arithmetic, RFC 1982). Forced by immediates of 32 bits (fi_domain(3), cq_data_size): a
// field of 8 or 16 bits wraps in milliseconds, and a late notice would seem a new one. The writer has a
// sequence_source, the target a sequence_window with the same template arguments. Hot path: a few instructions, no
// allocation. Threads: one owner each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weft {

/// What a sequence number is to its target.
enum class arrival : std::uint8_t {
  fresh,      ///< Seen for the first time.
  duplicate,  ///< Seen before, and some number before it is still missing.
  late,       ///< Before all missing numbers: seen before.
  beyond,     ///< More than Outstanding ahead of the first missing number: no writer with this window sent it.
};

namespace detail {
template <unsigned Bits, std::uint32_t Outstanding>
struct sequence_space {
  static_assert(Bits >= 2 && Bits <= 32, "weft: a sequence number has 2 to 32 bits [WEFT-C029]");
  static constexpr std::uint32_t half = std::uint32_t{1} << (Bits - 1);
  static_assert(Outstanding >= 1 && Outstanding <= half,
                "weft: more than half of a sequence's space may not be outstanding: a late number would be taken for a "
                "new one [WEFT-C029]");
  static constexpr std::uint32_t mask = ~std::uint32_t{0} >> (32 - Bits);

  /// One bit per number of the window, by its place in a ring of the next power of two: neighbours in the window never
  /// share one.
  static constexpr std::uint32_t ring = [] {
    std::uint32_t n = 64;
    while (n < Outstanding) n *= 2;
    return n;
  }();
  std::array<std::uint64_t, ring / 64> marks{};

  constexpr bool marked(std::uint32_t n) const noexcept { return (marks[n % ring / 64] >> n % 64 & 1) != 0; }
  constexpr void mark(std::uint32_t n) noexcept { marks[n % ring / 64] |= std::uint64_t{1} << n % 64; }
  constexpr void clear(std::uint32_t n) noexcept { marks[n % ring / 64] &= ~(std::uint64_t{1} << n % 64); }
};
constexpr std::uint32_t default_outstanding(unsigned bits) noexcept {
  return bits >= 11 ? 1024 : std::uint32_t{1} << (bits - 1);
}
}  // namespace detail

/// Hands out numbers and refuses to have too many outstanding. `Outstanding`: at most half of the space.
template <unsigned Bits, std::uint32_t Outstanding = detail::default_outstanding(Bits)>
class sequence_source {
  using space = detail::sequence_space<Bits, Outstanding>;

 public:
  /// The next number. Nothing while Outstanding numbers are not retired: call retire() first.
  constexpr std::optional<std::uint32_t> next() noexcept {
    if (next_ - oldest_ >= Outstanding) return std::nullopt;
    return next_++ & space::mask;
  }
  /// The target has seen this number, as its answer says. In any order. Returns false for a number that is not
  /// outstanding.
  constexpr bool retire(std::uint32_t sequence) noexcept {
    const std::uint32_t ahead = (sequence - oldest_) & space::mask;
    if (ahead >= next_ - oldest_ || retired_.marked(oldest_ + ahead)) return false;
    retired_.mark(oldest_ + ahead);
    for (; oldest_ != next_ && retired_.marked(oldest_); ++oldest_) retired_.clear(oldest_);
    return true;
  }
  /// Numbers from the oldest that is not retired to the newest.
  constexpr std::uint32_t outstanding() const noexcept { return next_ - oldest_; }

 private:
  std::uint32_t next_ = 0;  // counts on past the field's width: differences are right at any wrap
  std::uint32_t oldest_ = 0;
  space retired_{};
};

/// Judges numbers in any order of arrival.
template <unsigned Bits, std::uint32_t Outstanding = detail::default_outstanding(Bits)>
class sequence_window {
  using space = detail::sequence_space<Bits, Outstanding>;

 public:
  /// Returns whether a number is new, and remembers it. Only `fresh` changes the window.
  constexpr arrival judge(std::uint32_t sequence) noexcept {
    const std::uint32_t ahead = (sequence - missing_) & space::mask;
    if (ahead >= Outstanding) return space::mask - ahead < Outstanding ? arrival::late : arrival::beyond;
    if (seen_.marked(missing_ + ahead)) return arrival::duplicate;
    seen_.mark(missing_ + ahead);
    for (; seen_.marked(missing_); ++missing_) seen_.clear(missing_);
    return arrival::fresh;
  }
  /// The first number that has not been seen.
  constexpr std::uint32_t first_missing() const noexcept { return missing_ & space::mask; }

 private:
  std::uint32_t missing_ = 0;
  space seen_{};
};

}  // namespace weft
