// SPDX-License-Identifier: Apache-2.0
//
// Which receives a link has posted: whose they are, and what their owner gave with them. A failed receive must name its link, and the number of its
// queue pair does not: cards give it to the next one while entries of the last are still in the completion queue.
// Hot path: all but open(). Threads: one owner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace weft::backends::verbs {

/// One posted receive; its address is the work request's id.
template <class Owner>
struct receive_place {
  void* context = nullptr;
  Owner* owner = nullptr;
};

/// Receives complete in the order of posting, so that places are used in a ring.
template <class Owner>
class receive_queue {
 public:
  using place = receive_place<Owner>;

  void open(Owner* owner, std::uint32_t most) {
    places_.assign(std::bit_ceil(std::max(1U, most)), place{nullptr, owner});
    mask_ = static_cast<std::uint32_t>(places_.size() - 1);
    most_ = most;
  }
  bool full() const noexcept { return posted_ - ended_ >= most_; }
  place& take(void* context) noexcept {
    place& taken = places_[posted_++ & mask_];
    taken.context = context;
    return taken;
  }
  void take_back() noexcept { --posted_; }
  void end_one() noexcept { ++ended_; }

 private:
  std::vector<place> places_;
  std::uint32_t mask_ = 0;
  std::uint32_t most_ = 0;
  std::uint32_t posted_ = 0;
  std::uint32_t ended_ = 0;
};

}  // namespace weft::backends::verbs
