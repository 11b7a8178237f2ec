// SPDX-License-Identifier: Apache-2.0
//
// The two sides as processes: a server, a client, or both. Each prints a line about the moved data and ends with an
// exit code. Hot path: no. Threads: the caller's.
#pragma once

#include "../announcement.hpp"
#include "commands.hpp"
#include "sides.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <new>

namespace weft::paged {

template <complete_fabric F>
void print(const char* verb, const plan& p, const outcome& o) {
  std::printf(
      "%s %s: %.3f GB in %llu rounds of %u pages of %llu bytes, %u rails: %.3f s, %.3f GB/s, %llu posts were answered "
      "again\n",
      std::string(F::name).c_str(), verb, static_cast<double>(o.done.bytes) / 1e9,
      static_cast<unsigned long long>(p.rounds()), p.pages, static_cast<unsigned long long>(p.page_bytes), p.rails,
      o.seconds, o.gigabytes_per_second(), static_cast<unsigned long long>(o.done.agains));
  (void)std::fflush(stdout);
}

/// One sentence for the exception that ended a part, without another allocation. Returns the exit code.
template <complete_fabric F>
int ended_by(const char* who, const std::exception& e) noexcept {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  (void)std::fprintf(stderr, "paged-writer.%.*s: %s: %s\n", static_cast<int>(F::name.size()), F::name.data(), who,
                     no_memory ? "memory ran out" : e.what());
  return 1;
}

/// Runs a side; returns an exit code.
template <complete_fabric F, class Side>
int guarded(const char* who, Side&& side) {
  try {
    side();
    return 0;
  } catch (const std::exception& e) {
    return ended_by<F>(who, e);
  }
}

template <complete_fabric F>
int serve(const command& c) {
  return guarded<F>("server", [&] {
    const outcome o = write_pages<F>(c.run, [&](const std::string& where) {
      if (c.announce.empty()) {
        std::printf("%s\n", where.c_str());
        (void)std::fflush(stdout);
      } else if (const std::string no = examples::announce(c.announce, where + "\n"); !no.empty()) {
        throw broken_off(no);
      }
    });
    print<F>("wrote", c.run, o);
  });
}
template <complete_fabric F>
int read(const command& c, const std::string& where) {
  return guarded<F>("client", [&] { print<F>("verified", c.run, read_pages<F>(c.run, where)); });
}

/// The server as a child, made before the network library is touched; its addresses come through a pipe.
template <complete_fabric F>
int both(command c) {
  int ends[2];
  if (::pipe(ends) != 0) return 1;
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    const int code = guarded<F>("server", [&] {
      const outcome o = write_pages<F>(c.run, [&](const std::string& where) {
        if (::write(ends[1], where.data(), where.size()) != static_cast<ssize_t>(where.size()))
          throw broken_off("the other process is gone");
        ::close(ends[1]);
      });
      print<F>("wrote", c.run, o);
    });
    ::_exit(code);
  }
  ::close(ends[1]);
  std::string where;
  char some[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], some, sizeof some)) > 0;)
    where.append(some, static_cast<std::size_t>(got));
  c.run.first_processor += c.run.one_thread ? 1 : c.run.rails;
  const int here = where.empty() ? 1 : read<F>(c, where);
  if (here != 0) (void)::kill(child, SIGTERM);  // it would wait for its reader
  int how = 0;
  ::waitpid(child, &how, 0);
  return here != 0 ? here : WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}

}  // namespace weft::paged
