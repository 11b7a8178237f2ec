// SPDX-License-Identifier: Apache-2.0
//
// A pool of coroutine frames of one size. It allocates once, so starting a coroutine allocates nothing.
// The pool refuses when it is empty or the frame is too small. The coroutine then does not start, and the caller sees
// that in the task.
// Hot path: take and give are list operations. Threads: the owner's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft::coroutines {

class frame_pool {
 public:
  /// `frames`: coroutines alive at once, awaited ones included. `frame_bytes`: size of the largest frame;
  /// largest_asked() gives the size that a program needs.
  frame_pool(std::uint32_t frames, std::size_t frame_bytes)
      : room_((frame_bytes + alignment - 1) / alignment * alignment),
        memory_(std::make_unique<block[]>(frames * (room_ / alignment + 1))) {
    for (std::uint32_t i = frames; i > 0; --i) put_back(memory_.get() + (i - 1) * (room_ / alignment + 1));
  }
  frame_pool(const frame_pool&) = delete;
  frame_pool& operator=(const frame_pool&) = delete;

  /// Takes a frame. Null when no frame is left, or `size` is larger than a frame.
  void* take(std::size_t size) noexcept {
    largest_ = std::max(largest_, size);
    if (free_ == nullptr || size > room_) return nullptr;
    block* taken = free_;
    free_ = taken->front.next;
    --left_;
    taken->front.owner = this;
    return taken + 1;
  }
  /// Returns a frame to its own pool.
  static void give(void* frame) noexcept {
    block* given = static_cast<block*>(frame) - 1;
    given->front.owner->put_back(given);
  }

  std::uint32_t left() const noexcept { return left_; }
  /// The largest frame requested so far, in bytes, refused requests included.
  std::size_t largest_asked() const noexcept { return largest_; }

 private:
  static constexpr std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  union alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) block {
    union {
      block* next;
      frame_pool* owner;
    } front;
    std::byte bytes[__STDCPP_DEFAULT_NEW_ALIGNMENT__];
  };
  void put_back(block* b) noexcept {
    b->front.next = free_;
    free_ = b;
    ++left_;
  }

  std::size_t room_;
  std::unique_ptr<block[]> memory_;
  block* free_ = nullptr;
  std::uint32_t left_ = 0;
  std::size_t largest_ = 0;
};

}  // namespace weft::coroutines
