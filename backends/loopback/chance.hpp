// SPDX-License-Identifier: Apache-2.0
//
// The only source of randomness in a simulated run: splitmix64 from one seed.
// Distributions of the standard library differ between implementations. The same seed must give the same run under
// every compiler, so weft draws by itself.
// Hot path: yes. Threads: one owner.
#pragma once

#include "../../core/time.hpp"

#include <cstdint>

namespace weft::backends::loopback {

/// Draws from one seed, in one order.
class chance {
 public:
  explicit constexpr chance(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// A number in [0, bound). Requires: bound > 0. The bias of the remainder does not matter here.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
  /// True with this probability. Probability zero draws nothing, so a disabled fault leaves the run unchanged.
  constexpr bool hits(double probability) noexcept {
    if (probability <= 0.0) return false;
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
  }
  constexpr duration between(duration least, duration most) noexcept {
    if (most <= least) return least;
    return least + duration(static_cast<duration::rep>(below(static_cast<std::uint64_t>((most - least).count()) + 1)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace weft::backends::loopback
