// SPDX-License-Identifier: Apache-2.0
//
// Memory for whole tagged messages, on rows whose messages gather one piece only: the tag and the payload must be one.
// The library reads the memory until the send ends. Hot path: on those rows, a copy. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "../engine/operations.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft::detail {

/// Buffers of one size, which is known when the transport opens.
class staging_buffers {
 public:
  /// Adds buffers of `each` bytes: at open, and when the library keeps some of an abandoned operation (cold).
  template <class Register>
  void fill(std::uint32_t count, std::size_t each, Register&& register_memory) {
    each_ = each;
    auto block = std::make_unique_for_overwrite<std::byte[]>(count * each);
    void* const descriptor = register_memory(bytes(block.get(), count * each));
    free_.reserve(places_.size() + count);
    for (std::uint32_t i = 0; i < count; ++i) {
      free_.push_back(static_cast<std::uint32_t>(places_.size()));
      places_.push_back({block.get() + i * each, each, descriptor});
    }
    blocks_.push_back(std::move(block));
  }
  /// no_index when all are in use.
  std::uint32_t take() noexcept {
    if (free_.empty()) return no_index;
    const std::uint32_t last = free_.back();
    free_.pop_back();
    return last;
  }
  /// Requires: taken from here.
  void give(std::uint32_t i) noexcept { free_.push_back(i); }  // capacity reserved by fill()
  const local_memory& memory(std::uint32_t i) const noexcept { return places_[i]; }
  bool empty() const noexcept { return free_.empty(); }
  std::size_t each() const noexcept { return each_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::vector<local_memory> places_;
  std::vector<std::uint32_t> free_;
  std::size_t each_ = 0;
};

}  // namespace weft::detail
