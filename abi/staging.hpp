// SPDX-License-Identifier: Apache-2.0
//
// Registered memory for weft_send_copy(): some fabrics send only from registered memory, and a caller in another
// language has a string. A buffer is free again when its send ended. Hot path: of weft_send_copy(). Threads: the
// owner's.
#pragma once

#include "../compose/region.hpp"
#include "../weft.h"

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <vector>

namespace weft::abi {

/// One buffer. Its address is the context of its send.
struct staged_send {
  local_memory memory;
  std::uint64_t context = 0;
  bool quiet = false;
  std::uint8_t size_class = 0;
};

class staging {
 public:
  /// A buffer of at least `size` bytes. `allocate` registers fresh memory: result<owned_region>(bytes). Null: *why says
  /// why. Throws std::bad_alloc.
  template <class Allocate>
  staged_send* take(std::uint64_t size, Allocate&& allocate, failure* why) {
    const int bits = std::max(static_cast<int>(std::bit_width(size - (size != 0 ? 1 : 0))), smallest_bits);
    auto& free = free_[static_cast<std::size_t>(bits)];
    if (free.empty() && !grow(static_cast<std::size_t>(bits), allocate, why)) return nullptr;
    staged_send* const one = free.back();
    free.pop_back();
    return one;
  }
  void give(staged_send& s) noexcept { free_[s.size_class].push_back(&s); }  // capacity reserved by grow()
  /// The send failed, but its bytes may still be read on behalf of this peer: the buffer is not used again meanwhile.
  void hold(staged_send& s, weft_peer with) noexcept { held_.push_back({&s, with}); }  // the same
  /// Nothing is read on behalf of this peer any more.
  void give_held(weft_peer of) noexcept {
    std::erase_if(held_, [&](const held& each) {
      if (each.with != of) return false;
      give(*each.send);
      return true;
    });
  }
  /// The buffer with this address, or null: the context is the program's.
  [[gnu::always_inline]] staged_send* find(const void* context) noexcept {
    if (blocks_.empty()) return nullptr;
    for (std::vector<staged_send>& each : blocks_)
      if (context >= each.data() && context < each.data() + each.size())
        return &each[static_cast<std::size_t>(static_cast<const staged_send*>(context) - each.data())];
    return nullptr;
  }

 private:
  struct held {
    staged_send* send;
    weft_peer with;
  };
  static constexpr int smallest_bits = 12;  // 4 KiB, the usual largest message
  static constexpr std::uint64_t bytes_at_once = std::uint64_t{256} << 10;

  template <class Allocate>
  bool grow(std::size_t bits, Allocate& allocate, failure* why) {
    const std::uint64_t each = std::uint64_t{1} << bits;
    const std::uint64_t count = std::max<std::uint64_t>(bytes_at_once / each, 1);
    auto made = allocate(each * count);
    if (!made) {
      *why = std::move(made).error();
      return false;
    }
    auto& free = free_[bits];
    in_class_[bits] += count;
    free.reserve(in_class_[bits]);
    held_.reserve(all_ += count);
    memory_.push_back(std::move(made).value());
    std::vector<staged_send>& block = blocks_.emplace_back(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      block[i] = {memory_.back().slice(i * each, each), 0, false, static_cast<std::uint8_t>(bits)};
      free.push_back(&block[i]);
    }
    return true;
  }

  std::deque<owned_region> memory_;
  std::deque<std::vector<staged_send>> blocks_;
  std::array<std::vector<staged_send*>, 64> free_;
  std::array<std::uint64_t, 64> in_class_{};
  std::vector<held> held_;
  std::uint64_t all_ = 0;
};

}  // namespace weft::abi
