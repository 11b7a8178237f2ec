// SPDX-License-Identifier: Apache-2.0
//
// Memory that two processes share: files without a name (memfd_create(2)), which leave nothing in the file system
// however their owners end.
// They are sealed. If an owner could shrink a file, an access to the missing pages would kill the peer with SIGBUS.
// Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../process/owned_descriptor.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace weft::backends::mapped {

using process::refused_by_system;
/// A file of memory, or a socket.
using file = process::owned_descriptor;

/// Whether this process may make a file of this size (RLIMIT_FSIZE). A call for more ends the process by SIGXFSZ.
inline bool may_have_file(std::uint64_t size) noexcept {
  rlimit most{};
  return ::getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY || size <= most.rlim_cur;
}
/// Allocates zeroed memory of this size. Untouched pages cost nothing.
inline result<file> sealed_memory(std::uint64_t size, const std::string& who) {
  if (!may_have_file(size)) return refused_by_system(EFBIG, "ftruncate", who);
  file made(::memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made) return refused_by_system(errno, "memfd_create", who);
  if (::ftruncate(made.get(), static_cast<off_t>(size)) != 0) return refused_by_system(errno, "ftruncate", who);
  if (::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return refused_by_system(errno, "fcntl", who);
  return made;
}

/// Whether a peer's file has at least this size, and each access to it finds a page. It cannot shrink, and has no huge
/// pages (MFD_HUGETLB): the system may have none left.
inline bool keeps(const file& from, std::uint64_t size) noexcept {
  struct stat seen {};
  struct statfs on {};
  if (::fstatfs(from.get(), &on) != 0 || on.f_type != TMPFS_MAGIC) return false;
  const int seals = ::fcntl(from.get(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(from.get(), &seen) == 0 &&
         static_cast<std::uint64_t>(seen.st_size) >= size;
}

/// Maps the first bytes of a file, readable and writable, and unmaps them on destruction.
class mapping {
 public:
  mapping() = default;
  mapping(mapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    return *this;
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() {
    if (start_ != nullptr) ::munmap(start_, size_);
  }

  static result<mapping> of(const file& from, std::uint64_t size, const std::string& who) {
    void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, from.get(), 0);
    if (start == MAP_FAILED) return refused_by_system(errno, "mmap", who);
    mapping made;
    made.start_ = static_cast<std::byte*>(start);
    made.size_ = size;
    return made;
  }
  /// Maps more of the same file, perhaps at another address. False: no room, and nothing changed.
  bool grow(std::uint64_t size) noexcept {
    void* start = ::mremap(start_, size_, size, MREMAP_MAYMOVE);
    if (start == MAP_FAILED) return false;
    start_ = static_cast<std::byte*>(start);
    size_ = size;
    return true;
  }
  std::byte* start() const noexcept { return start_; }
  std::uint64_t size() const noexcept { return size_; }

 private:
  std::byte* start_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace weft::backends::mapped
