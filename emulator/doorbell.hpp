// SPDX-License-Identifier: Apache-2.0
//
// Wakes threads that sleep on a queue's descriptor when a thread of the emulator adds an entry. On rows whose data
// moves without a poll that thread empties the sockets, so the sockets alone would wake nobody. fi_trywait(3) clears
// it, and a later entry rings again. Hot path: no. Threads: one at a time (the emulator's lock).
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace weft::emulator {

class doorbell {
 public:
  doorbell() = default;
  doorbell(const doorbell&) = delete;
  doorbell& operator=(const doorbell&) = delete;
  ~doorbell() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  /// From now on `epoll` is readable while it rings. Queues without a descriptor never open theirs.
  void open(int epoll) {
    descriptor_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor_, &event);
  }
  void ring() noexcept {
    if (descriptor_ >= 0 && !std::exchange(rings_, true)) eventfd_write(descriptor_, 1);
  }
  void silence() noexcept {
    eventfd_t count = 0;
    if (descriptor_ >= 0 && std::exchange(rings_, false)) eventfd_read(descriptor_, &count);
  }

 private:
  int descriptor_ = -1;
  bool rings_ = false;
};

}  // namespace weft::emulator
