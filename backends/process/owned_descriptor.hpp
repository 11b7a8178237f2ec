// SPDX-License-Identifier: Apache-2.0
//
// What backends without a library of a fabric take from the system: descriptors that close themselves, and the sentence
// of a refused system call.
// Hot path: no. Threads: values.
#pragma once

#include "../../core/error.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <string>
#include <utility>

namespace weft::backends::process {

/// Owns a file descriptor and closes it.
class owned_descriptor {
 public:
  owned_descriptor() = default;
  explicit owned_descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  owned_descriptor(owned_descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  ~owned_descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// The failure of a system call. `who` asked, for what.
inline failure refused_by_system(int number, const char* call, const std::string& who) {
  return {{number == ENOMEM ? errc::no_memory : errc::native, origin::system, number, call},
          who + ": " + call + " failed (" + std::strerror(number) + ")"};
}

}  // namespace weft::backends::process
