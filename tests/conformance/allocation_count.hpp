// SPDX-License-Identifier: Apache-2.0
//
// How often this thread has allocated through operator new (counted_new.cpp counts).
// Hot path: no. Threads: each has its own.
#pragma once

#include <cstdint>

namespace weft::conformance {

inline std::uint64_t& allocation_count() noexcept {
  thread_local constinit std::uint64_t count = 0;
  return count;
}

}  // namespace weft::conformance
