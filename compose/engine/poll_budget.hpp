// SPDX-License-Identifier: Apache-2.0
//
// Polls left before maintenance, packed into one word, so that a poll without other work makes one comparison. The word
// is 0 when the timers are due or work is deferred. The word is below 0 while a handler runs, and polls inside of a
// handler find nothing. Fabric fact: an owner polls millions of times a second and mostly finds nothing. Hot path:
// quick_poll(), begin_handling(), end_handling(). Threads: the owner's.
#pragma once

#include <cstdint>
#include <string>

namespace weft::detail {

class poll_budget {
 public:
  /// A poll begins. False: there is more work than the queue. Call not_quick() next.
  [[nodiscard]] bool quick_poll() noexcept { return static_cast<std::int32_t>(--word_) >= 0; }
  void not_quick() noexcept { ++word_; }

  /// A handler is running: blocking calls are refused, and polls find nothing.
  bool handling() const noexcept { return static_cast<std::int32_t>(word_) < 0; }
  void begin_handling() noexcept { word_ |= handling_bits; }
  /// False: the next poll is not quick, for example because a handler deferred work.
  bool end_handling() noexcept { return (word_ &= ~handling_bits) != 0; }

  /// No poll is quick until all deferred work is done.
  void put_off() noexcept {
    if (put_off_) return;
    put_off_ = true;
    to_timers_ = word_ & ~handling_bits;
    word_ &= handling_bits;
  }
  bool is_put_off() const noexcept { return put_off_; }
  /// No work is deferred any more.
  void settle() noexcept {
    if (!put_off_) return;
    put_off_ = false;
    word_ |= to_timers_;
  }

  /// A poll that is not quick asks whether the timers are due, and counts.
  bool are_timers_due() noexcept {
    if (!put_off_) return (word_ & ~handling_bits) == 0;
    if (to_timers_ == 0) return true;
    --to_timers_;
    return false;
  }
  /// The timers are due after so many polls. At most 2^29.
  void timers_after(std::uint32_t polls) noexcept {
    if (put_off_) to_timers_ = polls;
    else word_ = (word_ & handling_bits) | polls;
  }

 private:
  static constexpr std::uint32_t handling_bits = 0xc0000000U;  ///< Two bits: minus one is still below 0.
  std::uint32_t word_ = 0;                                     ///< Quick polls that are left.
  std::uint32_t to_timers_ = 0;  ///< While work is deferred: polls before the timers are due.
  bool put_off_ = false;
};

/// What the engines of a set of fabrics tell the set outside of the program's events, so that polls pass the program's
/// handler on unchanged. An engine alone has no set.
struct set_signals {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The number of the only fabric with peers: a poll of the set is its poll. Timers of an engine write `none` once a
  /// millisecond, and the set looks after its other fabrics.
  std::uint32_t sole = none;
  const std::string* last_reason = nullptr;  ///< Of the engine that lost a peer last.
};

}  // namespace weft::detail
