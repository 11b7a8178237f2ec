// SPDX-License-Identifier: Apache-2.0
//
// Memory that is registered with several transports, as bytes: page size, and one region record per rail, because each
// registration has its own key. And the private data by which several connections recognise each other as rails of one
// pair.
// Layout version 1, little-endian: mark 1, version 1, rails 2, page 8, then a region record (region_bytes.hpp) for each
// rail.
// Hot path: no. Threads: values.
#pragma once

#include "region_bytes.hpp"

#include <optional>
#include <vector>

namespace weft::wire {

inline constexpr std::uint32_t most_rails = 64;
inline constexpr std::uint8_t striped_mark = 'S';
inline constexpr std::uint8_t striped_layout = 1;
inline constexpr std::size_t striped_front_bytes = 12;

struct striped_record {
  std::uint64_t page_bytes = 0;
  std::vector<region_record> rails;
  friend bool operator==(const striped_record&, const striped_record&) = default;
};

inline std::vector<std::byte> encode(const striped_record& r) {
  std::vector<std::byte> out(striped_front_bytes);
  writer w(out);
  w.number(striped_mark);
  w.number(striped_layout);
  w.number(static_cast<std::uint16_t>(r.rails.size()));
  w.number(r.page_bytes);
  for (const region_record& each : r.rails) {
    const auto bytes_of = encode(each);
    out.insert(out.end(), bytes_of.begin(), bytes_of.end());
  }
  return out;
}

/// Strict: known version, 1 to 64 rails, a page of at least one byte, whole records. All records have the same length,
/// rights and fabric.
inline std::optional<striped_record> parse_striped(const_bytes from) {
  reader in(from.first(std::min(from.size(), striped_front_bytes)));
  const auto mark = in.number<std::uint8_t>();
  const auto layout = in.number<std::uint8_t>();
  const auto rails = in.number<std::uint16_t>();
  striped_record r;
  r.page_bytes = in.number<std::uint64_t>();
  if (!in.done() || mark != striped_mark || layout != striped_layout || rails == 0 || rails > most_rails ||
      r.page_bytes == 0)
    return std::nullopt;
  if (from.size() != striped_front_bytes + rails * region_record_bytes) return std::nullopt;
  for (std::size_t i = 0; i < rails; ++i) {
    const auto each = parse_region(from.subspan(striped_front_bytes + i * region_record_bytes, region_record_bytes));
    if (!each) return std::nullopt;
    r.rails.push_back(*each);
    const region_record& first = r.rails.front();
    if (each->length != first.length || each->granted != first.granted || each->fingerprint != first.fingerprint)
      return std::nullopt;
  }
  return r;
}

/// The private data of one rail's connection: mark 1, version 1, rail 2, rails 2, page 8, token 8.
struct rail_words {
  std::uint16_t rail = 0;
  std::uint16_t rails = 0;
  std::uint64_t page_bytes = 0;
  std::uint64_t token = 0;  ///< The same on all rails of one initiator.
  friend constexpr bool operator==(const rail_words&, const rail_words&) = default;
};
inline constexpr std::size_t rail_words_bytes = 22;

constexpr std::array<std::byte, rail_words_bytes> encode(const rail_words& r) noexcept {
  std::array<std::byte, rail_words_bytes> out{};
  writer w(out);
  w.number(striped_mark);
  w.number(striped_layout);
  w.number(r.rail);
  w.number(r.rails);
  w.number(r.page_bytes);
  w.number(r.token);
  return out;
}
constexpr std::optional<rail_words> parse_rail_words(const_bytes from) noexcept {
  reader in(from);
  const auto mark = in.number<std::uint8_t>();
  const auto layout = in.number<std::uint8_t>();
  rail_words r;
  r.rail = in.number<std::uint16_t>();
  r.rails = in.number<std::uint16_t>();
  r.page_bytes = in.number<std::uint64_t>();
  r.token = in.number<std::uint64_t>();
  if (!in.done() || mark != striped_mark || layout != striped_layout || r.rail >= r.rails || r.rails > most_rails)
    return std::nullopt;
  return r;
}

}  // namespace weft::wire
