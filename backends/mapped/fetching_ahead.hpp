// SPDX-License-Identifier: Apache-2.0
//
// Lines of memory that are asked for before anybody needs them: a line that another processor wrote takes as long to
// come as the notice itself, and would be asked for only when the notice was understood. Whoever is told of bytes reads
// them next, and the next ones mostly come where the last ones came. A guess that is wrong costs a line's way, never a
// result: nothing here reads or writes. Forced by shared memory alone: where a library moves the bytes, they are in the
// target's cache or nowhere when it is told. Hot path: all of it. Threads: the owner's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::backends::mapped {

/// Asks for a line that will be written: with it come the rights to change it, for which the first store would wait. No
/// access: any address is allowed.
[[gnu::always_inline]] inline void fetch_to_write(const std::byte* line) noexcept {
#if defined(__x86_64__)
  // NOLINTNEXTLINE(hicpp-no-assembler)
  asm volatile(
      "prefetchw %0"
      :
      : "m"(*line));  // compilers emit it only when told that the processor has it; those that have it not ignore it
#else
  __builtin_prefetch(line, 1);
#endif
}

/// A line that was written, of several in a row: the one behind it will probably be written next, and somebody else
/// looks at it meanwhile. It is asked for once. No branch, and of a post no more than a store: behind the last of the
/// row another line is asked for in vain.
class line_before {
 public:
  [[gnu::always_inline]] void is(const void* written) noexcept { written_ = static_cast<const std::byte*>(written); }
  [[gnu::always_inline]] void fetch_following_to_write_once() noexcept {
    mapped::fetch_to_write(written_ + line_bytes);
    written_ = nowhere.data();
  }

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::array<std::byte, line_bytes + 1> nowhere{};  ///< An address that is mapped costs least.
  const std::byte* written_ = nowhere.data();
};

/// The first and the last line of a piece of memory that will probably be read next; those between the processor finds
/// by itself. Numbers: a peer told where, and what it told is asked for unseen.
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
  static const std::byte* place(std::uintptr_t at) noexcept {
    return reinterpret_cast<const std::byte*>(at);
  }                                      // NOLINT(performance-no-int-to-ptr)
  static constexpr std::byte nowhere{};  ///< At first: an address that is mapped costs least.
  std::uintptr_t first_ = reinterpret_cast<std::uintptr_t>(&nowhere);
  std::uintptr_t last_ = reinterpret_cast<std::uintptr_t>(&nowhere);
};

}  // namespace weft::backends::mapped
