// SPDX-License-Identifier: Apache-2.0
//
// Waiting calls yield between polls, for peers in other threads. A simulated world has one thread: a yield would give
// the rest of its time slice to other programs. Hot path: no. Threads: one.
#include <sched.h>

extern "C" int sched_yield() noexcept { return 0; }
