// SPDX-License-Identifier: Apache-2.0
//
// Who may call? Forced by fi_domain(3), threading: FI_THREAD_DOMAIN is accepted by every row of both library generations (THREAD_FID and
// THREAD_ENDPOINT are refused by libfabric 2), and a transport per thread without shared state scales where locks do not.
// Answers: one_owner - one thread at a time uses a transport, and moving it between threads needs the caller's own synchronisation.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct threading_family;
template <class P>
concept threading_policy = answers_family<P, threading_family>;

namespace threading {
struct one_owner {
  using family = threading_family;
};
static_assert(threading_policy<one_owner>);
}  // namespace threading
}  // namespace weft
