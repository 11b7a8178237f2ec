// SPDX-License-Identifier: Apache-2.0
//
// Messages and notices from one process to another: a ring of entries of one cache line each. The receiver owns the
// memory.
// An entry is valid when its first word holds its number. So a notice or a short message moves one line, and there is
// no shared counter. The receiver writes its progress back once per quarter.
// Larger messages are in an area after the entries, or in the sender's arena: such a message is lent, and the receiver
// says when it has copied the bytes.
// Both sides are wait-free: shared memory holds no lock, and a dying side blocks no one. Values of the other side are
// checked before they address memory.
// Hot path: all of it. Threads: one sender, one receiver.
#pragma once

#include "../../core/memory.hpp"
#include "copying.hpp"
#include "prefetch.hpp"
#include "sealed_memory.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <optional>

namespace weft::backends::mapped {

struct alignas(64) ring_entry {
  static constexpr std::size_t room = 48;            ///< Bytes of a message that fit into the entry.
  static constexpr std::uint32_t notice = 1U << 31;  ///< In `size`: the entry is a write's immediate, no message.
  static constexpr std::uint32_t lent = 1U << 30;    ///< In `size`: the message is in the sender's arena.
  std::atomic<std::uint32_t> turn{0};                ///< The entry's number, counted from 1.
  /// Read once: its sender can change it at any time.
  std::atomic<std::uint32_t> size{0};
  std::uint64_t immediate = 0;
  std::array<std::byte, room> inside{};
};
static_assert(sizeof(ring_entry) == 64);

/// In `inside` of a notice: offsets of its first and last byte in the receiver's arena. They are a hint: the receiver
/// prefetches these lines, and never reads or writes by them.
struct written_bytes {
  std::uint64_t first = 0, last = 0;
  [[gnu::always_inline]] static written_bytes of(const ring_entry& e) noexcept {
    written_bytes read;
    std::memcpy(&read, e.inside.data(), sizeof read);
    return read;
  }
};

/// The content of `inside` for a message in the area after the entries.
struct payload_place {
  std::uint64_t offset = 0;
  /// End of the area that the sender may reuse after this message was taken, counted from the start of the connection.
  std::uint64_t end = 0;
};

/// The content of `inside` for a lent message: its offset in the sender's arena.
struct lent_place {
  std::uint64_t offset = 0;
};

/// The beginning of a ring's file. The area for larger messages follows.
struct ring_memory {
  static constexpr std::uint64_t entries = 256;
  static constexpr std::uint64_t least_payload = 65536;
  std::atomic<std::uint64_t> taken{0};   ///< Entries that the receiver took.
  std::atomic<std::uint64_t> freed{0};   ///< Bytes of the area that the receiver freed.
  std::atomic<std::uint64_t> copied{0};  ///< Lent messages that the receiver copied.
  /// Set by the sender, which hung up: the bytes of lent messages that were not copied may change.
  std::atomic<std::uint32_t> revoked{0};
  std::array<ring_entry, entries> entry;

  static constexpr std::uint64_t file_bytes(std::uint64_t payload) noexcept { return sizeof(ring_memory) + payload; }
  std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* payload() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};

/// The sending end.
class outgoing_ring {
 public:
  outgoing_ring() = default;
  outgoing_ring(ring_memory* ring, std::uint64_t payload_bytes) noexcept
      : entries_(ring->entry.data()), ring_(ring), payload_bytes_(payload_bytes) {}

  /// The largest message that an empty ring has room for. Half of the area may be skipped at its end, and a quarter may
  /// be taken but not yet reported as free.
  std::uint64_t largest() const noexcept { return payload_bytes_ / 4; }

