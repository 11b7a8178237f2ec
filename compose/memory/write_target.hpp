// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a peer's message or ring entry may be copied. The target makes the checks that a card makes of a
// write: key, bounds and rights. Addresses from peers are never trusted: the region decides. Hot path: of such notices.
// Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../../core/memory.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::detail {

/// The place of `size` bytes at a remote address, or null and why not: errc::denied or errc::out_of_range.
template <class Engine>
[[gnu::always_inline]] inline std::byte* write_target(const Engine& e, std::uint64_t key, std::uint64_t address,
                                                      std::uint64_t size, errc& code) noexcept {
  code = errc::denied;
  for (const auto& entry : e.regions) {
    if (entry.registered.key != key) continue;
    const std::uint64_t offset = address - entry.base;
    code = offset > entry.registered.size || entry.registered.size - offset < size ? errc::out_of_range : errc::denied;
    if (code == errc::out_of_range || !grants(entry.granted, rights::remote_write)) return nullptr;
    return entry.registered.base + offset;
  }
  return nullptr;
}

}  // namespace weft::detail
