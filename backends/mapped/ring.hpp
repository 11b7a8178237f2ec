// SPDX-License-Identifier: Apache-2.0
//
// Messages and notices from one process to another: a ring of entries of a cache line each, made by whoever receives. An entry is there when its
// first word is its turn, so that a notice or a short message moves one line and no shared counter; what was taken is written back by the quarter.
// Larger messages lie in an area behind the entries, one behind the other. Wait-free on both sides: no lock lies in shared memory, and a side that dies holds up nobody.
// Nothing that the other side wrote is used to address memory before it was checked.
// Hot path: all of it. Threads: one that sends, one that takes.
#pragma once

#include "../../core/memory.hpp"
#include "copying.hpp"
#include "fetching_ahead.hpp"
#include "sealed_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>

namespace weft::backends::mapped {

struct alignas(64) ring_entry {
  static constexpr std::size_t room = 48;            ///< Bytes of a message that need no room elsewhere.
  static constexpr std::uint32_t notice = 1U << 31;  ///< In `size`: no message, a write's immediate.
  std::atomic<std::uint32_t> turn{0};                ///< The entry's number, counted from 1.
  std::uint32_t size = 0;
  std::uint64_t immediate = 0;
  std::array<std::byte, room> inside{};
};
static_assert(sizeof(ring_entry) == 64);

/// Of a notice: where its bytes lie in the taker's arena; the place in `inside`, how many of them are worth fetching ahead beside the bit of `size`.
struct landed_bytes {
  std::uint64_t place = 0;
  std::size_t size = 0;  ///< 0: none, or none that lie there.
  /// The peer wrote it: whether there is anything, and it lies in an arena of that many bytes. No more than a guess even then.
  [[gnu::always_inline]] bool lies_within(std::uint64_t arena_bytes) const noexcept {
    return size != 0 && size <= likely_lines::most && place <= arena_bytes - size;
  }
  [[gnu::always_inline]] std::uint32_t near() const noexcept { return static_cast<std::uint32_t>(std::min(size, likely_lines::most)); }
  /// As it came: `size` was read from the entry, once.
  [[gnu::always_inline]] static landed_bytes of(const ring_entry& e, std::uint32_t size) noexcept {
    landed_bytes told{0, size & ~ring_entry::notice};
    std::memcpy(&told.place, e.inside.data(), sizeof told.place);
    return told;
  }
};

/// Of a message that lies behind the entries; in `inside`.
struct payload_place {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  ///< What the sender may use again when the message was taken, counted from the beginning of all.
};

/// How a ring's file begins; the area for larger messages follows.
struct ring_memory {
  static constexpr std::uint64_t entries = 256;
  static constexpr std::uint64_t least_payload = 65536;
  std::atomic<std::uint64_t> taken{0};  ///< Entries, by whoever takes them.
  std::atomic<std::uint64_t> freed{0};  ///< Bytes behind the entries.
  std::array<ring_entry, entries> entry;

  static constexpr std::uint64_t file_bytes(std::uint64_t payload) noexcept { return sizeof(ring_memory) + payload; }
  std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* payload() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};

/// The end that sends.
class outgoing_ring {
 public:
  outgoing_ring() = default;
  outgoing_ring(ring_memory* ring, std::uint64_t payload_bytes) noexcept : ring_(ring), payload_bytes_(payload_bytes) {}

  /// The largest message that finds room when the ring is empty: half of the area may be skipped at its end, a quarter be taken and not told.
  std::uint64_t largest() const noexcept { return payload_bytes_ / 4; }

  [[gnu::always_inline]] bool has_room(std::size_t size) noexcept {
    if (sent_ - taken_ >= ring_memory::entries) [[unlikely]] {
      taken_ = ring_->taken.load(std::memory_order_acquire);
      if (sent_ - taken_ >= ring_memory::entries) return false;
    }
    return size <= ring_entry::room || has_payload_room(size);
  }
  /// Requires: has_room(0). `landed`: what the taker may fetch ahead.
  [[gnu::always_inline]] void send_notice(std::uint64_t immediate, landed_bytes landed) noexcept {
    ring_entry& e = next();
    e.size = ring_entry::notice | landed.near();
    e.immediate = immediate;
    std::memcpy(e.inside.data(), &landed.place, sizeof landed.place);
    publish(e);
  }
  /// Requires: has_room(total size).
  [[gnu::always_inline]] void send(const_bytes message, std::uint64_t immediate) noexcept {
    ring_entry& e = next();
    e.size = static_cast<std::uint32_t>(message.size());
    e.immediate = immediate;
    if (message.size() <= ring_entry::room) [[likely]] {
      copy_short(e.inside.data(), message.data(), message.size());
    } else {
      std::memcpy(room_behind(e, message.size()), message.data(), message.size());
    }
    publish(e);
  }
  void send(gather_list pieces, std::uint64_t immediate) noexcept {
    const auto size = static_cast<std::size_t>(total_of(pieces));
    ring_entry& e = next();
    e.size = static_cast<std::uint32_t>(size);
    e.immediate = immediate;
    std::byte* into = size <= ring_entry::room ? e.inside.data() : room_behind(e, size);
    for (const local_memory& each : pieces) {
      if (each.size == 0) continue;
      std::memcpy(into, each.data, each.size);
      into += each.size;
    }
    publish(e);
  }

