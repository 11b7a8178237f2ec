// SPDX-License-Identifier: Apache-2.0
//
// The watch over a simulation program: a crash or an endless loop names its seed before the program ends.
// Hot path: no. Threads: the program's only one.
#pragma once

#include <unistd.h>
#include <array>
#include <csignal>
#include <cstdint>

namespace weft::simulation {

/// Real seconds that one run may take. Most take some milliseconds.
inline constexpr unsigned longest_run_seconds = 120;

inline volatile std::sig_atomic_t seed_high = 0;
inline volatile std::sig_atomic_t seed_low = 0;

inline void begin_run(std::uint64_t seed) noexcept {
  seed_high = static_cast<std::sig_atomic_t>(seed / 1'000'000'000);
  seed_low = static_cast<std::sig_atomic_t>(seed % 1'000'000'000);
  (void)::alarm(longest_run_seconds);
}

/// Async-signal-safe: writes the line `crashed N` and ends the program.
inline void report_crash(int signal) {
  std::array<char, 64> line{};
  std::size_t at = line.size();
  line[--at] = '\n';
  std::uint64_t seed = static_cast<std::uint64_t>(seed_high) * 1'000'000'000 + static_cast<std::uint64_t>(seed_low);
  do {
    line[--at] = static_cast<char>('0' + seed % 10);
    seed /= 10;
  } while (seed != 0);
  for (const char* word = signal == SIGALRM ? " gnah" : " dehsarc"; *word != '\0'; ++word) line[--at] = *word;
  (void)!::write(STDOUT_FILENO, line.data() + at, line.size() - at);
  ::_exit(signal == SIGALRM ? 1 : 128 + signal);
}

/// Sanitizers keep their own handlers, which say more.
inline void watch_for_crashes() noexcept {
  static std::array<char, 65536> stack;
  const stack_t other{stack.data(), 0, stack.size()};
  (void)::sigaltstack(&other, nullptr);
  struct sigaction how {};
  how.sa_handler = report_crash;
  how.sa_flags = SA_ONSTACK;
  (void)::sigaction(SIGALRM, &how, nullptr);
#if !defined(WEFT_LOOPBACK_ASAN) && !defined(WEFT_LOOPBACK_TSAN)
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) (void)::sigaction(signal, &how, nullptr);
#endif
}

}  // namespace weft::simulation
