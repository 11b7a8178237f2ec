// SPDX-License-Identifier: Apache-2.0
//
// How often this thread has allocated through operator new (counted_new.cpp counts).
// Hot path: no. Threads: each has its own.
#pragma once

#include <cstdint>

namespace weft::conformance {

namespace detail {
/// Volatile: compilers may take it that `new` changes no variable of the program's, and keep an older count.
inline thread_local constinit volatile std::uint64_t allocations = 0;
}  // namespace detail

inline std::uint64_t allocation_count() noexcept { return detail::allocations; }

}  // namespace weft::conformance
