// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of the kernel, which no peer can guess: of keys, nonces and tokens. Hot path: no. Threads: any.
#pragma once

#include <sys/random.h>
#include <cerrno>

#include <cstddef>
#include <cstdint>

namespace weft::detail {

/// 64 bits from `read(into, size)`, which answers as getrandom(2). 0: it failed, or signals interrupted it for too
/// long.
template <class Read>
std::uint64_t unguessable_by(Read&& read) noexcept {
  constexpr int most_interrupts = 4096;
  for (int i = 0; i < most_interrupts; ++i) {
    std::uint64_t value = 0;
    const ssize_t got = read(&value, sizeof value);
    if (got == static_cast<ssize_t>(sizeof value)) return value;
    if (got < 0 && errno != EINTR) return 0;
  }
  return 0;
}
/// 64 bits that no peer can guess. 0: the kernel gives none, for example under a filter of system calls.
inline std::uint64_t unguessable() noexcept {
  return unguessable_by([](void* into, std::size_t size) { return ::getrandom(into, size, 0); });
}

}  // namespace weft::detail
