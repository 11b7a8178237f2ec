// SPDX-License-Identifier: Apache-2.0
//
// The edge between code that allocates and calls that answer by value: memory that ran out becomes `false`, and the
// caller takes its way without. Hot path: no. Threads: the caller's.
#pragma once

#include <new>

namespace weft {

/// Runs `work`. False: memory ran out before its end.
template <class Work>
[[nodiscard]] bool if_memory(Work&& work) {
#if defined(__cpp_exceptions)
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
#else
  work();
  return true;
#endif
}

}  // namespace weft
