// SPDX-License-Identifier: Apache-2.0
//
// Memory for weft's own messages that are too long to inject: the library reads it until the send completes, so it cannot lie on
// the stack, and rows with local descriptors want it registered.
// Hot path: only on rows whose notices or atomics are messages. Threads: the owner's.
#pragma once

#include "../core/memory.hpp"
#include "../wire/hello.hpp"
#include "operations.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class control_buffers {
 public:
  static constexpr std::size_t each = wire::largest_handshake + wire::header_bytes;

  template <class Enroll>
  void fill(std::uint32_t count, Enroll&& enroll) {
    memory_ = std::make_unique<std::byte[]>(count * each);
    descriptor_ = enroll(bytes(memory_.get(), count * each));
    free_.reserve(count);
    for (std::uint32_t i = count; i-- > 0;) free_.push_back(i);
  }
  /// no_index when all are in use.
  std::uint32_t take() noexcept {
    if (free_.empty()) return no_index;
    const std::uint32_t i = free_.back();
    free_.pop_back();
    return i;
  }
  void give(std::uint32_t i) noexcept { free_.push_back(i); }  // never past the capacity reserved in fill()
  bytes memory(std::uint32_t i) noexcept { return {memory_.get() + i * each, each}; }
  void* descriptor() const noexcept { return descriptor_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::uint32_t> free_;
  void* descriptor_ = nullptr;
};

}  // namespace weft
