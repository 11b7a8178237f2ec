// SPDX-License-Identifier: Apache-2.0
//
// Ends of operations that were not reported yet. A post whose end will be reported takes a place first, so that an
// acknowledgement that ends many operations at once always finds room.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"

#include <bit>
#include <cstdint>
#include <memory>

namespace weft::backends::streams {

struct pending_completion {
  void* context = nullptr;
  errc how = errc::ok;
};

class pending_completions {
 public:
  explicit pending_completions(std::uint32_t most)
      : mask_(std::bit_ceil(most) - 1), places_(std::make_unique<pending_completion[]>(std::size_t{mask_} + 1)) {}

  /// Takes a place for an end that will come. False: all places are taken.
  [[gnu::always_inline]] bool reserve() noexcept {
    if (taken_ > mask_) [[unlikely]]
      return false;
    ++taken_;
    return true;
  }
  /// Gives places back whose ends will never come. Requires: they are reserved, and nothing was pushed for them.
  void release(std::uint32_t places) noexcept { taken_ -= places; }
  bool empty() const noexcept { return next_ == last_; }
  /// Requires: a reserved place.
  [[gnu::always_inline]] void push(void* context, errc how) noexcept { places_[last_++ & mask_] = {context, how}; }
  /// Requires: !empty().
  [[gnu::always_inline]] pending_completion pop() noexcept {
    --taken_;
    return places_[next_++ & mask_];
  }

 private:
  std::uint32_t mask_;
  std::unique_ptr<pending_completion[]> places_;
  std::uint32_t next_ = 0, last_ = 0;
  std::uint32_t taken_ = 0;  ///< Places with an end, or reserved for one.
};

}  // namespace weft::backends::streams
