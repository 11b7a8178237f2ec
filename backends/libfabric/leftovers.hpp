// SPDX-License-Identifier: Apache-2.0
//
// Removes shared memory of dead processes.
// libfabric's provider for one host names its regions "<pid>:<n>:<m>" in /dev/shm. It unlinks them when an endpoint
// closes or a caught signal ends the process. After SIGKILL 16 MiB per endpoint stay for ever.
// A survivor that saw its peer's process end removes its regions. A number alone is no reason to remove: it may belong
// to a living process of another pid namespace.
// Hot path: no. Threads: any; two survivors may run this at once, and the second finds nothing.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace weft::backends::libfabric {

/// The process of a region's name; 0 for names of another form.
constexpr pid_t owner_of_region(std::string_view name) noexcept {
  const std::size_t colon = name.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon > 9 || std::count(name.begin(), name.end(), ':') != 2)
    return 0;
  if (name.find_first_not_of("0123456789:") != std::string_view::npos) return 0;
  pid_t owner = 0;
  for (const char digit : name.substr(0, colon)) owner = owner * 10 + (digit - '0');
  return owner;
}
static_assert(owner_of_region("13205:0:0") == 13205 && owner_of_region("13205") == 0 && owner_of_region("x:0:0") == 0);

/// Removes this user's regions of a process that has ended from `folder`. Returns their number.
inline int sweep_leftovers_of(pid_t ended, const char* folder = "/dev/shm") noexcept {
  if (ended <= 0 || ::kill(ended, 0) == 0 || errno != ESRCH) return 0;  // A new process has the same id.
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
