// SPDX-License-Identifier: Apache-2.0
//
// What does the initiator put into "remote address": a pointer of the target, or an offset from the region's start?
// Forced by fi_mr(3), FI_MR_VIRT_ADDR. A provider may clear the bit in its answer; then a pointer names memory that
// does not exist. The target refuses the write, and some providers do not report that to the initiator.
// Answers:
// - offset: regions start at 0.
// - virtual_address: regions start at the target's pointer.
// Hot path: yes, one addition.
#pragma once

#include "../core/policy.hpp"
#include "../wire/region_bytes.hpp"

#include <cstdint>

namespace weft {
struct region_address_family;
template <class P>
concept region_address_policy = answers_family<P, region_address_family> && requires(const std::byte* start) {
  { P::form } -> std::convertible_to<wire::address_form>;
  { P::base_of(start) }
  noexcept->std::same_as<std::uint64_t>;
};

namespace answers::region_address {
/// Remote addresses count from the start of the registered region.
struct offset {
  using family = region_address_family;
  static constexpr wire::address_form form = wire::address_form::offset;
  static std::uint64_t base_of(const std::byte*) noexcept { return 0; }
};
static_assert(region_address_policy<offset>);

/// Remote addresses are the target's own pointers.
struct virtual_address {
  using family = region_address_family;
  static constexpr wire::address_form form = wire::address_form::virtual_address;
  static std::uint64_t base_of(const std::byte* start) noexcept { return reinterpret_cast<std::uintptr_t>(start); }
};
static_assert(region_address_policy<virtual_address>);
}  // namespace answers::region_address
}  // namespace weft
