// SPDX-License-Identifier: Apache-2.0
//
// Messages through shared memory by hand: a ring of lines. The sequence word of a line says that the line is full.
// Header and bytes share one line and are copied in and out. The receiver returns lines by the quarter. The protocol is
// the backend's, without keys, bounds of regions, receives and links. Short messages only. Hot path: all of it.
// Threads: one that sends, one that receives.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::bench {

/// The shared memory of the two. Zeroed memory is an empty ring.
struct hand_ring {
  static constexpr std::uint32_t lines = 256;
  struct alignas(64) line {
    static constexpr std::size_t room = 48;
    std::atomic<std::uint32_t> sequence;
    std::uint32_t size;
    std::uint64_t immediate;
    std::array<std::byte, room> inside;
  };
  alignas(64) std::atomic<std::uint32_t> taken;
  std::array<line, lines> all;
};

class hand_sender {
 public:
  explicit hand_sender(hand_ring& ring) noexcept : ring_(&ring) {}
  [[gnu::always_inline]] bool has_room() noexcept {
    if (sent_ - taken_ == hand_ring::lines) [[unlikely]] {
      taken_ = ring_->taken.load(std::memory_order_acquire);
      if (sent_ - taken_ == hand_ring::lines) return false;
    }
    return true;
  }
  /// False: the ring is full. Requires: at most 48 bytes.
  [[gnu::always_inline]] bool send(const std::byte* from, std::size_t size, std::uint64_t immediate) noexcept {
    if (!has_room()) return false;
    hand_ring::line& l = next();
    l.size = static_cast<std::uint32_t>(size);
    l.immediate = immediate;
    if (size == 8) std::memcpy(l.inside.data(), from, 8);  // the measured size
    else if (size != 0) std::memcpy(l.inside.data(), from, size);
    commit(l);
    return true;
  }
  /// The next line to send. Requires: has_room(). The caller fills the line, then publishes it.
  [[gnu::always_inline]] hand_ring::line& next() noexcept { return ring_->all[sent_ % hand_ring::lines]; }
  [[gnu::always_inline]] void commit(hand_ring::line& l) noexcept {
    l.sequence.store(++sent_, std::memory_order_release);
  }

 private:
  hand_ring* ring_;
  std::uint32_t sent_ = 0, taken_ = 0;
};

class hand_taker {
 public:
  explicit hand_taker(hand_ring& ring) noexcept : ring_(&ring) {}
  /// Copies the next message to `into`, which has room for 48 bytes; false: there is none.
  [[gnu::always_inline]] bool take(std::byte* into, std::size_t& size, std::uint64_t& immediate) noexcept {
    const hand_ring::line* l = front();
    if (l == nullptr) return false;
    size = l->size;
    immediate = l->immediate;
    std::memcpy(into, l->inside.data(), hand_ring::line::room);
    pop();
    return true;
  }
  /// The next line as its sender wrote it, or null.
  [[gnu::always_inline]] const hand_ring::line* front() const noexcept {
    const hand_ring::line& l = ring_->all[taken_ % hand_ring::lines];
    return l.sequence.load(std::memory_order_acquire) == taken_ + 1 ? &l : nullptr;
  }
  /// Returns the front line.
  [[gnu::always_inline]] void pop() noexcept {
    if (++taken_ % (hand_ring::lines / 4) == 0) ring_->taken.store(taken_, std::memory_order_release);
  }

 private:
  hand_ring* ring_;
  std::uint32_t taken_ = 0;
};

}  // namespace weft::bench
