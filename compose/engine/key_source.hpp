// SPDX-License-Identifier: Apache-2.0
//
// Keys of regions, where the application makes them. They are random, because a peer that knows a key may use the
// memory. They are as wide as the row allows, and never 0. A process never uses a key twice, not even after the region
// is gone, so that a late write finds no new owner. Only registration includes this, because a table of keys is slow to
// compile. Hot path: no. Threads: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_set>

namespace weft::detail {

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

/// The port keeps the keys of its process: a simulated world has several processes.
template <class Port>
concept keeps_keys = requires(Port p) {
  {p.keys_of_process()};
};
template <class Port, class Random>
std::optional<std::uint64_t> draw_key(Port&, std::uint8_t key_bytes, Random&& random) {
  return key_source::draw(key_bytes, random);
}
template <keeps_keys Port, class Random>
std::optional<std::uint64_t> draw_key(Port& p, std::uint8_t key_bytes, Random&& random) {
  return key_source::draw(key_bytes, random, p.keys_of_process());
}

}  // namespace weft::detail
