// SPDX-License-Identifier: Apache-2.0
//
// Decisions from one seed: the n-th decision of the n-th endpoint of a process is the same in every run (splitmix64).
// Threads: one owner.
#pragma once

#include <cstdint>

namespace weft::emulator {

class chance {
 public:
  explicit chance(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t number() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : number() % bound; }
  bool in_a_thousand(unsigned of) noexcept { return of != 0 && below(1000) < of; }

 private:
  std::uint64_t state_;
};

}  // namespace weft::emulator
