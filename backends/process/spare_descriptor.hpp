// SPDX-License-Identifier: Apache-2.0
//
// A descriptor in reserve, for a listener whose process may have no other. accept4(2) leaves its caller in the queue
// then, and the queue stays readable: a sleeper would wake at once, again and again. So the listener gives the reserve
// up, takes the caller with it, and hangs up.
// Hot path: no. Threads: the owner's.
#pragma once

#include "owned_descriptor.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <cerrno>

namespace weft::backends::process {

class spare_descriptor {
 public:
  /// Takes a descriptor into reserve.
  void keep() noexcept {
    if (!kept_) kept_ = owned_descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  /// Turns the oldest caller away, where `why`, the errno of accept4, says that there is no descriptor. False: some
  /// other error, or no reserve; then the caller still waits.
  bool turn_away_from(int listener, int why) noexcept {
    if (why != EMFILE && why != ENFILE) return false;
    keep();
    if (!kept_) return false;
    kept_ = owned_descriptor();
    const bool taken(owned_descriptor(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)));
    keep();
    return taken;
  }

 private:
  owned_descriptor kept_;
};

}  // namespace weft::backends::process
