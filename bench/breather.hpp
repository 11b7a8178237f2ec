// SPDX-License-Identifier: Apache-2.0
//
// core/poll_spacing.hpp for contenders that use nothing of weft. Where two processes poll memory of one host, a poll
// takes the cache line from its next writer. The floors space their polls too: a flag polled in a tight loop takes 1.5
// to 2 times as long. Hot path: all of it. Threads: values.
#pragma once

#include <cstdint>

namespace weft::bench {

/// Processor counts between the beginnings of two empty polls: of a line, and of the queue of libfabric's shm. 0: no
/// spacing.
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
  void found() noexcept {
    if constexpr (Apart != no_room) fruitless_ = false;
  }

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
