// SPDX-License-Identifier: Apache-2.0
//
// Replies to executed atomics that the queue had no room for: a ring of fixed size, filled at most once per receive
// slot, because a request is read only when its reply has a place. Hot path: no allocation. Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::detail {

class deferred_replies {
 public:
  struct entry {
    std::uint32_t number = 0;  ///< Of the connection.
    wire::atomic_reply reply;
  };
  void reserve(std::size_t count) { entries_.resize(count); }
  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ == entries_.size(); }
  /// Requires: not full.
  void push_back(std::uint32_t number, const wire::atomic_reply& reply) noexcept {
    entries_[(first_ + count_++) % entries_.size()] = {number, reply};
  }
  entry& front() noexcept { return entries_[first_]; }
  void pop_front() noexcept {
    first_ = (first_ + 1) % entries_.size();
    --count_;
  }

 private:
  std::vector<entry> entries_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace weft::detail
