// SPDX-License-Identifier: Apache-2.0
//
// Who may call, and what is the library asked to lock? Forced by fi_domain(3), threading: FI_THREAD_DOMAIN is accepted
// by every row of both library generations (THREAD_FID and THREAD_ENDPOINT are refused by libfabric 2), and a transport
// per thread without shared state scales where locks do not. Answers, in all of which one thread at a time uses a
// transport, and moving it between threads needs the caller's own synchronisation: one_owner - the library is told so,
// and may leave its locks out; on any fabric. one_owner_per_queue - it is told FI_THREAD_COMPLETION. library_locks - it
// is told nothing of owners (FI_THREAD_SAFE), and locks: for measuring what locks cost, and for libraries that are
// right only so. Safe where the row says thread_levels: each tells the library of more threads than there are. Absent:
// a transport for several threads at once: its own state has no locks. Hot path: compile time only.
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
