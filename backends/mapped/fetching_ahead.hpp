// SPDX-License-Identifier: Apache-2.0
//
// Lines of memory that are asked for before anybody needs them: a line that another processor wrote takes as long to come as the notice itself, and would be
// asked for only when the notice was understood. Whoever is told of bytes reads them next, the next ones mostly come where the last ones came, and whoever
// was told mostly answers where it answered last. A guess that is wrong costs a line's way, never a result: nothing here reads or writes.
// Forced by shared memory alone: where a library moves the bytes, they are in the target's cache or nowhere when it is told.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include <algorithm>
#include <cstddef>

namespace weft::backends::mapped {

/// Asks for a line that will be written: with it come the rights to change it, for which the first store would wait. No access: any address is allowed.
[[gnu::always_inline]] inline void fetch_to_write(const std::byte* line) noexcept {
#if defined(__x86_64__)
  // NOLINTNEXTLINE(hicpp-no-assembler)
  asm volatile("prefetchw %0" : : "m"(*line));  // compilers emit it only when told that the processor has it; those that have it not ignore it
#else
  __builtin_prefetch(line, 1);
#endif
}

/// Where a piece of memory begins that will probably be touched next, and where the part of it ends that is worth asking for.
class likely_lines {
 public:
  static constexpr std::size_t most = 128;  ///< Bytes: behind two lines the processor goes on by itself.

  /// Requires: size > 0.
  [[gnu::always_inline]] void are(const std::byte* first, std::size_t size) noexcept {
    first_ = first;
    last_ = first + (std::min(size, most) - 1);
  }
  [[gnu::always_inline]] void fetch() const noexcept {
    __builtin_prefetch(first_);
    __builtin_prefetch(last_);
  }
  [[gnu::always_inline]] void fetch_to_write() const noexcept {
    mapped::fetch_to_write(first_);
    mapped::fetch_to_write(last_);
  }

 private:
  static constexpr std::byte nowhere{};  ///< At first: an address that is mapped costs least.
  const std::byte* first_ = &nowhere;
  const std::byte* last_ = &nowhere;
};

}  // namespace weft::backends::mapped