  [[gnu::always_inline]] bool has_room_now() const noexcept { return sent_ != stop_; }
  bool has_room() noexcept { return has_room_now() || more_was_taken(); }
  bool has_room(std::size_t size) noexcept {
    return has_room() && (size <= ring_entry::room || has_payload_room(size));
  }
  /// Call it after taking an entry. Prefetches the line of the next outgoing entry, which the peer polls, so a reply
  /// need not wait for it. Once per sent entry: a side that never replies leaves the line to the peer.
  [[gnu::always_inline]] void fetch_next() noexcept { last_.fetch_following_to_write_once(); }
  /// Requires: has_room(). `written`: bytes that the receiver may prefetch.
  [[gnu::always_inline]] void send_notice(std::uint64_t immediate, written_bytes written) noexcept {
    ring_entry& e = next();
    e.size.store(ring_entry::notice, std::memory_order_relaxed);
    e.immediate = immediate;
    std::memcpy(e.inside.data(), &written, sizeof written);
    commit(e);
  }
  /// Requires: has_room(), and a size of at most ring_entry::room.
  [[gnu::always_inline]] void send_short(const_bytes message, std::uint64_t immediate) noexcept {
    ring_entry& e = next();
    e.size.store(static_cast<std::uint32_t>(message.size()), std::memory_order_relaxed);
    e.immediate = immediate;
    copy_short(e.inside.data(), message.data(), message.size());
    commit(e);
  }
  /// Requires: has_room(total size). The entry is written last: the receiver polls its line, so an earlier store would
  /// fetch the line twice.
  void send(gather_list pieces, std::uint64_t immediate) noexcept {
    const auto size = static_cast<std::size_t>(total_of(pieces));
    ring_entry& e = next();
    if (size <= ring_entry::room) {
      copy_all(e.inside.data(), pieces);
    } else {
      const payload_place place = room_in_area(size);
      copy_all(ring_->payload() + place.offset, pieces);
      std::memcpy(e.inside.data(), &place, sizeof place);
    }
    e.size.store(static_cast<std::uint32_t>(size), std::memory_order_relaxed);
    e.immediate = immediate;
    commit(e);
  }
  /// Requires: has_room(), and bytes in the sender's arena. Returns the message's number: copied() reaches it when the
  /// bytes may be reused.
  std::uint64_t lend(std::uint64_t offset, std::size_t size, std::uint64_t immediate) noexcept {
    ring_entry& e = next();
    e.size.store(static_cast<std::uint32_t>(size) | ring_entry::lent, std::memory_order_relaxed);
    e.immediate = immediate;
    const lent_place place{offset};
    std::memcpy(e.inside.data(), &place, sizeof place);
    commit(e);
    return ++lent_;
  }
  /// Lent messages that the receiver copied.
  std::uint64_t copied() const noexcept { return ring_->copied.load(std::memory_order_acquire); }
  /// Call it before the bytes of lent messages change. A receiver asks after its copy.
  void revoke() noexcept {
    ring_->revoked.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  [[gnu::noinline]] bool more_was_taken() noexcept {
    stop_ = ring_->taken.load(std::memory_order_acquire) + ring_memory::entries;
    return sent_ != stop_;
  }
  [[gnu::noinline]] bool has_payload_room(std::size_t size) noexcept {
    if (size > largest()) return false;  // else a false count of freed bytes leads a copy out of the area
    if (end_of(size) - freed_ <= payload_bytes_) return true;
    freed_ = ring_->freed.load(std::memory_order_acquire);
    return end_of(size) - freed_ <= payload_bytes_;
  }
  /// Start of a message: it never wraps around.
  std::uint64_t start_of(std::size_t size) const noexcept {
    const std::uint64_t offset = used_ % payload_bytes_;
    return size <= payload_bytes_ - offset ? used_ : used_ + (payload_bytes_ - offset);
  }
  std::uint64_t end_of(std::size_t size) const noexcept { return start_of(size) + (size + 63) / 64 * 64; }
  payload_place room_in_area(std::size_t size) noexcept {
    const payload_place place{start_of(size) % payload_bytes_, end_of(size)};
    used_ = place.end;
    return place;
  }
  static void copy_all(std::byte* into, gather_list pieces) noexcept {
    for (const local_memory& each : pieces) {
      if (each.size == 0) continue;
      copy_long(into, each.data, each.size);
      into += each.size;
    }
  }
  [[gnu::always_inline]] ring_entry& next() noexcept { return entries_[sent_ % ring_memory::entries]; }
  [[gnu::always_inline]] void commit(ring_entry& e) noexcept {
    ++sent_;
    e.turn.store(static_cast<std::uint32_t>(sent_), std::memory_order_release);
    last_.is(&e);
  }

  ring_entry* entries_ = nullptr;
  ring_memory* ring_ = nullptr;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t sent_ = 0;  ///< Entries.
  last_line last_;          ///< The last entry sent since something was taken.
  /// Limit of `sent_`: the number of taken entries, as last read, plus all places.
  std::uint64_t stop_ = ring_memory::entries;
  std::uint64_t used_ = 0, freed_ = 0;  ///< Bytes of the area in use, and bytes freed as last read.
  std::uint64_t lent_ = 0;              ///< Messages.
};

/// The receiving end.
class incoming_ring {
 public:
  incoming_ring() = default;
  incoming_ring(ring_memory* ring, std::uint64_t payload_bytes) noexcept
      : ring_(ring), next_(ring->entry.data()), payload_bytes_(payload_bytes) {}

