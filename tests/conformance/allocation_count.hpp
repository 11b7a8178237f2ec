// SPDX-License-Identifier: Apache-2.0
//
// Allocations that this thread made through operator new, and their bytes (counted_new.cpp counts).
// Hot path: no. Threads: each has its own count.
#pragma once

#include <cstdint>

namespace weft::conformance {

namespace detail {
/// Volatile: compilers may assume that `new` changes no variable of the program, and keep an older count.
inline thread_local constinit volatile std::uint64_t allocations = 0;
inline thread_local constinit volatile std::uint64_t allocated = 0;
inline thread_local constinit volatile std::int64_t kept = 0;
}  // namespace detail

inline std::uint64_t allocation_count() noexcept { return detail::allocations; }
inline std::uint64_t allocated_bytes() noexcept { return detail::allocated; }
/// Bytes that are not freed yet. 0 in a program without counted_new.cpp.
inline std::int64_t kept_bytes() noexcept { return detail::kept; }

}  // namespace weft::conformance
