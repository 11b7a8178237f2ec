// SPDX-License-Identifier: Apache-2.0
//
// Packets between a manager, its warm parent and executors that wait: bytes, and at most one descriptor (unix(7),
// SCM_RIGHTS). Packets keep their boundaries (SOCK_SEQPACKET), and the end of a process ends its channel. Hot path: no.
// Threads: one per end.
#pragma once

#include <weft/core/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::invocation::warm {

/// A descriptor that is closed when it is dropped.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { reset(); }

  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  /// The caller closes it.
  int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept;

 private:
  int number_ = -1;
};

struct packet {
  std::string bytes;
  descriptor file;  ///< Closed when a program is executed.
};

/// Two connected ends. Errors: native (socketpair(2) failed).
result<std::pair<descriptor, descriptor>> make_channel();

/// Whether the packet is under way. It never waits and raises no SIGPIPE. `file`: a copy travels with it; -1: none.
bool send(const descriptor& channel, std::string_view bytes, int file = -1) noexcept;

/// The next packet. Waits at most so long; without a limit until the other end is closed. Nothing: it was closed, the
/// time is over, or the packet is larger than `most`.
std::optional<packet> receive(const descriptor& channel, std::optional<std::chrono::milliseconds> at_most,
                              std::size_t most = std::size_t{256} << 10);

}  // namespace weft::invocation::warm
