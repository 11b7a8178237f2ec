// SPDX-License-Identifier: Apache-2.0
//
// Events on their way to a C program. Those of a poll go straight into the program's array. Those of a waiting call,
// and those for which the array has no room, wait here. Bytes of messages are copied, because the transport's receive
// is used again. Hot path: next(), copied(). Threads: the owner's.
#pragma once

#include "../weft.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace weft::abi {

/// Memory for bytes of events. It grows by blocks, so that addresses stay.
class event_bytes {
 public:
  /// Throws std::bad_alloc.
  std::byte* take(std::size_t size) {
    while (current_ < blocks_.size() && blocks_[current_].size - used_ < size) ++current_, used_ = 0;
    if (current_ == blocks_.size()) {
      const std::size_t fresh = std::max(size, usual_block);
      blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(fresh), fresh});
      used_ = 0;
    }
    std::byte* const at = blocks_[current_].memory.get() + used_;
    used_ += size;
    return at;
  }
  void reset() noexcept { current_ = 0, used_ = 0; }

 private:
  static constexpr std::size_t usual_block = std::size_t{64} << 10;
  struct block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;
  };
  std::vector<block> blocks_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
};

class event_queue {
 public:
  /// Messages beyond this number stay in the transport, whose peers then wait.
  static constexpr std::size_t most_messages = 4096;

  /// Events go into this array until finish(). Takes those that waited first. Throws nothing.
  void begin(weft_event* events, std::uint32_t capacity) noexcept {
    first_ = next_ = events;
    end_ = events + capacity;
    if (kept_.empty()) {
      bytes_.reset();
      return;
    }
    const std::size_t taken = std::min<std::size_t>(capacity, kept_.size() - read_);
    next_ = std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(read_), taken, next_);
    read_ += taken;
    if (read_ == kept_.size()) kept_.clear(), read_ = 0;
  }
  bool has_room() const noexcept { return next_ != end_; }
  /// Whether events wait for the next poll.
  bool waits() const noexcept { return !kept_.empty(); }
  bool has_events() const noexcept { return next_ != first_; }
  /// Returns the number of events in the array.
  int finish() noexcept {
    const auto found = static_cast<int>(next_ - first_);
    first_ = next_ = end_ = nullptr;
    return found;
  }

  /// Throws std::bad_alloc, where the array has no room.
  weft_event& next() {
    weft_event& made = has_room() ? *next_++ : kept_.emplace_back();
    made = {};
    return made;
  }
  bool takes_messages() const noexcept { return has_room() || kept_.size() < most_messages; }
  /// Throws std::bad_alloc.
  const void* copied(const void* data, std::size_t size) {
    std::byte* const here = bytes_.take(std::max<std::size_t>(size, 1));
    if (size != 0) std::memcpy(here, data, size);
    return here;
  }
  const char* copied(std::string_view text) {
    std::byte* const here = bytes_.take(text.size() + 1);
    if (!text.empty()) std::memcpy(here, text.data(), text.size());
    here[text.size()] = std::byte{0};
    return reinterpret_cast<const char*>(here);
  }
  /// The first event that waits and for which `is` is true: it is taken out. Its peer, or null.
  template <class Is>
  weft_peer take_out(Is&& is) noexcept {
    const auto found = std::find_if(kept_.begin() + static_cast<std::ptrdiff_t>(read_), kept_.end(), is);
    if (found == kept_.end()) return nullptr;
    const weft_peer asked = found->peer;
    kept_.erase(found);
    return asked;
  }

 private:
  weft_event* first_ = nullptr;
  weft_event* next_ = nullptr;
  weft_event* end_ = nullptr;
  std::vector<weft_event> kept_;
  std::size_t read_ = 0;
  event_bytes bytes_;
};

}  // namespace weft::abi
