// SPDX-License-Identifier: Apache-2.0
//
// What weft's core/spaced_looks.hpp does, for contenders that use nothing of weft: where two processes look at memory of one host, a look takes the line from
// whoever writes it next. The floors have it too: a flag that is looked at without rest takes half as long again, or twice as long.
// Hot path: all of it. Threads: values.
#pragma once

namespace weft::bench {

/// Looks in a row that find nothing, and whether they leave room.
template <bool Disturbing>
class breather {
 public:
  [[gnu::always_inline]] void before_look() noexcept {
    if constexpr (Disturbing) {
      if (fruitless_) {
        pause();
        pause();
      }
      fruitless_ = true;
    }
  }
  void found() noexcept { fruitless_ = false; }

 private:
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  bool fruitless_ = false;
};

}  // namespace weft::bench
