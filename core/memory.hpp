// SPDX-License-Identifier: Apache-2.0
//
// Memory as ports see it: what a region grants, how it was registered, and where a transfer reads or writes.
// Four questions are independent (address form, key owner, local descriptor, binding): nothing here ties one to
// another. Hot path: plain values. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

using bytes = std::span<std::byte>;
using const_bytes = std::span<const std::byte>;

/// What a peer may do with a region. Combine with `|`.
enum class rights : std::uint8_t { none = 0, remote_write = 1, remote_read = 2, remote_atomic = 4, all = 7 };
constexpr rights operator|(rights a, rights b) noexcept {
  return static_cast<rights>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool grants(rights granted, rights asked) noexcept {
  return (static_cast<std::uint8_t>(granted) & static_cast<std::uint8_t>(asked)) == static_cast<std::uint8_t>(asked);
}

constexpr rights without_atomics(rights r) noexcept {
  return static_cast<rights>(static_cast<std::uint8_t>(r) & ~static_cast<std::uint8_t>(rights::remote_atomic));
}

/// A registration as the port returned it.
struct registration {
  void* native = nullptr;      ///< The library's object; the port's business.
  void* descriptor = nullptr;  ///< What local operations pass along; null where none is needed.
  std::uint64_t key = 0;       ///< The key that the library really uses.
  std::byte* base = nullptr;
  std::size_t size = 0;
};

/// Where a transfer starts or ends on this side.
struct local_memory {
  std::byte* data = nullptr;
  std::size_t size = 0;
  void* descriptor = nullptr;
};

/// As many pieces of memory as one call takes, on every fabric. Rows that carry fewer get several calls, which end as
/// one operation.
inline constexpr std::size_t gather_limit = 8;

/// Pieces of this side's memory, in the order of their bytes: what a transfer gathers from, or scatters into.
using gather_list = std::span<const local_memory>;

/// Bytes of all pieces. A slice that left its region has a size that no region has: the sum is the largest number then.
constexpr std::uint64_t total_of(gather_list pieces) noexcept {
  std::uint64_t sum = 0;
  for (const local_memory& each : pieces)
    sum = each.size > ~std::uint64_t{0} - sum ? ~std::uint64_t{0} : sum + each.size;
  return sum;
}

/// Where a transfer starts or ends on the other side: ready for the wire, no more arithmetic to do.
struct remote_memory {
  std::uint64_t address = 0;  ///< A pointer of the target, or an offset, as its region says.
  std::uint64_t key = 0;
};

}  // namespace weft
