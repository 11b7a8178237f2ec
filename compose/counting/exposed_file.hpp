// SPDX-License-Identifier: Apache-2.0
//
// The file through which other processes of the same user see counters. Its folder is $XDG_RUNTIME_DIR/weft, or
// /dev/shm/weft-<uid> where there is no such variable; mode 0700, files 0600. A lock of the file says that its owner
// lives (owned_locks.hpp): the system takes it back when the process ends, however that happens. `weft top` removes
// files without a lock. A file gets its name only when it is whole and locked. Hot path: no. Threads: any one.
#pragma once

#include "counter_page.hpp"
#include "owned_locks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace weft::detail {

/// Owns the file: removes it at its end.
class exposed_file {
 public:
  exposed_file() noexcept = default;
  exposed_file(exposed_file&& other) noexcept
      : lock_(std::exchange(other.lock_, -1)),
        process_(other.process_),
        path_(std::move(other.path_)),
        name_(std::move(other.name_)) {}
  exposed_file& operator=(exposed_file&& other) noexcept {
    std::swap(lock_, other.lock_);
    std::swap(process_, other.process_);
    std::swap(path_, other.path_);
    std::swap(name_, other.name_);
    return *this;
  }
  /// A child of fork(2) neither removes the file nor has its lock.
  ~exposed_file() {
    if (lock_ < 0 || process_ != ::getpid()) return;
    (void)::unlink(path_.c_str());
    owned_locks::give(lock_);
  }

  /// Makes the file of a page and maps it. Errors: denied (the folder belongs to another user, or others may write into
  /// it), no_memory, native; the sentence names the folder.
  static result<std::pair<exposed_file, counter_page>> make(std::uint32_t peers) {
    const std::string folder = folder_of_user();
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed(errno, "make the folder " + folder);
    exposed_file made;
    const int within = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat is {};
    if (within < 0 || ::fstat(within, &is) != 0) {
      const int why = errno;
      if (within >= 0) (void)::close(within);
      return failed(why, "open the folder " + folder);
    }
    (void)::close(within);
    if (is.st_uid != ::geteuid() || (is.st_mode & 077U) != 0)
      return failure{error(errc::denied, "expose_counters"),
                     "expose_counters() needs a folder that only its user may enter: " + folder +
                         " must belong to user " + std::to_string(::geteuid()) + " with mode 0700"};
    static std::atomic<std::uint32_t> next{0};
    made.process_ = ::getpid();
    const std::string name = std::to_string(made.process_) + "-" + std::to_string(next.fetch_add(1));
    const std::string draft = folder + "/." + name;
    made.path_ = draft;
    (void)::unlink(draft.c_str());  // of a process that had the same number
    const int file = ::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return failed(errno, "make the file " + draft);
    made.lock_ = owned_locks::take(draft.c_str());
    // Memory that the file does not have yet would end the process at its first count: SIGBUS.
    const int room = ::posix_fallocate(file, 0, static_cast<off_t>(counter_page::bytes_for(peers)));
    counter_page page = made.lock_ >= 0 && room == 0 ? counter_page::make(peers, file) : counter_page();
    const int unmapped = page ? 0 : errno;
    (void)::close(file);
    if (made.lock_ < 0) {
      (void)::unlink(draft.c_str());
      return failed(-made.lock_, "lock the file " + draft);
    }
    if (room != 0) return failed(room, "give room to the file " + draft);
    if (unmapped != 0) return failed(unmapped, "map the file " + draft);
    made.name_ = folder + "/" + name + ".counters";
    return std::pair(std::move(made), std::move(page));
  }
  /// The page is whole: readers may see it.
  status show() {
    if (::rename(path_.c_str(), name_.c_str()) != 0) return {errc::native, origin::system, errno, "rename"};
    path_ = name_;
    return {};
  }
  const std::string& path() const noexcept { return path_; }
  explicit operator bool() const noexcept { return lock_ >= 0; }

 private:
  static std::string folder_of_user() {
    const char* const runtime = ::secure_getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/weft";
    return "/dev/shm/weft-" + std::to_string(::geteuid());
  }
  static failure failed(int number, const std::string& what) {
    const status why{number == ENOSPC || number == ENOMEM ? errc::no_memory : errc::native, origin::system, number,
                     "expose_counters"};
    return {why, "expose_counters() cannot " + what + " (errno " + std::to_string(number) + ")"};
  }

  int lock_ = -1;
  pid_t process_ = 0;
  std::string path_;  ///< Of the draft, then of the file.
  std::string name_;  ///< The path that the file will have.
};

}  // namespace weft::detail
