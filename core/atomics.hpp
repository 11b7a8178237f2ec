// SPDX-License-Identifier: Apache-2.0
//
// Remote atomics: operations, number types, who executes them, how one is carried out, and their arithmetic.
// fi_atomic(3) forces it: a provider offers each operation on each type, or not. Its atomics are atomic only against
// each other, never against instructions of a processor.
// Floating-point words have no compare_swap: some providers compare by value, some by bits, and -0.0 differs from 0.0
// in bits only.
// Hot path: yes. Threads: values.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace weft {

/// An operation on a remote word. Each returns the old value; all but `read` change the word.
enum class atomic_operation : std::uint8_t {
  add = 1,
  compare_swap,
  swap,
  bit_and,
  bit_or,
  bit_xor,
  minimum,
  maximum,
  read
};
inline constexpr std::size_t atomic_operations = 9;

enum class number_type : std::uint8_t { int32 = 1, uint32, int64, uint64, float32, float64 };
inline constexpr std::size_t number_types = 6;

template <class T>
concept atomic_integer = std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;
/// A type of remote atomic words.
template <class T>
concept atomic_number = atomic_integer<T> || std::same_as<T, float> || std::same_as<T, double>;

template <atomic_number T>
inline constexpr number_type type_of = std::same_as<T, std::int32_t>    ? number_type::int32
                                       : std::same_as<T, std::uint32_t> ? number_type::uint32
                                       : std::same_as<T, std::int64_t>  ? number_type::int64
                                       : std::same_as<T, std::uint64_t> ? number_type::uint64
                                       : std::same_as<T, float>         ? number_type::float32
                                                                        : number_type::float64;

constexpr bool is_floating(number_type t) noexcept { return t >= number_type::float32; }
constexpr std::size_t size_of(number_type t) noexcept {
  return t == number_type::int32 || t == number_type::uint32 || t == number_type::float32 ? 4 : 8;
}
/// Whether the operation is defined on the type.
constexpr bool offered(atomic_operation o, number_type t) noexcept {
  if (!is_floating(t)) return true;
  return o == atomic_operation::add || o == atomic_operation::swap || o == atomic_operation::minimum ||
         o == atomic_operation::maximum || o == atomic_operation::read;
}

/// Who executes the atomics on a region's words. One executor must serve all words and all peers, otherwise updates are
/// lost without an error.
enum class atomicity : std::uint8_t {
  provider = 1,  ///< The card or the library. The owner's processor must not touch the words while peers may.
  target,        ///< The owner's progress, on request messages. The owner may use std::atomic_ref at the same time.
  processor,     ///< The owner alone. Peers may read and write the bytes, without atomics.
};

/// How an operation on a word of executor `provider` is carried out.
enum class atomic_lowering : std::uint8_t {
  native,     ///< One call.
  loop,       ///< Compare-swaps of the word until one succeeds.
  wide_loop,  ///< Compare-swaps of the aligned 8 bytes around a 4-byte word.
  target,     ///< Not by the initiator: the target executes atomics on this fabric.
};

/// The lowering of each operation (row) on each type (column), in the order of the enumerations.
struct atomic_table {
  atomic_lowering by[atomic_operations][number_types]{};
  /// One word per operation, one letter per type: n native, l loop, w wide_loop, any other letter target.
  explicit consteval atomic_table(std::string_view words) {
    // Never thrown at run time: the text is the compiler's error message.
    if (words.size() != atomic_operations * (number_types + 1) - 1)  // NOLINTNEXTLINE(hicpp-exception-baseclass)
      throw "weft: a table of atomics has a word per operation and a letter per type [WEFT-C039]";
    for (std::size_t i = 0; i < atomic_operations; ++i)
      for (std::size_t j = 0; j < number_types; ++j) {
        const char letter = words[i * (number_types + 1) + j];
        by[i][j] = letter == 'n'   ? atomic_lowering::native
                   : letter == 'l' ? atomic_lowering::loop
                   : letter == 'w' ? atomic_lowering::wide_loop
                                   : atomic_lowering::target;
      }
  }
  constexpr atomic_lowering of(atomic_operation o, number_type t) const noexcept {
    return by[static_cast<std::size_t>(o) - 1][static_cast<std::size_t>(t) - 1];
  }
  constexpr bool has(atomic_lowering any) const noexcept {
    for (const auto& row : by)
      for (const atomic_lowering each : row)
        if (each == any) return true;
    return false;
  }
  friend constexpr bool operator==(const atomic_table&, const atomic_table&) = default;
};

