// SPDX-License-Identifier: Apache-2.0
//
// What an executor may still do once it runs a client's code. Two steps, each for all threads of the process:
// confine() before any object is loaded, because constructors of an object run while it is loaded; deny_files() before
// the first call. Source: seccomp(2), SECCOMP_FILTER_FLAG_TSYNC; setrlimit(2). Hot path: no. Threads: one, set-up.
#pragma once

#include <weft/core/error.hpp>

#include <cstdint>
#include <string>

namespace weft::invocation {

/// Limits of an executor.
struct confinement {
  bool filter = true;               ///< A list of permitted system calls; others fail with EPERM.
  std::uint32_t memory_mib = 1024;  ///< Address space above that of the start, in MiB; 0: no limit.
  std::string user;                 ///< User of the process; empty: the manager's.
  /// The fabric's library may read and write memory of other processes of this host, but never the manager's.
  bool reaches_neighbours = false;
  /// This process is a copy of that one, which is not confined: its memory is as closed as the manager's. 0: no copy.
  std::int32_t warm_parent = 0;
};

/// Takes the user's identity, for ever. Call it first: nothing of the process belongs to a client yet.
/// Errors: invalid (no such user), native (only root can take another identity).
result<void> become(const std::string& user);

/// Takes from the calling thread, and from those that it starts, the sight of other processes, also of their memory in
/// /proc. Call it in each thread that loads or runs a client's object, before confine(). No effect where the library
/// reads neighbours' memory or drives a device, without a filter, and on a kernel without Landlock. Source:
/// landlock(7), "Ptrace restrictions". Errors: native (the kernel refused).
result<void> close_other_processes(const confinement& c);

/// Limits memory, core files and system calls of all threads. Files can still be read. Call it when all connections
/// are there, and before a client's object is loaded. Errors: native (the kernel refused).
result<void> confine(const confinement& c);

/// From now on no file can be opened. Call it when all objects are loaded. Errors: native (the kernel refused).
result<void> deny_files();

}  // namespace weft::invocation
