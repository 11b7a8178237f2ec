// SPDX-License-Identifier: Apache-2.0
//
// Locks of files that end with their process. They belong to an open file (fcntl(2), F_OFD_SETLK), so the process may
// open and close the same file elsewhere. A child of fork(2) inherits open files: it closes these at once, for else it
// would hold the lock of a parent that has ended. Hot path: no. Threads: any.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <mutex>
#include <vector>

namespace weft::detail {

class owned_locks {
 public:
  /// Opens the file anew and locks it. Nothing else may refer to this open file, such as a mapping. Returns the
  /// descriptor, or minus errno. Throws std::bad_alloc.
  static int take(const char* path) {
    owned_locks& all = one();
    const std::lock_guard hold(all.changing_);
    all.given_up_in_children();
    all.held_.reserve(all.held_.size() + 1);
    const int file = ::open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return -errno;
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(file, F_OFD_SETLK, &whole) != 0) {
      const int why = errno;
      (void)::close(file);
      return -why;
    }
    all.held_.push_back(file);
    return file;
  }
  /// Requires: of take(), in this process.
  static void give(int file) noexcept {
    owned_locks& all = one();
    const std::lock_guard hold(all.changing_);
    all.held_.erase(std::remove(all.held_.begin(), all.held_.end(), file), all.held_.end());
    (void)::close(file);
  }

 private:
  static owned_locks& one() {
    // Transports may end after static objects.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one list of the process
    static auto* const all = new owned_locks;
    return *all;
  }
  void given_up_in_children() {
    if (is_prepared_) return;
    is_prepared_ = true;
    (void)::pthread_atfork([] { one().changing_.lock(); }, [] { one().changing_.unlock(); },
                           [] {
                             for (const int each : one().held_) (void)::close(each);
                             one().held_.clear();
                             one().changing_.unlock();
                           });
  }

  std::mutex changing_;
  std::vector<int> held_;
  bool is_prepared_ = false;
};

}  // namespace weft::detail
