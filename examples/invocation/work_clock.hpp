// SPDX-License-Identifier: Apache-2.0
//
// The time of a worker's bookkeeping. Around each function there are two looks at the clock, and where memory is shared
// both are in the way of the reply: clock_gettime(2) waits until all earlier instructions ended, and the way to the
// other processor takes no longer than that. Between two looks at the real clock the processor's counter tells the
// time, by the rate found since the first one. Only where the kernel itself keeps time by that counter, which says that
// it runs evenly and alike on all processors. Hot path: read(). Threads: one owner.
#pragma once

#include <weft/core/time.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace weft::invocation {

/// The processor's counter, unordered: what surrounds the look may be carried out up to some tens of nanoseconds before
/// or behind it.
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
  /// `by_ticks`: the port's clock is the machine's, and kernel_counts_ticks(). Else every look is one at the port's
  /// clock.
  explicit work_clock(bool by_ticks) noexcept : by_ticks_(by_ticks) {}

  /// Never before what was told last, but for a counter that turns out to be uneven: then once. `net`: has now(), the
  /// same at each call.
  template <class Net>
  [[gnu::always_inline]] instant read(const Net& net) noexcept {
    if (!by_ticks_) return net.now();
    const std::uint64_t since = Ticks::read() - anchored_at_;  // of a counter that went back: beyond every reach
    if (since >= reach_) [[unlikely]]
      return anchor(net);
    return told_ = anchor_ + duration((since * scale_) >> scale_bits);
  }

 private:
  static constexpr unsigned scale_bits = 24;
  static constexpr std::uint64_t longest_reach =
      std::uint64_t{1} << 30;  ///< Ticks; times the nanoseconds of a tick it stays within 64 bits, from 2 MHz on.
  static constexpr std::uint64_t reach_of_known =
      8;  ///< A rate holds so many times as long as it was measured: an error of 50 ns becomes 400.
  static constexpr duration least_known = std::chrono::milliseconds(1);

  /// The counter and the clock at the same moment: the closest of a few tries, since whoever looks may be interrupted
  /// in between.
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
  std::uint64_t anchored_at_ = 0;  ///< The counter at the last look at the real clock.
  std::uint64_t reach_ = 0;        ///< So many ticks later it is looked at again; 0: the rate is not known.
  std::uint64_t scale_ = 0;        ///< Nanoseconds of a tick, times 2^scale_bits.
  instant anchor_{}, told_{};
  moment first_;
};

}  // namespace weft::invocation
