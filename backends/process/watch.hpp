// SPDX-License-Identifier: Apache-2.0
//
// Watches whether a process of this host is alive. A process descriptor (pidfd_open(2), Linux 5.3) becomes readable
// when its process ends. A reused process id does not deceive it.
// For rows whose peers live on one host and whose provider never reports a killed peer (shm).
// Hot path: no. Threads: the owner's.
#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

#include <cstdint>
#include <limits>
#include <utility>

namespace weft::backends::process {

/// Watches one process. Empty: watches nothing, and gone() is false.
class watch {
 public:
  watch() = default;
  watch(watch&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), process_(other.process_), never_ours_(other.never_ours_) {}
  watch& operator=(watch&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(process_, other.process_);
    std::swap(never_ours_, other.never_ours_);
    return *this;
  }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  ~watch() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  /// This process's id, to send to a peer.
  static std::uint64_t self() noexcept { return static_cast<std::uint64_t>(::getpid()); }

  /// Starts watching. A process that has ended is gone at once. So is a number of no process, and a process of another
  /// user: peers on rows of one host have the same user, so the number is a lie. Root may name any process.
  static watch of(std::uint64_t process) noexcept {
    watch w;
    const bool possible = process > 0 && process <= std::uint64_t{std::numeric_limits<pid_t>::max()};
    if (!possible || is_none_of_ours(static_cast<pid_t>(process))) {
      w.never_ours_ = true;
      return w;
    }
    w.descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0U));
    w.process_ = static_cast<pid_t>(process);
    return w;
  }
  bool gone() const noexcept {
    // Without a descriptor, check the process id. Reason: the process ended before, or the kernel, container or
    // emulator has no process descriptors.
    if (never_ours_) return true;
    if (descriptor_ < 0) return process_ != 0 && ::kill(process_, 0) != 0 && errno == ESRCH;
    pollfd p{descriptor_, POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
  }

 private:
  /// Where a filter of system calls denies kill(2), a refusal says nothing about the other process.
  static bool is_none_of_ours(pid_t process) noexcept {
    return ::kill(process, 0) != 0 && (errno == ESRCH || ::kill(::getpid(), 0) == 0);
  }

  int descriptor_ = -1;
  pid_t process_ = 0;
  bool never_ours_ = false;
};

}  // namespace weft::backends::process
