// SPDX-License-Identifier: Apache-2.0
//
// Memory for control messages that are too long to inject. The library reads the memory until the send completes, so
// memory on the stack is not possible. Fabrics with local descriptors need it registered. Hot path: only on fabrics
// whose notices or atomics are messages. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "operations.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft::detail {

/// Buffers of one size.
template <std::size_t Each>
class buffer_pool {
 public:
  static constexpr std::size_t each = Each;

  /// Adds buffers: at open, and when the library keeps some of an abandoned operation (cold).
  template <class Register>
  void fill(std::uint32_t count, Register&& register_memory) {
    auto block = std::make_unique<std::byte[]>(count * each);
    void* descriptor = register_memory(bytes(block.get(), count * each));
    const auto first = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t i = 0; i < count; ++i) places_.push_back({block.get() + i * each, descriptor});
    free_.resize(places_.size());
    for (std::uint32_t i = count; i-- > 0;) give(first + i);
    blocks_.push_back(std::move(block));
  }
  /// no_index when all are in use.
  std::uint32_t take() noexcept { return left_ == 0 ? no_index : free_[--left_]; }
  /// Requires: taken from this pool.
  void give(std::uint32_t i) noexcept { free_[left_++] = i; }  // push_back would have a path to the allocator
  local_memory memory(std::uint32_t i) const noexcept { return {places_[i].start, each, places_[i].descriptor}; }
  bool empty() const noexcept { return left_ == 0; }

 private:
  struct place {
    std::byte* start;
    void* descriptor;
  };
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::vector<place> places_;
  std::vector<std::uint32_t> free_;  ///< One place for each buffer; the first `left_` are free.
  std::uint32_t left_ = 0;
};

}  // namespace weft::detail
