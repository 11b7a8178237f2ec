// SPDX-License-Identifier: Apache-2.0
//
// Exchanges between the ranks of an MPI program. Each checks every byte, and throws `wrong` with a sentence.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace exchanges {

struct wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The ranks of one run, and the largest message in bytes that the fabric carries.
struct world {
  int rank = 0;
  int size = 1;
  std::size_t largest = 0;

  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
};

inline void require(bool holds, const std::string& sentence) {
  if (!holds) throw wrong(sentence);
}

/// Bytes that no other `seed` has at the same places.
inline std::vector<std::uint8_t> pattern(std::size_t size, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(size);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (std::uint8_t& each : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    each = static_cast<std::uint8_t>(state >> 56U);
  }
  return bytes;
}

/// 0, 1, and around each power of two, up to the largest message.
inline std::vector<std::size_t> sizes(std::size_t largest) {
  std::vector<std::size_t> all{0, 1};
  for (std::size_t power = 2; power <= largest; power *= 2)
    for (const std::size_t each : {power - 1, power, power + 1})
      if (each <= largest && each > all.back()) all.push_back(each);
  return all;
}

// messages.cpp
void ring_of_all_sizes(const world& of);
void tags_and_any_source(const world& of);
void messages_that_wait(const world& of);
void probes_and_claims(const world& of);
void synchronous_sends(const world& of);
void cancelled_receives(const world& of);
void order_of_messages(const world& of);
// collectives.cpp
void collectives(const world& of);
void communicators(const world& of);
// one_sided.cpp
void puts_and_gets(const world& of);
void accumulated(const world& of);
void locked_counters(const world& of);
void swap_in_own_window(const world& of);

}  // namespace exchanges