  /// The place of the next entry; is_there() says whether it is valid.
  [[gnu::always_inline]] const ring_entry& front() const noexcept { return *next_; }
  [[gnu::always_inline]] bool is_there(const ring_entry& front) const noexcept {
    return front.turn.load(std::memory_order_acquire) == turn_;
  }
  [[gnu::always_inline]] bool has_front() const noexcept { return is_there(front()); }
  /// The bytes of a message of that size. Nothing where the sender named an invalid place.
  [[gnu::always_inline]] std::optional<const_bytes> message(const ring_entry& e, std::uint32_t size) noexcept {
    if (size <= ring_entry::room) [[likely]]
      return const_bytes(e.inside.data(), size);
    return message_in_area(e, size);
  }
  /// Where a lent message lies in the sender's arena, unchecked.
  static lent_place lent_at(const ring_entry& e) noexcept {
    lent_place place;
    std::memcpy(&place, e.inside.data(), sizeof place);
    asm volatile("" : "+r"(place.offset));  // NOLINT(hicpp-no-assembler): read once, as in message_in_area()
    return place;
  }
  /// Whether a lent message may have changed before its copy ended. Call it after the copy.
  bool is_revoked() const noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return ring_->revoked.load(std::memory_order_relaxed) != 0;
  }
  /// The ring has no front from here on. Its sender broke the rules, or a message of it is void.
  void stop() noexcept {
    next_ = &nothing;
    turn_ = 1;
  }
  /// Tells the sender that a lent message was copied.
  void was_copied() noexcept { ring_->copied.store(++copied_, std::memory_order_release); }
  /// Takes the front. True: call return_room(). The sender can reuse the room at most a quarter of the ring later.
  [[nodiscard, gnu::always_inline]] bool popped() noexcept {
    ++turn_;
    ++next_;
    return --until_returned_ == 0;
  }
  void pop() noexcept {
    if (popped()) return_room();
  }

  /// Returns room to the sender: at the end of each quarter, which includes the ring's end, or earlier when a quarter
  /// of the area is free.
  void return_room() noexcept {
    const auto at = static_cast<std::uint32_t>(next_ - ring_->entry.data());
    until_returned_ = return_every - at % return_every;
    if (at == ring_memory::entries) next_ = ring_->entry.data();
    taken_ += static_cast<std::uint32_t>(turn_ - 1 - static_cast<std::uint32_t>(taken_));
    returned_freed_ = freed_;
    ring_->freed.store(freed_, std::memory_order_release);
    ring_->taken.store(taken_, std::memory_order_release);
  }

 private:
  [[gnu::noinline]] std::optional<const_bytes> message_in_area(const ring_entry& e, std::uint32_t size) noexcept {
    payload_place place;
    std::memcpy(&place, e.inside.data(), sizeof place);
    // In registers: checked and used as read once, because the sender can change the entry at any time.
    asm volatile("" : "+r"(place.offset), "+r"(place.end));  // NOLINT(hicpp-no-assembler)
    if (place.offset > payload_bytes_ || size > payload_bytes_ - place.offset) return {};
    freed_ = place.end;
    if (freed_ - returned_freed_ >= payload_bytes_ / 4) until_returned_ = 1;
    return const_bytes(ring_->payload() + place.offset, size);
  }
  static constexpr std::uint32_t return_every = ring_memory::entries / 4;
  static inline const ring_entry nothing;

  ring_memory* ring_ = nullptr;
  const ring_entry* next_ = nullptr;
  std::uint32_t turn_ = 1;  ///< Number of the next entry, modulo 2^32.
  std::uint32_t until_returned_ = return_every;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t taken_ = 0;  ///< As last written to the sender.
  std::uint64_t freed_ = 0, returned_freed_ = 0;
  std::uint64_t copied_ = 0;  ///< Lent messages.
};

}  // namespace weft::backends::mapped
