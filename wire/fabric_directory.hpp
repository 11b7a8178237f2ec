// SPDX-License-Identifier: Apache-2.0
//
// What a listener with several fabrics says of itself: its host, its user, and for each fabric the address at which it
// listens there. The caller learns from these bytes which fabrics both sides have.
// Layout version 1, little-endian: mark 1, version 1, host 8, user 4, fabrics 1; for each fabric: name (16-bit length,
// letters), fingerprint 8, address (16-bit length, printable text).
// Hot path: no. Threads: values.
#pragma once

#include "reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::wire {

inline constexpr std::uint8_t directory_mark = 'D';
inline constexpr std::uint8_t directory_layout = 1;
inline constexpr std::size_t most_fabrics = 8;  ///< Of one set.
inline constexpr std::size_t longest_fabric_name = 32;
inline constexpr std::size_t longest_fabric_address = 256;

struct directory_entry {
  std::string fabric;
  std::uint64_t fingerprint = 0;  ///< Of the build's fabric: peers need the same.
  std::string address;            ///< What connect() over that fabric takes.
  friend bool operator==(const directory_entry&, const directory_entry&) = default;
};
struct fabric_directory {
  std::uint64_t host = 0;  ///< Equal where both processes can share memory.
  std::uint32_t user = 0;
  std::vector<directory_entry> fabrics;
  friend bool operator==(const fabric_directory&, const fabric_directory&) = default;
};

inline std::vector<std::byte> encode(const fabric_directory& d) {
  std::vector<std::byte> out(2 + 8 + 4 + 1 + d.fabrics.size() * (12 + longest_fabric_name + longest_fabric_address));
  writer w(out);
  const auto text = [&](const std::string& t) { w.counted(std::as_bytes(std::span(t.data(), t.size()))); };
  w.number(directory_mark);
  w.number(directory_layout);
  w.number(d.host);
  w.number(d.user);
  w.number(static_cast<std::uint8_t>(d.fabrics.size()));
  for (const directory_entry& each : d.fabrics) {
    text(each.fabric);
    w.number(each.fingerprint);
    text(each.address);
  }
  out.resize(w.good() ? w.size() : 0);
  return out;
}

/// Strict: known version, 1 to 8 fabrics, texts of printable characters within their limits, no bytes left over.
inline std::optional<fabric_directory> parse_directory(const_bytes from) {
  reader in(from);
  const auto text = [&](std::size_t at_most) -> std::string {
    const const_bytes raw = in.counted(at_most);
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  };
  const auto printable = [](std::string_view t) {
    return !t.empty() &&
           t.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:[]%/,") ==
               std::string_view::npos;
  };
  const auto mark = in.number<std::uint8_t>();
  const auto layout = in.number<std::uint8_t>();
  fabric_directory d;
  d.host = in.number<std::uint64_t>();
  d.user = in.number<std::uint32_t>();
  const auto count = in.number<std::uint8_t>();
  if (!in.good() || mark != directory_mark || layout != directory_layout) return std::nullopt;
  if (count == 0 || count > most_fabrics) return std::nullopt;
  for (std::uint8_t i = 0; i < count; ++i) {
    directory_entry each;
    each.fabric = text(longest_fabric_name);
    each.fingerprint = in.number<std::uint64_t>();
    each.address = text(longest_fabric_address);
    if (!in.good() || !printable(each.fabric) || !printable(each.address)) return std::nullopt;
    d.fabrics.push_back(std::move(each));
  }
  if (!in.done()) return std::nullopt;
  return d;
}

/// The bytes of a region for peers of several fabrics: the region's record on the first fabric (region_bytes.hpp), then
/// key and base on each further one. `fingerprint` of the record is that of the set.
struct set_region_entry {
  std::uint64_t key = 0;
  std::uint64_t base = 0;
};
inline constexpr std::size_t set_region_entry_bytes = 16;

}  // namespace weft::wire
