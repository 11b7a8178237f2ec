// SPDX-License-Identifier: Apache-2.0
//
// A peer's memory outside of the mapping: the kernel copies (process_vm_writev(2), process_vm_readv(2)) where it permits one process to reach into another.
// It does not where the processes have different users, or where Yama restricts it (kernel.yama.ptrace_scope, 1 on many distributions).
// Nothing orders such copies with stores beside them but the calls themselves; no atomics.
// Hot path: no: a system call each. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../../core/memory.hpp"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <cerrno>

#include <array>
#include <fstream>
#include <string>

namespace weft::backends::mapped {

/// Why peers of this user cannot reach memory of this process; "" where they can.
inline std::string what_forbids_reaching_in() {
  std::uint64_t here = 1, there = 2;
  const iovec to{&here, sizeof here}, from{&there, sizeof there};
  if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) != sizeof here) return "the system call process_vm_readv is not permitted here";
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == 0) return {};
  std::string line;
  for (std::ifstream status("/proc/self/status"); std::getline(status, line);)
    if (line.starts_with("CapEff:") && (std::stoull(line.substr(7), nullptr, 16) >> 19 & 1) != 0) return {};  // CAP_SYS_PTRACE
  return "kernel.yama.ptrace_scope is " + std::to_string(scope);
}

/// Copies between pieces here and one place there. Returns: ok, or why not; the socket tells whether the process behind the number is still the peer.
[[gnu::cold, gnu::noinline]] inline errc reach_into(pid_t process, int socket, gather_list here, std::uint64_t there, bool writes) noexcept {
  char any = 0;
  const ssize_t said = ::recv(socket, &any, sizeof any, MSG_PEEK | MSG_DONTWAIT);
  if (said == 0 || (said < 0 && errno != EAGAIN && errno != EINTR)) return errc::peer_lost;
  std::size_t most = 0;  // of one piece: the kernel moves less than 2 GiB by one call
  constexpr std::size_t at_once = std::size_t{1} << 30;
  for (const local_memory& each : here)
    for (std::size_t done = 0; done < each.size; done += most) {
      most = std::min(each.size - done, at_once);
      const iovec near{each.data + done, most};
      const iovec far{reinterpret_cast<void*>(there), most};  // NOLINT(performance-no-int-to-ptr): an address of the peer's
      const ssize_t moved = writes ? ::process_vm_writev(process, &near, 1, &far, 1, 0) : ::process_vm_readv(process, &near, 1, &far, 1, 0);
      if (moved < 0) return errno == EPERM ? errc::denied : errno == ESRCH ? errc::peer_lost : errno == ENOMEM ? errc::no_memory : errc::out_of_range;
      if (static_cast<std::size_t>(moved) != most) return errc::out_of_range;  // it ends in a page that is not there
      there += most;
    }
  return errc::ok;
}

}  // namespace weft::backends::mapped
