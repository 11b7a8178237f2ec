// SPDX-License-Identifier: Apache-2.0
//
// Removes shared memory of dead processes.
// libfabric's provider for one host (1.17 and 2.1 alike) names its regions "<pid>:<uid>:<endpoint>" in /dev/shm, and
// the copy of a large message "<pid>:<uid>:<endpoint>_<message>". It unlinks them when an endpoint closes or a caught
// signal ends the process. After SIGKILL 16 MiB per endpoint stay for ever.
// A survivor that saw its peer's process end removes its regions. A number alone is no reason to remove: it may belong
// to a living process of another pid namespace.
// Hot path: no. Threads: any; two survivors may run this at once, and the second finds nothing.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace weft::backends::libfabric {

/// The process of a region's name; 0 for names of another form.
constexpr pid_t owner_of_region(std::string_view name) noexcept {
  pid_t owner = 0;
  for (const char* after = "::_";; ++after) {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits == 0 || (owner == 0 && digits > 9)) return 0;
    if (owner == 0)
      for (const char digit : name.substr(0, digits)) owner = owner * 10 + (digit - '0');
    name.remove_prefix(digits);
    if (name.empty()) return *after == '_' || *after == 0 ? owner : 0;
    if (name.front() != *after) return 0;
    name.remove_prefix(1);
  }
}
static_assert(owner_of_region("13205:0:0") == 13205 && owner_of_region("13205:1000:2_77") == 13205);
static_assert(owner_of_region("13205") == 0 && owner_of_region("13205:0") == 0 && owner_of_region("x:0:0") == 0 &&
              owner_of_region("1:0:0:0") == 0 && owner_of_region("1:0:0_") == 0 && owner_of_region("1:0:0_1_1") == 0 &&
              owner_of_region("1234567890:0:0") == 0 && owner_of_region("") == 0);

/// The process in an endpoint's address, such as "fi_shm://13205:0:0"; 0 for addresses of another form.
constexpr pid_t owner_of_address(std::string_view address) noexcept {
  constexpr std::string_view scheme = "fi_shm://";
  if (address.substr(0, scheme.size()) != scheme) return 0;
  address.remove_prefix(scheme.size());
  return owner_of_region(address.substr(0, address.find('\0')));
}
static_assert(owner_of_address(std::string_view("fi_shm://13205:0:1\0", 19)) == 13205 &&
              owner_of_address("fi_shm://13205:0:1") == 13205 && owner_of_address("13205:0:1") == 0 &&
              owner_of_address("fi_ns://1:0:1") == 0 && owner_of_address("") == 0);

/// Whether a process has ended, also if its parent has not asked how (a zombie). No new process has its number then.
inline bool has_ended(pid_t process) noexcept {
  if (::kill(process, 0) != 0) return errno == ESRCH;
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0U));
  if (descriptor < 0) return false;
  pollfd end{descriptor, POLLIN, 0};
  const bool ended = ::poll(&end, 1, 0) == 1;
  ::close(descriptor);
  return ended;
}

/// Removes this user's regions of a process that has ended from `folder`. Returns their number.
inline int sweep_leftovers_of(pid_t ended, const char* folder = "/dev/shm") noexcept {
  if (ended <= 0 || !has_ended(ended)) return 0;  // A new process has the same id.
  DIR* entries = ::opendir(folder);
  if (entries == nullptr) return 0;
  int swept = 0;
  while (const dirent* entry = ::readdir(entries)) {
    if (owner_of_region(entry->d_name) != ended) continue;
    struct stat what {};
    const int at = ::dirfd(entries);
    if (::fstatat(at, entry->d_name, &what, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(what.st_mode) ||
        what.st_uid != ::geteuid())
      continue;
    swept += ::unlinkat(at, entry->d_name, 0) == 0;
  }
  ::closedir(entries);
  return swept;
}

}  // namespace weft::backends::libfabric
