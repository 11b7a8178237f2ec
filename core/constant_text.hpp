// SPDX-License-Identifier: Apache-2.0
//
// Text that is put together at compile time: names of answers, and the strings that a binary carries about its build.
// Text that does not fit is a compile error; nothing is cut.
// Hot path: compile time only. Threads: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft {

/// At most Size - 1 characters and the terminating zero.
template <std::size_t Size>
class constant_text {
 public:
  constexpr constant_text& add(std::string_view more) {
    for (const char c : more) letters_.at(size_++) = c;
    letters_.at(size_) = '\0';
    return *this;
  }
  /// Adds decimal digits.
  constexpr constant_text& add(std::uint64_t number) {
    if (number > 9) add(number / 10);
    const char digit = static_cast<char>('0' + number % 10);
    return add(std::string_view(&digit, 1));
  }
  /// Adds 16 hexadecimal digits.
  constexpr constant_text& add_hex(std::uint64_t number) {
    for (int shift = 60; shift >= 0; shift -= 4)
      add(std::string_view("0123456789abcdef").substr((number >> shift) & 15, 1));
    return *this;
  }
  constexpr std::string_view view() const noexcept { return {letters_.data(), size_}; }

 private:
  std::array<char, Size> letters_{};
  std::size_t size_ = 0;
};

}  // namespace weft
