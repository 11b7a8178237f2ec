// SPDX-License-Identifier: Apache-2.0
//
// What weft's core/poll_spacing.hpp does, for contenders that use nothing of weft: where two processes look at memory
// of one host, a look takes the line from whoever writes it next. The floors have it too: a flag that is looked at
// without rest takes half as long again, or twice as long. Hot path: all of it. Threads: values.
#pragma once

#include <cstdint>

namespace weft::bench {

/// Counts of the processor between the beginnings of looks in a row that find nothing: at a line, and at a queue of
/// libfabric's shm. 0: no room at all.
inline constexpr std::uint32_t room_at_line = 60, room_at_queue = 250, no_room = 0;

template <std::uint32_t Apart>
class breather {
 public:
  [[gnu::always_inline]] void before_poll() noexcept {
    if constexpr (Apart != no_room) {
      if (fruitless_) wait();
      fruitless_ = true;
    }
  }
  void found() noexcept { fruitless_ = false; }

 private:
  [[gnu::always_inline]] void wait() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    std::uint64_t now = 0;
    do now = __builtin_ia32_rdtsc();
    while (now - last_ < Apart);
    last_ = now;
#elif defined(__aarch64__)
    asm volatile("isb\n\tisb");
#endif
  }
  std::uint64_t last_ = 0;
  bool fruitless_ = false;
};

}  // namespace weft::bench
