// SPDX-License-Identifier: Apache-2.0
//
// Values between the two processes of a behaviour outside of the fabric: a socket pair that keeps message boundaries. A
// process that waits on it makes no library call, so a target sleeps this way. Waits end by the process's own deadline
// (an alarm), or when the other process ends. Hot path: no. Threads: one owner.
#pragma once

#include "refused.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::probe {

/// One end.
class channel {
 public:
  explicit channel(int descriptor) : descriptor_(descriptor) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() { close(descriptor_); }

  void tell(std::uint64_t word) const { tell_bytes(&word, sizeof word); }
  std::uint64_t hear() const {
    std::uint64_t word = 0;
    if (recv(descriptor_, &word, sizeof word, 0) != sizeof word) throw abandoned{};
    return word;
  }

  void tell_bytes(const void* data, std::size_t size) const {
    if (send(descriptor_, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) throw abandoned{};
  }
  std::vector<std::byte> hear_bytes() const {
    std::vector<std::byte> bytes(4096);
    const ssize_t length = recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (length <= 0) throw abandoned{};
    bytes.resize(static_cast<std::size_t>(length));
    return bytes;
  }

  /// Whether hear() returns at once.
  bool ready() const {
    pollfd one{descriptor_, POLLIN, 0};
    return ::poll(&one, 1, 0) > 0;
  }

 private:
  int descriptor_;
};

}  // namespace weft::probe