// Values as bits: the value's bytes as in memory, the rest of the 8 bytes zero.
static_assert(std::endian::native == std::endian::little,
              "weft: words of 4 bytes travel in the low half of 8 [WEFT-C039]");

template <atomic_number T>
constexpr std::uint64_t to_bits(T value) noexcept {
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
  else return std::bit_cast<std::uint64_t>(value);
}
template <atomic_number T>
constexpr T from_bits(std::uint64_t bits) noexcept {
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  else return std::bit_cast<T>(bits);
}

/// The word after the operation. Integers wrap. Requires: offered(o, type_of<T>).
template <atomic_number T>
constexpr T applied(atomic_operation o, T there, T operand, T expected) noexcept {
  if constexpr (atomic_integer<T>) {
    using whole = std::make_unsigned_t<T>;
    const auto a = static_cast<whole>(there), b = static_cast<whole>(operand);
    switch (o) {
      case atomic_operation::add:
        return static_cast<T>(static_cast<whole>(a + b));
      case atomic_operation::compare_swap:
        return there == expected ? operand : there;
      case atomic_operation::bit_and:
        return static_cast<T>(a & b);
      case atomic_operation::bit_or:
        return static_cast<T>(a | b);
      case atomic_operation::bit_xor:
        return static_cast<T>(a ^ b);
      default:
        break;
    }
  } else if (o == atomic_operation::add) {
    return there + operand;
  }
  switch (o) {
    case atomic_operation::swap:
      return operand;
    case atomic_operation::minimum:
      return operand < there ? operand : there;
    case atomic_operation::maximum:
      return there < operand ? operand : there;
    default:
      return there;
  }
}

/// The same, with type and values in their wire form.
constexpr std::uint64_t applied(atomic_operation o, number_type t, std::uint64_t there, std::uint64_t operand,
                                std::uint64_t expected) noexcept {
  const auto as = [&]<class T>(std::type_identity<T>) {
    return to_bits<T>(applied<T>(o, from_bits<T>(there), from_bits<T>(operand), from_bits<T>(expected)));
  };
  switch (t) {
    case number_type::int32:
      return as(std::type_identity<std::int32_t>{});
    case number_type::uint32:
      return as(std::type_identity<std::uint32_t>{});
    case number_type::int64:
      return as(std::type_identity<std::int64_t>{});
    case number_type::uint64:
      return as(std::type_identity<std::uint64_t>{});
    case number_type::float32:
      return as(std::type_identity<float>{});
    case number_type::float64:
      return as(std::type_identity<double>{});
  }
  return there;
}
static_assert(applied(atomic_operation::add, number_type::int32, to_bits(std::int32_t{2147483647}), 1, 0) ==
              to_bits(std::int32_t{-2147483647 - 1}));
static_assert(applied(atomic_operation::minimum, number_type::int64, to_bits(std::int64_t{-1}), 1, 0) ==
              to_bits(std::int64_t{-1}));

/// The old value of an atomic, with the type that the atomic was posted with. A uint64 value converts implicitly.
class atomic_value {
 public:
  constexpr atomic_value() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): the common case
  constexpr atomic_value(std::uint64_t value) noexcept : bits_(value) {}
  constexpr atomic_value(std::uint64_t bits, number_type type) noexcept : bits_(bits), type_(type) {}
  // NOLINTNEXTLINE(google-explicit-constructor): the common case
  constexpr operator std::uint64_t() const noexcept { return bits_; }
  template <atomic_number T>
  constexpr bool holds() const noexcept {
    return type_ == type_of<T>;
  }
  /// The value, or T{} unless holds<T>().
  template <atomic_number T>
  constexpr T as() const noexcept {
    return holds<T>() ? from_bits<T>(bits_) : T{};
  }

 private:
  std::uint64_t bits_ = 0;
  number_type type_ = number_type::uint64;
};

}  // namespace weft
