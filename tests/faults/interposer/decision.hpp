// SPDX-License-Identifier: Apache-2.0
//
// Which call fails. Each interposed call has a point: a name, and the number of its calls so far. The environment names
// one point, one number and one error (tests/faults/processes.py sets it). Calls count from the begin of main() to its
// end: what the loader and constructors of libraries do before is not the program's doing.
// `weft` counts calls from the program and from libstdc++, which works for the program. `all` counts every caller.
// Hot path: no. Threads: any.
#pragma once

#include <dlfcn.h>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace faults {

/// A name as a template argument.
template <std::size_t N>
struct text {
  char letters[N];
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is the argument
  consteval text(const char (&from)[N]) {
    for (std::size_t i = 0; i < N; ++i) letters[i] = from[i];
  }
};

/// An interposed call. Points are listed at their first call.
struct point {
  const char* name;
  std::atomic<std::uint64_t> seen = 0;
  std::atomic<bool> listed = false;
  point* next = nullptr;
};
template <text Name>
inline constinit point point_of{Name.letters};

/// The error with which this call fails, as a number of errno; 0 where it proceeds. Never returns where it kills.
int decide(point& p, const void* caller) noexcept;

/// Whether the program or libstdc++ contains this address.
bool from_program(const void* caller) noexcept;

/// Whether main() runs. Before, sleeps return at once: a library that is only linked may sleep in its constructor.
bool in_main() noexcept;

/// Blocks that the program allocated and did not free. A block has the point and number of its allocation.
void keep(const void* block, std::size_t bytes, const point& p, const void* caller) noexcept;
void drop(const void* block) noexcept;

/// The next definition of a function: the one that the program would have without this library.
template <class F>
F* next(const char* name) noexcept {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace faults

#define WEFT_CALLER __builtin_return_address(0)