 private:
  [[gnu::noinline]] bool has_payload_room(std::size_t size) noexcept {
    if (end_of(size) - freed_ <= payload_bytes_) return true;
    freed_ = ring_->freed.load(std::memory_order_acquire);
    return end_of(size) - freed_ <= payload_bytes_;
  }
  /// Where a message would begin: never around the end.
  std::uint64_t start_of(std::size_t size) const noexcept {
    const std::uint64_t offset = used_ % payload_bytes_;
    return size <= payload_bytes_ - offset ? used_ : used_ + (payload_bytes_ - offset);
  }
  std::uint64_t end_of(std::size_t size) const noexcept { return start_of(size) + (size + 63) / 64 * 64; }
  std::byte* room_behind(ring_entry& e, std::size_t size) noexcept {
    const payload_place place{start_of(size) % payload_bytes_, end_of(size)};
    used_ = place.end;
    std::memcpy(e.inside.data(), &place, sizeof place);
    return ring_->payload() + place.offset;
  }
  ring_entry& next() noexcept { return ring_->entry[sent_ % ring_memory::entries]; }
  [[gnu::always_inline]] void publish(ring_entry& e) noexcept {
    ++sent_;
    e.turn.store(static_cast<std::uint32_t>(sent_), std::memory_order_release);
  }

  ring_memory* ring_ = nullptr;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t sent_ = 0, taken_ = 0;  ///< Entries; what was taken, as last read.
  std::uint64_t used_ = 0, freed_ = 0;  ///< Bytes behind them, the same.
};

/// The end that takes.
class incoming_ring {
 public:
  incoming_ring() = default;
  incoming_ring(ring_memory* ring, std::uint64_t payload_bytes) noexcept : ring_(ring), payload_bytes_(payload_bytes) {}

  /// The next entry, or null.
  [[gnu::always_inline]] const ring_entry* front() const noexcept {
    const ring_entry& e = ring_->entry[taken_ % ring_memory::entries];
    return e.turn.load(std::memory_order_acquire) == static_cast<std::uint32_t>(taken_ + 1) ? &e : nullptr;
  }
  /// The bytes of a message of that size; nothing where the sender names a place that is none.
  [[gnu::always_inline]] std::optional<const_bytes> message(const ring_entry& e, std::uint32_t size) noexcept {
    if (size <= ring_entry::room) [[likely]]
      return const_bytes(e.inside.data(), size);
    return message_behind(e, size);
  }
  /// Done with the front. Its room is the sender's again a quarter of the ring later at the latest.
  [[gnu::always_inline]] void pop() noexcept {
    ++taken_;
    if (--until_told_ == 0) [[unlikely]]
      tell_room();
  }

 private:
  [[gnu::noinline]] std::optional<const_bytes> message_behind(const ring_entry& e, std::uint32_t size) noexcept {
    payload_place place;
    std::memcpy(&place, e.inside.data(), sizeof place);
    if (place.offset > payload_bytes_ || size > payload_bytes_ - place.offset) return {};
    freed_ = place.end;
    if (freed_ - told_freed_ >= payload_bytes_ / 4) until_told_ = 1;
    return const_bytes(ring_->payload() + place.offset, size);
  }
  [[gnu::noinline]] void tell_room() noexcept {
    until_told_ = told_every;
    told_freed_ = freed_;
    ring_->freed.store(freed_, std::memory_order_release);
    ring_->taken.store(taken_, std::memory_order_release);
  }
  static constexpr std::uint32_t told_every = ring_memory::entries / 4;

  ring_memory* ring_ = nullptr;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t taken_ = 0, freed_ = 0, told_freed_ = 0;
  std::uint32_t until_told_ = told_every;
};

}  // namespace weft::backends::mapped
