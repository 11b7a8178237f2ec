// SPDX-License-Identifier: Apache-2.0
//
// The clock of a worker's accounts. Each function needs two clock readings, which delay the reply where memory is
// shared: clock_gettime(2) waits for all earlier instructions, as long as the way to the other processor. Between two
// readings of the real clock the processor's counter gives the time, by the rate since the first reading.
// Only where the kernel itself keeps time by that counter: then it runs evenly and alike on all processors. Hot path:
// read(). Threads: one owner.
#pragma once

#include <weft/core/time.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace weft::invocation {

/// The processor's counter, unordered: instructions around the reading may move across it by some tens of nanoseconds.
struct processor_ticks {
#if defined(__x86_64__)
  static constexpr bool exist = true;
  static constexpr const char* clock_source = "tsc";
  static std::uint64_t read() noexcept { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
  static constexpr bool exist = true;
  static constexpr const char* clock_source = "arch_sys_counter";
  static std::uint64_t read() noexcept {
    std::uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#else
  static constexpr bool exist = false;
  static constexpr const char* clock_source = "";
  static std::uint64_t read() noexcept { return 0; }
#endif
};

/// Whether the kernel keeps time by the processor's counter. Set-up: reads a file.
inline bool kernel_counts_ticks() {
  if constexpr (!processor_ticks::exist) return false;
  std::ifstream in("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return static_cast<bool>(in >> source) && source == processor_ticks::clock_source;
}

template <class Ticks = processor_ticks>
class work_clock {
 public:
  /// `by_ticks`: the port's clock is the machine's, and kernel_counts_ticks(). Otherwise every reading reads the port's
  /// clock.
  explicit work_clock(bool by_ticks) noexcept : by_ticks_(by_ticks) {}

  /// Never before the last result, except once for a counter that turns out to be uneven. `net`: has now(), the same
  /// object at each call.
  template <class Net>
  [[gnu::always_inline]] instant read(const Net& net) noexcept {
    if (!by_ticks_) return net.now();
    const std::uint64_t since = Ticks::read() - anchored_at_;  // of a counter that went back: beyond every range
    if (since >= reach_) [[unlikely]]
      return anchor(net);
    return told_ = anchor_ + duration((since * scale_) >> scale_bits);
  }

 private:
  static constexpr unsigned scale_bits = 24;
  static constexpr std::uint64_t longest_reach =
      std::uint64_t{1} << 30;  ///< Ticks. Times the nanoseconds of a tick they stay within 64 bits, from 2 MHz on.
  static constexpr std::uint64_t reach_of_known =
      8;  ///< A rate is valid for so many times its measurement: an error of 50 ns becomes 400.
  static constexpr duration least_known = std::chrono::milliseconds(1);

  /// The counter and the clock at the same moment: the closest of a few tries, because an interrupt may separate them.
  struct moment {
    std::uint64_t ticks = 0;
    instant now{};
  };
  template <class Net>
  static moment present(const Net& net) noexcept {
    moment best;
    std::uint64_t closest = ~std::uint64_t{0};
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t before = Ticks::read();
      const instant now = net.now();
      const std::uint64_t took = Ticks::read() - before;
      if (took >= closest) continue;
      closest = took;
      best = {before + took / 2, now};
    }
    return best;
  }

  template <class Net>
  [[gnu::noinline]] instant anchor(const Net& net) noexcept {
    const moment at = present(net);
    const std::uint64_t counted = at.ticks - first_.ticks;
    const duration known = at.now - first_.now;
    if (first_.ticks == 0) {
      first_ = at;
    } else if (at.ticks < anchored_at_) {
      by_ticks_ = false;  // not the even counter that the kernel promised
    } else if (known >= least_known && counted > 0) {
      scale_ = static_cast<std::uint64_t>(static_cast<double>(known.count()) / static_cast<double>(counted) *
                                          double{1U << scale_bits});
      reach_ = std::min(longest_reach, reach_of_known * counted);
    }
    anchored_at_ = at.ticks;
    return told_ = anchor_ = std::max(at.now, told_);
  }

  bool by_ticks_;
  std::uint64_t anchored_at_ = 0;  ///< The counter at the last reading of the real clock.
  std::uint64_t reach_ = 0;        ///< After so many ticks the clock is read again; 0: the rate is unknown.
  std::uint64_t scale_ = 0;        ///< Nanoseconds of a tick, times 2^scale_bits.
  instant anchor_{}, told_{};
  moment first_;
};

}  // namespace weft::invocation
