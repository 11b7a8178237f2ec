// SPDX-License-Identifier: Apache-2.0
//
// Memory as ports see it: rights of a region, its registration, and both ends of a transfer.
// Address form, key owner, local descriptor and binding are independent questions; nothing here couples them.
// Hot path: plain values. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

using bytes = std::span<std::byte>;
using const_bytes = std::span<const std::byte>;

/// What peers may do with a region. Combine with `|`.
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

/// A registration as the port returns it.
struct registration {
  void* native = nullptr;      ///< The library's object; only the port uses it.
  void* descriptor = nullptr;  ///< Descriptor that local operations pass to the library; null where none is needed.
  std::uint64_t key = 0;       ///< The key that the library uses.
  std::byte* base = nullptr;
  std::size_t size = 0;
};

/// The local end of a transfer.
struct local_memory {
  std::byte* data = nullptr;
  std::size_t size = 0;
  void* descriptor = nullptr;
};

/// Size of a slice that ends after its region: every transfer refuses it.
inline constexpr std::size_t no_slice = ~std::size_t{0};

/// Most pieces that one call takes, on every fabric. On rows with a smaller limit weft posts several operations and
/// reports one completion.
inline constexpr std::size_t gather_limit = 8;

/// Local pieces in byte order: the source of a gather, or the destination of a scatter.
using gather_list = std::span<const local_memory>;

/// Bytes of all pieces. Saturates at the largest number: an invalid slice has a size beyond any region.
constexpr std::uint64_t total_of(gather_list pieces) noexcept {
  std::uint64_t sum = 0;
  for (const local_memory& each : pieces)
    sum = each.size > ~std::uint64_t{0} - sum ? ~std::uint64_t{0} : sum + each.size;
  return sum;
}

/// The remote end of a transfer, in the form that the library takes.
struct remote_memory {
  std::uint64_t address = 0;  ///< A pointer of the target or an offset, as the region's address form says.
  std::uint64_t key = 0;
};

}  // namespace weft
