// SPDX-License-Identifier: Apache-2.0
//
// Runs both sides of a tutorial program as two processes of this machine. The listener's address reaches the caller
// through a pipe. weft itself needs no such file: real programs get the address on their command line.
// Hot path: no. Threads: none.
#pragma once

#include <weft/core/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

/// Runs `side` and returns its exit code. Prints the sentence of an error that `value()` threw.
template <class Side>
int run_side(Side side) {
  try {
    return side();
  } catch (const weft::no_value& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

/// Forks, and runs the listener here and the caller in the new process. Returns 0 if both sides return 0.
/// The listener gets a function to report its address; the caller gets that address.
template <class Listener, class Caller>
int two_processes(Listener listener, Caller caller) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();  // before any library runs: libfabric does not survive a fork
  if (child == 0) {
    close(ends[1]);
    std::string address;
    for (char byte; read(ends[0], &byte, 1) == 1;) address += byte;
    std::exit(address.empty() ? 1 : run_side([&] { return caller(address); }));
  }
  close(ends[0]);
  const auto report = [&](std::string_view address) {
    if (write(ends[1], address.data(), address.size()) < 0) std::perror("pipe");
    close(ends[1]);
  };
  const int here = run_side([&] { return listener(report); });
  if (here != 0) close(ends[1]);  // the caller may still wait for an address
  int there = 1;
  if (child > 0) waitpid(child, &there, 0);
  return here == 0 && there == 0 ? 0 : 1;
}
