// SPDX-License-Identifier: Apache-2.0
//
// What a look must see to besides the queue, in one word, so that a look that has nothing else to do asks once: how
// many looks may still be quick. It is 0 when timers is due or something was put off, and below 0 while a handler runs,
// inside of which looks find nothing. Forced by polling: an owner looks millions of times a second and nearly always
// finds nothing. Hot path: quick_poll(), begin_handling(), end_handling(). Threads: the owner's.
#pragma once

#include <cstdint>

namespace weft::detail {

class poll_budget {
 public:
  /// A look begins. False: there is more to see to than the queue, and then not_quick() comes next.
  [[nodiscard]] bool quick_poll() noexcept { return static_cast<std::int32_t>(--word_) >= 0; }
  void not_quick() noexcept { ++word_; }

  /// A handler is running: blocking calls are refused, and looks find nothing.
  bool handling() const noexcept { return static_cast<std::int32_t>(word_) < 0; }
  void begin_handling() noexcept { word_ |= handling_bits; }
  /// False: the next look is not quick, perhaps because a handler put something off.
  bool end_handling() noexcept { return (word_ &= ~handling_bits) != 0; }

  /// No look is quick until all that was put off is done.
  void put_off() noexcept {
    if (put_off_) return;
    put_off_ = true;
    to_timers_ = word_ & ~handling_bits;
    word_ &= handling_bits;
  }
  bool is_put_off() const noexcept { return put_off_; }
  /// Nothing is put off any more.
  void settle() noexcept {
    if (!put_off_) return;
    put_off_ = false;
    word_ |= to_timers_;
  }

  /// A look that is not quick asks whether timers is due, and counts.
  bool are_timers_due() noexcept {
    if (!put_off_) return (word_ & ~handling_bits) == 0;
    if (to_timers_ == 0) return true;
    --to_timers_;
    return false;
  }
  /// Upkeep is due after so many looks. At most 2^29.
  void timers_after(std::uint32_t looks) noexcept {
    if (put_off_) to_timers_ = looks;
    else word_ = (word_ & handling_bits) | looks;
  }

 private:
  static constexpr std::uint32_t handling_bits = 0xc0000000U;  ///< Two: one less is still below 0.
  std::uint32_t word_ = 0;                                     ///< Looks that may still be quick.
  std::uint32_t to_timers_ = 0;                                ///< While something is put off: what it was.
  bool put_off_ = false;
};

}  // namespace weft::detail
