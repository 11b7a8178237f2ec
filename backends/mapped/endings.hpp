// SPDX-License-Identifier: Apache-2.0
//
// Operations that ended and were not told of: here they end while they are posted, and are told by the next look, as on every fabric.
// Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"

#include <bit>
#include <cstdint>
#include <memory>

namespace weft::backends::mapped {

struct ending {
  void* context = nullptr;
  errc how = errc::ok;
};

class endings {
 public:
  explicit endings(std::uint32_t at_least) : most_(std::bit_ceil(at_least)), places_(std::make_unique<ending[]>(most_)) {}
  [[gnu::always_inline]] bool full() const noexcept { return end_ - first_ == most_; }
  [[gnu::always_inline]] bool empty() const noexcept { return end_ == first_; }
  /// Requires: !full().
  [[gnu::always_inline]] void push(void* context, errc how) noexcept { places_[end_++ & (most_ - 1)] = {context, how}; }
  /// Requires: !empty().
  [[gnu::always_inline]] ending pop() noexcept { return places_[first_++ & (most_ - 1)]; }

 private:
  std::uint32_t most_;
  std::uint32_t first_ = 0, end_ = 0;
  std::unique_ptr<ending[]> places_;
};

}  // namespace weft::backends::mapped
