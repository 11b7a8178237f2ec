// SPDX-License-Identifier: Apache-2.0
//
// The time between fruitless polls of memory that two processes share.
// Each poll takes a copy of the cache line. A writer then waits until it owns the line again.
// Polls that begin some moments apart see a write hardly later, and the writer stores sooner. A flag crosses in half to
// three quarters of the time (docs/decisions/0011, `bench-flag.mapped`).
// Users who spin on a word that a peer's put sets may use it too. Hot path: all of it. Threads: values.
#pragma once

#include <cstdint>

namespace weft {

/// A counter that runs evenly at some gigahertz, also while the processor waits. Reading it does not wait for earlier
/// instructions (rdtsc: Intel SDM 4.3, AMD APM 3).
struct processor_counter {
#if defined(__x86_64__) || defined(__i386__)
  static constexpr bool exists = true;
  [[gnu::always_inline]] static std::uint64_t read() noexcept { return __builtin_ia32_rdtsc(); }
#else
  /// aarch64's counter may run at some megahertz only. Two barriers take some tens of nanoseconds.
  static constexpr bool exists = false;
  [[gnu::always_inline]] static void rest() noexcept {
#if defined(__aarch64__)
    asm volatile("isb\n\tisb");  // NOLINT(hicpp-no-assembler)
#endif
  }
#endif
};

/// Counter ticks between the starts of two polls. `line_spacing` is for a line of memory. `queue_spacing` is for a
/// library's queue in memory of one host: its poll takes a lock that posts hold while they wait for other lines.
inline constexpr std::uint32_t line_spacing = 60, queue_spacing = 250;

/// Call before_poll() before each poll, and found() after a poll that found something.
/// The first poll after found() starts at once, and so does the one after it. Later polls start at least `Apart` ticks
/// after each other, so other work in the loop shortens the wait.
/// `Counter` has `exists`, and read() or rest().
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
  std::uint64_t last_ = 0;  ///< Start of the last poll that followed a fruitless one.
  bool fruitless_ = false;
};

/// Polls without spacing: they delay no writer.
struct close_polls {
  static void before_poll() noexcept {}
  static void found() noexcept {}
};

}  // namespace weft
