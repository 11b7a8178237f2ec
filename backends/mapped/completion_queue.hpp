// SPDX-License-Identifier: Apache-2.0
//
// Completions that were not reported yet. Operations end while they are posted, and the next poll reports that, as on
// every fabric.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace weft::backends::mapped {

struct pending_completion {
  void* context = nullptr;
  errc how = errc::ok;
};

/// An array that is filled from its start. Nearly always all are reported before the next is added, so it does not wrap
/// around.
class completion_queue {
 public:
  explicit completion_queue(std::uint32_t most)
      : places_(std::make_unique<pending_completion[]>(most)),
        first_(places_.get()),
        next_(places_.get()),
        quiet_(places_.get()),
        stop_(places_.get() + most) {}
  [[gnu::always_inline]] bool full() noexcept {
    if (next_ != stop_) [[likely]]
      return false;
    return !moved_to_the_start();
  }
  bool empty() const noexcept { return first_ == next_; }
  /// Whether nothing is to be reported, and nothing awaited. One comparison, for every poll.
  [[gnu::always_inline]] bool quiet() const noexcept { return first_ == quiet_; }
  /// Whether polls look for ends that are not in the queue yet.
  bool awaits() const noexcept { return awaits_; }
  void await(bool more) noexcept {
    awaits_ = more;
    settle();
  }
  /// Requires: !full().
  [[gnu::always_inline]] void push(void* context, errc how) noexcept {
    *next_++ = {context, how};
    settle();
  }
  /// Requires: !empty().
  [[gnu::always_inline]] pending_completion pop() noexcept {
    const pending_completion e = *first_++;
    if (first_ == next_) first_ = next_ = places_.get();
    settle();
    return e;
  }

 private:
  [[gnu::cold, gnu::noinline]] bool moved_to_the_start() noexcept {
    if (first_ == places_.get()) return false;
    next_ = std::copy(first_, next_, places_.get());
    first_ = places_.get();
    settle();
    return true;
  }
  void settle() noexcept { quiet_ = awaits_ ? nullptr : next_; }

  std::unique_ptr<pending_completion[]> places_;
  pending_completion *first_, *next_;  ///< The completions to report.
  pending_completion* quiet_;          ///< What first_ is while a poll need not look; null: it always looks.
  pending_completion* stop_;           ///< The end of the array.
  bool awaits_ = false;
};

}  // namespace weft::backends::mapped
