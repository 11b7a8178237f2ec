// SPDX-License-Identifier: Apache-2.0
//
// The table of functions, sorted by name; a function's index is its position. Names are [a-z0-9_]{1,64}. A function
// reads its input, writes its output, and returns the number of bytes written, or a negative number that its caller
// gets. Hot path: at(). Threads: immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::invocation {

using function_call = std::int64_t (*)(const std::byte* in, std::uint32_t in_bytes, std::byte* out,
                                       std::uint32_t out_capacity);

/// Errors of the built-ins.
inline constexpr std::int64_t output_too_small = -1;
inline constexpr std::int64_t input_malformed = -2;

inline constexpr std::size_t longest_name = 64;
inline constexpr std::size_t most_functions = 48;

constexpr bool good_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > longest_name) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return true;
}

/// Functions by name and by index.
class function_table {
 public:
  struct entry {
    std::string name;
    function_call call;
  };

  /// Returns false and adds nothing: a bad name, a name in use, no function, or no room.
  bool add(std::string_view name, function_call call);
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
  /// Requires: index < size().
  function_call at(std::uint32_t index) const noexcept { return entries_[index].call; }
  std::optional<std::uint32_t> find(std::string_view name) const noexcept;
  /// One line for each name, in order of index.
  std::string names() const;

 private:
  std::vector<entry> entries_;
};

/// echo, checksum, spin, compress, decompress.
function_table built_in_functions();

}  // namespace weft::invocation
