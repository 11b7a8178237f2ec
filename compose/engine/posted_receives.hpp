// SPDX-License-Identifier: Apache-2.0
//
// In which order a link's receives were posted: a library fills them so, and where it makes no entries
// (policies/framing.hpp, watched_words) that is all that says where the next message lies. Receives are not posted
// again in the order of their memory: a message that waits keeps its buffer. Hot path: plain arithmetic. Threads: the
// owner's.
#pragma once

#include "../../wire/watched_message.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::detail {

/// The part of a peer's record that watched receives need.
struct posted_receives {
  const std::byte* next_filled = nothing;   ///< The buffer that is filled next; never null.
  std::vector<std::uint32_t> posted_order;  ///< Of receives, by index in their block; a ring.
  std::uint32_t posted_first = 0;
  std::uint32_t posted_count = 0;

  /// Of a link without posted receives.
  static constexpr std::byte nothing[wire::header_bytes]{};

  void none_posted(std::size_t most) {
    posted_order.assign(most, 0);
    posted_first = posted_count = 0;
    next_filled = nothing;
  }
  std::uint32_t posted_at(std::uint32_t n) const noexcept {
    const std::size_t at = std::size_t{posted_first} + n;
    return posted_order[at < posted_order.size() ? at : at - posted_order.size()];
  }
  void note_posted(std::uint32_t index, const std::byte* buffer) noexcept {
    const std::size_t at = std::size_t{posted_first} + posted_count;
    posted_order[at < posted_order.size() ? at : at - posted_order.size()] = index;
    if (posted_count++ == 0) next_filled = buffer;
  }
  /// The first one was filled. `buffer_of(index)`.
  template <class Buffer>
  void take_first(Buffer&& buffer_of) noexcept {
    if (++posted_first == posted_order.size()) posted_first = 0;
    next_filled = --posted_count == 0 ? nothing : buffer_of(posted_order[posted_first]);
  }
  /// One failed, which need not be the first. Does nothing where it is none of them.
  template <class Buffer>
  [[gnu::cold]] void forget_posted(std::uint32_t index, Buffer&& buffer_of) noexcept {
    std::uint32_t kept = 0;
    const std::uint32_t before = posted_count;
    for (std::uint32_t n = 0; n < before; ++n) {
      const std::uint32_t each = posted_at(n);
      if (each == index) continue;
      const std::size_t at = std::size_t{posted_first} + kept++;
      posted_order[at < posted_order.size() ? at : at - posted_order.size()] = each;
    }
    posted_count = kept;
    next_filled = kept == 0 ? nothing : buffer_of(posted_order[posted_first]);
  }
};

}  // namespace weft::detail
