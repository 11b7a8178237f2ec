// SPDX-License-Identifier: Apache-2.0
//
// Operations that ended before their post returned (core/port.hpp, ends_at_return). They wait in order for the next
// poll, because no handler runs inside a post. Hot path: add(), empty(), take(). Threads: the owner's.
#pragma once

namespace weft::detail {

/// The list. A slot on it is on no other list.
template <class Slot>
class ended_operations {
 public:
  ended_operations() = default;
  ended_operations(const ended_operations&) = delete;
  ended_operations& operator=(const ended_operations&) = delete;

  [[gnu::always_inline]] bool empty() const noexcept { return last_ == &start_; }
  /// Requires: taken from the pool, and not added since.
  [[gnu::always_inline]] void add(Slot& s) noexcept {
    last_->after = &s;
    last_ = &s;
  }
  /// Requires: !empty().
  [[gnu::always_inline]] Slot& take() noexcept {
    Slot& s = *start_.after;
    if (&s == last_) last_ = &start_;
    else start_.after = s.after;
    return s;
  }

 private:
  Slot start_;  ///< Only `after` is used, so that add() has no special case for the first.
  Slot* last_ = &start_;
};

/// Ports whose library reports every end.
template <class Slot>
struct none_ended {
  static constexpr bool empty() noexcept { return true; }
  static Slot& take() noexcept { __builtin_unreachable(); }
};

}  // namespace weft::detail
