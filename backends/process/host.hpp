// SPDX-License-Identifier: Apache-2.0
//
// Whether two processes can share memory: a number of this host, and the user. Containers of one machine may have
// separate namespaces; then neither the names in /dev/shm nor process numbers mean the same to both, so they count as
// two hosts. Hot path: no. Threads: any.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace weft::backends::process {

/// The same in every process that shares kernel, network, process numbers, and /dev/shm with this one; else different,
/// but for chance. 0: the kernel does not say (no /proc).
inline std::uint64_t number_of_this_host() {
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&sum](std::uint64_t value) {
    for (int i = 0; i < 8; ++i) sum = (sum ^ ((value >> (8 * i)) & 0xff)) * 0x100000001b3;
  };
  std::string boot;
  if (!std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot)) return 0;
  for (const char c : boot) add(static_cast<unsigned char>(c));
  for (const char* space : {"/proc/self/ns/net", "/proc/self/ns/pid", "/proc/self/ns/ipc", "/dev/shm"}) {
    struct stat there {};
    if (::stat(space, &there) != 0) return 0;
    add(there.st_dev);
    add(there.st_ino);
  }
  return sum == 0 ? 1 : sum;
}

}  // namespace weft::backends::process
