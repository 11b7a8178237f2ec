// SPDX-License-Identifier: Apache-2.0
//
// Room between looks in a row that find nothing. Forced by memory that two processes share: a look takes a copy of the line, and whoever writes it next waits
// until it has the line for itself again. Looks some ninety nanoseconds apart find the write hardly later, and let it be made sooner: a flag crosses in half
// to three quarters of the time (docs/decisions/0011, `bench-flag.mapped`). For whoever spins on a word that a peer's put sets, too.
// Hot path: all of it. Threads: values.
#pragma once

namespace weft {

/// before_look(), the look, and found() if it found something: the first look behind that one does not wait.
class spaced_looks {
 public:
  [[gnu::always_inline]] void before_look() noexcept {
    if (fruitless_) [[likely]] {
      pause();
      pause();
    }
    fruitless_ = true;
  }
  [[gnu::always_inline]] void found() noexcept { fruitless_ = false; }

 private:
  /// This processor does nothing for a moment: some 45 ns on recent x86.
  [[gnu::always_inline]] static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  bool fruitless_ = false;
};

/// Looks that disturb nobody.
struct close_looks {
  static void before_look() noexcept {}
  static void found() noexcept {}
};

}  // namespace weft
