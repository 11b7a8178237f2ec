// SPDX-License-Identifier: Apache-2.0
//
// Memory of Python objects, held while weft uses it: a buffer (PEP 3118) or a DLPack tensor of the processor.
// Fabrics read and write registered memory without asking Python, so the object must not move or end before
// deregistration: the buffer stays exported, or the tensor keeps its owner.
// Hot path: no. Threads: under Python's lock.
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "refusing.hpp"

namespace weft_python {

/// Memory with its owner. Move only.
class held_memory {
 public:
  /// Errors: InvalidError (no buffer, not contiguous, empty, Python objects), UnsupportedError (a device's tensor).
  explicit held_memory(pybind11::handle object);
  held_memory(held_memory&& other) noexcept
      : owner_(std::move(other.owner_)), begin_(other.begin_), size_(other.size_), readonly_(other.readonly_) {}
  held_memory(const held_memory&) = delete;
  held_memory& operator=(const held_memory&) = delete;
  held_memory& operator=(held_memory&&) = delete;
  ~held_memory() = default;

  [[nodiscard]] void* begin() const { return begin_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool readonly() const { return readonly_; }

 private:
  void hold_buffer(pybind11::handle object);
  void hold_tensor(pybind11::handle object);

  pybind11::object owner_;  // a capsule whose end releases the buffer, or calls the tensor's deleter
  void* begin_ = nullptr;
  std::uint64_t size_ = 0;
  bool readonly_ = false;
};

}  // namespace weft_python
