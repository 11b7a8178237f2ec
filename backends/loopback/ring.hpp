// SPDX-License-Identifier: Apache-2.0
//
// A queue in one block of memory that only grows: after warm-up nothing allocates.
// Hot path: yes (push and pop). Threads: one owner.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::backends::loopback {

/// First in, first out. Doubles when full; `clear` keeps the memory.
template <class T>
class ring {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  T& front() noexcept { return slots_[head_]; }
  /// The i-th from the front.
  T& operator[](std::size_t i) noexcept { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  void clear() noexcept { head_ = size_ = 0; }
  /// As clear, and gives the memory back.
  void release() noexcept {
    clear();
    std::vector<T>().swap(slots_);
  }

  void push_back(T value) {
    if (size_ == slots_.size()) grow(slots_.empty() ? 16 : slots_.size() * 2);
    slots_[(head_ + size_) & (slots_.size() - 1)] = std::move(value);
    ++size_;
  }
  void pop_front() noexcept {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }
  /// Makes room for `count` elements.
  void reserve(std::size_t count) {
    std::size_t wanted = 16;
    while (wanted < count) wanted *= 2;
    if (wanted > slots_.size()) grow(wanted);
  }

 private:
  void grow(std::size_t capacity) {
    std::vector<T> wider(capacity);
    for (std::size_t i = 0; i < size_; ++i) wider[i] = std::move((*this)[i]);
    slots_.swap(wider);
    head_ = 0;
  }

  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace weft::backends::loopback
