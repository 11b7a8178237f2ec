// SPDX-License-Identifier: Apache-2.0
//
// Which threading level does weft request from the library? Forced by fi_domain(3), threading: every row of both
// library generations accepts FI_THREAD_DOMAIN, and libfabric 2 refuses THREAD_FID and THREAD_ENDPOINT. One transport
// per thread without shared state scales; locks do not.
// Under every answer one thread at a time uses a transport. Moving a transport to another thread needs the caller's
// synchronisation.
// Answers:
// - one_owner: FI_THREAD_DOMAIN. The library may leave its locks out. On any fabric.
// - one_owner_per_queue: FI_THREAD_COMPLETION.
// - library_locks: FI_THREAD_SAFE, so the library locks. Choose it to measure the price of locks, and for libraries
//   that are correct only so.
// The last two are safe where the row says thread_levels: each announces more threads than weft uses.
// Absent: a transport for several threads at once. Its own state has no locks.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"
#include "../core/port.hpp"

#include <concepts>

namespace weft {
struct threading_family;
template <class P>
concept threading_policy = answers_family<P, threading_family> && requires {
  { P::asks } -> std::convertible_to<thread_level>;
};

namespace answers::threading {
struct one_owner {
  using family = threading_family;
  static constexpr thread_level asks = thread_level::one_owner;
};
static_assert(threading_policy<one_owner>);

struct one_owner_per_queue {
  using family = threading_family;
  static constexpr thread_level asks = thread_level::one_owner_per_queue;
};
static_assert(threading_policy<one_owner_per_queue>);

struct library_locks {
  using family = threading_family;
  static constexpr thread_level asks = thread_level::any;
};
static_assert(threading_policy<library_locks>);
}  // namespace answers::threading
}  // namespace weft
