// SPDX-License-Identifier: Apache-2.0
//
// Replies to executed atomics that found no room in the queue. A ring of fixed size: a request is read only when its
// reply has a place, so each receive slot fills at most one. Hot path: no allocation. Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::detail {

class deferred_replies {
 public:
  struct entry {
    std::uint32_t number = 0;  ///< Connection number of the peer.
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
