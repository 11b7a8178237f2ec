// SPDX-License-Identifier: Apache-2.0
//
// How the text of one cell becomes a member of the profile. Hot path: no. Threads: one.
#pragma once

#include "profile.hpp"

#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace weft::emulator {

/// One line's value, and its position for sentences.
struct value {
  std::string text;
  std::string place;

  std::uint64_t number() const {
    if (text == "unlimited") return std::numeric_limits<std::uint64_t>::max();
    std::uint64_t n = 0;
    const bool hexadecimal = text.starts_with("0x");
    const char* begin = text.data() + (hexadecimal ? 2 : 0);
    const auto [end, fault] = std::from_chars(begin, text.data() + text.size(), n, hexadecimal ? 16 : 10);
    if (fault != std::errc{} || end != text.data() + text.size()) refuse(place + ": \"" + text + "\" is not a number");
    return n;
  }
  bool flag() const { return one_of("true", "false"); }
  /// True for `yes`, false for `no`; every other word is refused.
  bool one_of(std::string_view yes, std::string_view no) const {
    if (text == yes) return true;
    if (text == no) return false;
    refuse(place + ": \"" + text + "\" is neither \"" + std::string(yes) + "\" nor \"" + std::string(no) + '"');
  }
};

using setter = std::function<void(profile&, const value&)>;
/// By the name of the cell, or of the attribute of emulator/interfaces.yaml.
const std::map<std::string, setter, std::less<>>& cells();

}  // namespace weft::emulator
