// SPDX-License-Identifier: Apache-2.0
//
// Room between looks in a row that find nothing. Forced by memory that two processes share: a look takes a copy of the
// line, and whoever writes it next waits until it has the line for itself again. Looks that begin some moments apart
// find the write hardly later, and let it be made sooner: a flag crosses in half to three quarters of the time
// (docs/decisions/0011, `bench-flag.mapped`). For whoever spins on a word that a peer's put sets, too. Hot path: all of
// it. Threads: values.
#pragma once

#include <cstdint>

namespace weft {

/// What counts evenly while the processor waits, at some gigahertz; read without waiting for earlier instructions
/// (rdtsc: Intel SDM 4.3, AMD APM 3).
struct processor_counter {
#if defined(__x86_64__) || defined(__i386__)
  static constexpr bool exists = true;
  [[gnu::always_inline]] static std::uint64_t read() noexcept { return __builtin_ia32_rdtsc(); }
#else
  static constexpr bool exists =
      false;  ///< aarch64 has one that may count at some megahertz: two barriers take some tens of nanoseconds.
  [[gnu::always_inline]] static void rest() noexcept {
#if defined(__aarch64__)
    asm volatile("isb\n\tisb");  // NOLINT(hicpp-no-assembler)
#endif
  }
#endif
};

/// Counts between the beginnings of two looks: at a line of memory; at the queue of a library in memory of one host, of
/// which a look is a locked instruction and a post holds that lock while it waits for other lines.
inline constexpr std::uint32_t line_spacing = 60, queue_spacing = 250;

/// before_poll(), the look, and found() if it found something: the next look does not wait, and the one behind it
/// begins when it likes. From then on looks begin at least `Apart` counts after each other, so that whoever has other
/// work in the loop does not wait besides. `Counter`: exists, and read() or rest().
template <std::uint32_t Apart = line_spacing, class Counter = processor_counter>
class poll_spacing {
 public:
  [[gnu::always_inline]] void before_poll() noexcept {
    if (fruitless_) [[likely]] {
      if constexpr (Counter::exists) {
        std::uint64_t now = 0;
        do now = Counter::read();
        while (now - last_ < Apart);
        last_ = now;
      } else {
        Counter::rest();
      }
    }
    fruitless_ = true;
  }
  [[gnu::always_inline]] void found() noexcept { fruitless_ = false; }

 private:
  std::uint64_t last_ = 0;  ///< When a look began that did not follow one which found something.
  bool fruitless_ = false;
};

/// Looks that disturb nobody.
struct close_polls {
  static void before_poll() noexcept {}
  static void found() noexcept {}
};

}  // namespace weft
