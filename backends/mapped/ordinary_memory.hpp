// SPDX-License-Identifier: Apache-2.0
//
// A peer's memory outside of the mapping: the kernel copies it (process_vm_writev(2), process_vm_readv(2)), where it
// permits one process to access another.
// The kernel refuses it for processes of different users, and where Yama restricts it (kernel.yama.ptrace_scope, 1 on
// many distributions).
// Only the calls themselves order such copies with other stores. There are no atomics.
// Hot path: no; one system call each. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../../core/memory.hpp"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <fstream>
#include <string>

namespace weft::backends::mapped {

/// Why peers of this user cannot access memory of this process; "" where they can.
inline std::string why_no_access() {
  std::uint64_t here = 1, there = 2;
  const iovec to{&here, sizeof here}, from{&there, sizeof there};
  if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) != sizeof here)
    return "the system call process_vm_readv is not permitted here";
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == 0) return {};
  std::string line;
  // CAP_SYS_PTRACE
  for (std::ifstream status("/proc/self/status"); std::getline(status, line);)
    if (line.starts_with("CapEff:") && (std::stoull(line.substr(7), nullptr, 16) >> 19 & 1) != 0) return {};
  return "kernel.yama.ptrace_scope is " + std::to_string(scope);
}

/// One call of the kernel moves less than 2 GiB.
[[gnu::cold]] inline errc copy_once(pid_t process, bytes here, std::uint64_t there, bool writes) noexcept {
  const iovec near{here.data(), here.size()};
  const iovec far{reinterpret_cast<void*>(there),
                  here.size()};  // NOLINT(performance-no-int-to-ptr): an address of the peer
  const ssize_t transfer_result =
      writes ? ::process_vm_writev(process, &near, 1, &far, 1, 0) : ::process_vm_readv(process, &near, 1, &far, 1, 0);
  if (transfer_result == static_cast<ssize_t>(here.size())) return errc::ok;
  if (transfer_result >= 0) return errc::out_of_range;  // It ends in an unmapped page.
  switch (errno) {
    case EPERM:
      return errc::denied;
    case ESRCH:
      return errc::peer_lost;
    case ENOMEM:
      return errc::no_memory;
    default:
      return errc::out_of_range;
  }
}

/// Copies between local pieces and one remote place. Returns ok or the error. The socket shows whether the process id
/// still belongs to the peer.
[[gnu::cold, gnu::noinline]] inline errc copy_by_system_call(pid_t process, int socket, gather_list here,
                                                             std::uint64_t there, bool writes) noexcept {
  char any = 0;
  const ssize_t said = ::recv(socket, &any, sizeof any, MSG_PEEK | MSG_DONTWAIT);
  if (said == 0 || (said < 0 && errno != EAGAIN && errno != EINTR)) return errc::peer_lost;
  constexpr std::size_t at_once = std::size_t{1} << 30;
  for (const local_memory& each : here)
    for (std::size_t done = 0; done < each.size;) {
      const std::size_t most = std::min(each.size - done, at_once);
      if (const errc transfer_result = copy_once(process, {each.data + done, most}, there, writes);
          transfer_result != errc::ok)
        return transfer_result;
      there += most;
      done += most;
    }
  return errc::ok;
}

}  // namespace weft::backends::mapped
