// SPDX-License-Identifier: Apache-2.0
//
// Keys of regions, where the application makes them. They are random, because a peer that knows a key may use the
// memory. They are as wide as the row allows, and never 0. A process never uses a key twice, not even after the region
// is gone, so that a late write finds no new owner. Hot path: no. Threads: any.
#pragma once

#include <sys/random.h>
#include <cerrno>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_set>

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

class key_source {
 public:
  /// A key of `key_bytes` bytes that this process has not used. nullopt: all keys of this width are used, or the kernel
  /// gives no random numbers.
  template <class Random>
  static std::optional<std::uint64_t> draw(std::uint8_t key_bytes, Random&& random) {
    static std::mutex guard;
    static std::unordered_set<std::uint64_t> used;
    const std::lock_guard lock(guard);
    return draw(key_bytes, random, used);
  }

  /// The same. `used`: the keys of the process; a simulated world has many processes.
  template <class Random>
  static std::optional<std::uint64_t> draw(std::uint8_t key_bytes, Random&& random,
                                           std::unordered_set<std::uint64_t>& used) {
    const std::uint64_t mask = key_bytes >= 8 ? ~std::uint64_t{0} >> 1 : (std::uint64_t{1} << (8 * key_bytes)) - 1;
    for (int attempt = 0; attempt < 4096; ++attempt) {
      const std::uint64_t key = random() & mask;
      if (key != 0 && used.insert(key).second) return key;
    }
    return std::nullopt;
  }
};

}  // namespace weft::detail
