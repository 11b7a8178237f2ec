// SPDX-License-Identifier: Apache-2.0
//
// Prefetches cache lines of shared memory. A line that another processor wrote takes as long to arrive as the notice
// itself; without a prefetch its transfer starts only after the notice.
// The handler reads the notified bytes next, and the next ones mostly arrive at the same place.
// A wrong guess costs the transfer of a line, never a result: nothing here reads or writes.
// Only shared memory forces this. Where a library moves the bytes, they are in the target's cache or absent when it is
// notified.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::backends::mapped {

/// Prefetches a line for writing: its ownership comes with it, for which the first store would wait. It is no access,
/// so any address is allowed.
[[gnu::always_inline]] inline void fetch_to_write(const std::byte* line) noexcept {
#if defined(__x86_64__)
  // NOLINTNEXTLINE(hicpp-no-assembler)
  asm volatile("prefetchw %0" : : "m"(*line));  // Compilers emit it only for processors that have it; others ignore it.
#else
  __builtin_prefetch(line, 1);
#endif
}

/// The last written line of a row. The next line will probably be written next, while the other side polls it. It is
/// prefetched once. A post costs no branch and one store; after the last line of the row the prefetch is in vain.
class last_line {
 public:
  [[gnu::always_inline]] void is(const void* written) noexcept { written_ = static_cast<const std::byte*>(written); }
  [[gnu::always_inline]] void fetch_following_to_write_once() noexcept {
    mapped::fetch_to_write(written_ + line_bytes);
    written_ = nowhere.data();
  }

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::array<std::byte, line_bytes + 1> nowhere{};  ///< A mapped address costs least.
  const std::byte* written_ = nowhere.data();
};

/// The first and last line of memory that will probably be read next. The processor prefetches those in between by
/// itself. Stored as integers: they come from the peer unchecked, and are only prefetched.
class likely_lines {
 public:
  [[gnu::always_inline]] void are(std::uintptr_t first, std::uintptr_t last) noexcept {
    first_ = first;
    last_ = last;
  }
  [[gnu::always_inline]] void fetch() const noexcept {
    __builtin_prefetch(place(first_));
    __builtin_prefetch(place(last_));
  }

 private:
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  static const std::byte* place(std::uintptr_t at) noexcept { return reinterpret_cast<const std::byte*>(at); }
  static constexpr std::byte nowhere{};  ///< The initial value: a mapped address costs least.
  std::uintptr_t first_ = reinterpret_cast<std::uintptr_t>(&nowhere);
  std::uintptr_t last_ = reinterpret_cast<std::uintptr_t>(&nowhere);
};

}  // namespace weft::backends::mapped
