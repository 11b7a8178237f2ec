// SPDX-License-Identifier: Apache-2.0
//
// A remote region as bytes: all that a peer needs to read, write or count in memory of this side.
// The address form travels with the region: a pointer of the target on some fabrics, an offset from the region's start
// on others. A port of rFaaS used plain offsets as pointers and lost its writes.
// Layout version 2, little-endian, 37 bytes: version 1, form 1, rights 1, atomicity 1, key width 1, key 8, base 8,
// length 8, owner's fingerprint 8.
// Hot path: no. Threads: values.
#pragma once

#include "../core/atomics.hpp"
#include "../core/memory.hpp"
#include "reader.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace weft::wire {

enum class address_form : std::uint8_t { offset = 1, virtual_address = 2 };

struct region_record {
  address_form form{};
  weft::rights granted{};
  atomicity executor = atomicity::provider;  ///< Who executes atomics on the region's words.
  std::uint8_t key_bytes = 0;
  std::uint64_t key = 0;
  std::uint64_t base = 0;  ///< Base of remote addresses: 0 for offsets, the target's pointer otherwise.
  std::uint64_t length = 0;
  std::uint64_t fingerprint = 0;  ///< Fingerprint of the fabric that made the region.
  friend constexpr bool operator==(const region_record&, const region_record&) = default;
};

inline constexpr std::size_t region_record_bytes = 37;
inline constexpr std::uint8_t region_layout = 2;

constexpr std::array<std::byte, region_record_bytes> encode(const region_record& r) noexcept {
  std::array<std::byte, region_record_bytes> out{};
  writer w(out);
  w.number(region_layout);
  w.number(static_cast<std::uint8_t>(r.form));
  w.number(static_cast<std::uint8_t>(r.granted));
  w.number(static_cast<std::uint8_t>(r.executor));
  w.number(r.key_bytes);
  w.number(r.key);
  w.number(r.base);
  w.number(r.length);
  w.number(r.fingerprint);
  return out;
}

/// Strict: known version, form, rights and executor; key within its width; base + length without overflow; no bytes
/// left over. No region is as long as the size of an invalid slice, which every transfer refuses.
constexpr std::optional<region_record> parse_region(const_bytes from) noexcept {
  reader in(from);
  const auto layout = in.number<std::uint8_t>();
  const auto form = in.number<std::uint8_t>();
  const auto granted = in.number<std::uint8_t>();
  const auto executor = in.number<std::uint8_t>();
  region_record r;
  r.key_bytes = in.number<std::uint8_t>();
  r.key = in.number<std::uint64_t>();
  r.base = in.number<std::uint64_t>();
  r.length = in.number<std::uint64_t>();
  r.fingerprint = in.number<std::uint64_t>();
  if (!in.done() || layout != region_layout) return std::nullopt;
  if (form != 1 && form != 2) return std::nullopt;
  if (granted > static_cast<std::uint8_t>(rights::all)) return std::nullopt;
  if (executor < static_cast<std::uint8_t>(atomicity::provider) ||
      executor > static_cast<std::uint8_t>(atomicity::processor))
    return std::nullopt;
  if (r.key_bytes == 0 || r.key_bytes > 8 || (r.key_bytes < 8 && r.key >> (8 * r.key_bytes) != 0)) return std::nullopt;
  if (r.base + r.length < r.base || r.length == ~std::uint64_t{0}) return std::nullopt;
  r.form = static_cast<address_form>(form);
  if (r.form == address_form::offset && r.base != 0) return std::nullopt;
  r.granted = static_cast<weft::rights>(granted);
  r.executor = static_cast<atomicity>(executor);
  return r;
}

}  // namespace weft::wire
