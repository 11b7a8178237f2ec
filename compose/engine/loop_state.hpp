// SPDX-License-Identifier: Apache-2.0
//
// What a transport keeps for a foreign event loop (progress/loop_calls.hpp). It lies in the engine, so that a transport
// stays one pointer and a post finds the engine at its begin. Hot path: no. Threads: the owner's.
#pragma once

#include <unistd.h>

namespace weft::detail {

struct loop_state {
  loop_state() = default;
  loop_state(const loop_state&) = delete;
  loop_state& operator=(const loop_state&) = delete;
  ~loop_state() {
    if (epoll >= 0) ::close(epoll);
  }

  int epoll = -1;      ///< The loop's descriptor; -1 before the first call.
  bool armed = false;  ///< Between arm() and disarm().
};

}  // namespace weft::detail
