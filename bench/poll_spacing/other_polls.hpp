// SPDX-License-Identifier: Apache-2.0
//
// Other spacings of polls than weft's, kept for comparison. Hot path: poll. Threads: one owner.
#pragma once

#include "../breather.hpp"
#include "../two_processes.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::bench {

inline std::uint64_t counter() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#else
  return 0;  // then there is no wait
#endif
}

/// The processor's hint for loops that spin; its duration depends on the processor (10 to 140 cycles).
class two_pauses {
 public:
  [[gnu::always_inline]] void before_poll() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    if (fruitless_) {
      __builtin_ia32_pause();
      __builtin_ia32_pause();
    }
#endif
    fruitless_ = true;
  }
  void found() noexcept { fruitless_ = false; }

 private:
  bool fruitless_ = false;
};

/// One poll at once, then none until three quarters of a usual wait are over. For answers that always take the same
/// time; only a ping-pong has such answers.
template <class End>
class expecting : public End {
 public:
  using End::End;
  int poll() {
    if (!waits_) begun_ = counter();
    else if (!rested_)
      while (counter() - begun_ < usual_ - usual_ / 4) {
      }
    rested_ = waits_;
    waits_ = true;
    const std::uint64_t look = counter();
    const int came = End::poll();
    if (came > 0) {
      waits_ = rested_ = false;
      if (const std::uint64_t took = look - begun_; took < longest) usual_ = usual_ - usual_ / 8 + took / 8;
    }
    return came;
  }

 private:
  static constexpr std::uint64_t longest = 4000;  ///< In cycles of the counter. Longer waits come from the scheduler.
  std::uint64_t begun_ = 0, usual_ = 0;
  bool waits_ = false, rested_ = false;
};

}  // namespace weft::bench
