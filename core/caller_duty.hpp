// SPDX-License-Identifier: Apache-2.0
//
// The one place where a check of the caller's own arguments is made or left out (policies/checks.hpp).
// Forced by the price: a test of handle, bounds and rights costs 9 of the 28 instructions of a put on tcp
// (bench/instructions/run).
// Never for what a peer sent: that is checked with every answer.
// Hot path: all of it. Threads: any.
#pragma once

#include <concepts>
#include <cstdio>
#include <cstdlib>

namespace weft::detail {

/// Ends the program with a sentence.
[[noreturn, gnu::cold, gnu::noinline]] inline void duty_broken(const char* operation, const char* duty) noexcept {
  (void)std::fprintf(stderr, "weft: %s: %s (checks::trusted leaves this check to the caller) [WEFT-O011]\n", operation,
                     duty);
  std::abort();
}

/// Whether the caller kept a duty. Not `TrustsCaller`: the condition. Else true: a debug build ends the program if the
/// condition is false, and with NDEBUG the compiler assumes that it is true.
template <bool TrustsCaller>
[[gnu::always_inline]] constexpr bool duty_kept(bool condition, [[maybe_unused]] const char* operation,
                                                [[maybe_unused]] const char* duty) noexcept {
  if constexpr (!TrustsCaller) return condition;
#ifdef NDEBUG
  if (!condition) __builtin_unreachable();
#else
  if (!condition) [[unlikely]]
    duty_broken(operation, duty);
#endif
  return true;
}
/// The same for a condition that the compiler must evaluate to assume it, such as one with an atomic load: with NDEBUG
/// a trusted caller's is not evaluated.
template <bool TrustsCaller, std::predicate Condition>
[[gnu::always_inline]] constexpr bool duty_kept(Condition&& condition, [[maybe_unused]] const char* operation,
                                                [[maybe_unused]] const char* duty) noexcept {
#ifdef NDEBUG
  if constexpr (TrustsCaller) return true;
#endif
  return duty_kept<TrustsCaller>(condition(), operation, duty);
}

}  // namespace weft::detail
