// SPDX-License-Identifier: Apache-2.0
//
// The peers of one transport: records in a table of fixed size. A record keeps its address for the transport's life. A
// connection number holds the record's index, and a generation that exposes messages and handles of an earlier
// connection. A stranger may send anything to an address, so each connection has a random proof, and the bits of its
// number that nothing else needs are random too. Hot path: `live` is compared once per operation. Threads: the owner's.
#pragma once

#include "../../core/time.hpp"
#include "../../wire/hello.hpp"
#include "../events.hpp"
#include "operations.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace weft::detail {

/// The state of one connection. connecting/transitions.hpp is the only file that assigns it.
enum class peer_state : std::uint8_t {
  free,         ///< No connection.
  dialling,     ///< This side dialled; the link is not up yet.
  greeting,     ///< The link is up; the hello has no answer yet.
  arrived,      ///< A peer dialled this side and has not said hello.
  requested,    ///< The peer said hello; the application has not answered.
  established,  ///< Both sides agreed. The only state in which `live` is the connection's number.
  leaving,      ///< The peer said goodbye; ends of earlier operations may still arrive.
  refusing,     ///< This side refused; the record stays until the reject is out.
  closing,      ///< This side said goodbye; the record stays until the goodbye is out.
  lost,         ///< The handler hears of the failed operations, then of the loss.
};
inline constexpr std::size_t peer_states = 10;

/// Whether posts to the peer may become possible later.
constexpr bool is_meeting(peer_state s) noexcept {
  return s == peer_state::dialling || s == peer_state::greeting || s == peer_state::arrived ||
         s == peer_state::requested;
}
/// Whether the peer counts against transport_options::pending.
constexpr bool is_half_open(peer_state s) noexcept {
  return s == peer_state::arrived || s == peer_state::requested || s == peer_state::refusing;
}

/// The state of a connection's link. connecting/link_table.hpp is the only file that assigns it.
enum class link_state : std::uint8_t {
  none,
  opening,  ///< Dialled or arrived; it carries no messages yet.
  up,
  ended,  ///< The library reported the end; messages from before may still be in the queue.
};
inline constexpr std::size_t link_states = 4;

/// A receive: memory for one message, or for many with receive_buffers::multi_receive.
template <std::size_t LibraryBytes>
struct receive_slot : library_context<LibraryBytes> {
  receive_slot() noexcept : library_context<LibraryBytes>(context_kind::receive) {}
  std::byte* data = nullptr;
  void* descriptor = nullptr;
  peer_header* from = nullptr;  ///< Receives of a link: the peer's record, or Engine::no_link after the link's end.
  std::uint32_t held = 0;       ///< multi_receive: messages in this receive that no handler has taken yet.
  bool released = false;        ///< multi_receive: the library gave it back; posted again when no message is held.
};

/// A message that cannot be handled yet. Its receive is not posted again before the message is handled.
template <class Receive>
struct unexpected_message {
  Receive* in = nullptr;
  std::byte* data = nullptr;
  std::uint32_t length = 0;
  std::uint64_t tag = 0;
  std::uint64_t left = 0;  ///< Of a group: a bit for each member that is still to be handled.
};

/// A block of receives and their memory.
template <class Slot>
struct receive_block {
  std::vector<Slot> slots;
  std::unique_ptr<std::byte[]> memory;
  registration registered;
};

/// A tick modulo 65,536: enough to measure milliseconds up to a minute.
struct short_tick {
  std::uint16_t value = 0;
  short_tick& operator=(std::uint32_t tick) noexcept {
    value = static_cast<std::uint16_t>(tick);
    return *this;
  }
  /// Ticks from this one to `tick`.
  std::uint32_t until(std::uint32_t tick) const noexcept { return static_cast<std::uint16_t>(tick - value); }
};

// ---- parts of a record that some fabrics need

/// Rows on one host: the peer's process.
template <class Watch>
struct watched_process {
  Watch watch{};
  std::uint64_t process = 0;
  short_tick checked;  ///< Tick of the last check.
};
/// Connected fabrics without a pool: the link's own receives.
template <std::size_t LibraryBytes>
struct own_receives {
  receive_block<receive_slot<LibraryBytes>> receives;
};
/// The notification ring (policies/notify.hpp, remote_counter).
struct ring_state {
  wire::ring_place ring{};  ///< The peer's ring; this side writes into it.
  std::uint32_t ring_posted = 0;
  std::uint32_t ring_credited = 0;
  std::uint32_t ring_read = 0;      ///< Entries of this side's ring that were read.
  std::uint32_t ring_reported = 0;  ///< Entries that credits have reported as read.
  std::uint32_t ring_ends = 0;      ///< After a goodbye: the number of entries that the peer posted.
  void reset() noexcept { ring_posted = ring_credited = ring_read = ring_reported = ring_ends = 0; }
};
/// Rows that keep messages in no order. A goodbye may overtake messages, so it carries their number
/// (connecting/teardown.hpp).
struct message_counts {
  std::uint32_t messages_sent = 0;
  std::uint32_t messages_taken = 0;  ///< After a goodbye: minus the announced number, so that 0 means all.
  void reset() noexcept { messages_sent = messages_taken = 0; }
};

/// The fields after peer_header. That header comes first, so that a handle points at its record. Where the library does
/// not write into contexts, this part is also the context of unsignalled operations: an error entry finds the peer by
/// it.
struct record_start : library_context<0> {
  record_start() noexcept : library_context<0>(context_kind::peer) {}
  peer_state state = peer_state::free;
  link_state link_is : 2 = link_state::none;
  bool handshake_pending : 1 = false;  ///< A hello, accept or reject is still to be sent.
  bool has_private_data : 1 = false;
  bool notices_lost : 1 = false;  ///< There was no room for a notice that came before the accept.
  bool request_kept : 1 = false;  ///< No handler got the request: the next accept_one() takes it.
  bool heard = false;    ///< A message came after the timers last polled; on rows without heartbeats, a heartbeat.
  short_tick last_sent;  ///< Tick of the last handshake or heartbeat.
  std::uint16_t heartbeat_every = 0;  ///< In ticks; 0: the peer expects no heartbeats.
};

/// One peer: 64 bytes on addressed fabrics without parts, so a million idle peers take 64 MB. The order of members
/// leaves no padding.
template <class Link, class... Parts>
struct peer_record : peer_header, record_start, Parts... {
  Link link{};
  wire::connection_word theirs{};  ///< Number and proof that the peer chose; messages to the peer carry them.
  std::uint32_t their_max_message_bytes = 0;
  /// Tick of the last change of state. Of an established peer: tick at which the timers last saw that it was heard. In
  /// a free record: index of the next free one.
  std::uint32_t since = 0;

  /// Forgets the connection before. The parts reset themselves.
  void reset() noexcept {
    handshake_pending = has_private_data = notices_lost = request_kept = false;
    words.reset();
    theirs = {};
    heartbeat_every = 0;
    const auto reset_part = []<class Part>(Part& part) {
      if constexpr (requires { part.reset(); }) part.reset();
    };
    (reset_part(static_cast<Parts&>(*this)), ...);
  }
};

/// A table of records. Free records are used again with a new generation.
template <class Record>
class peer_table {
 public:
  /// Requires: `capacity` is below 2 to the power of connection_number::most_index_bits.
  explicit peer_table(std::uint32_t capacity)
      : records_(std::make_unique<Record[]>(capacity)),
        capacity_(capacity),
        index_mask_((1U << std::bit_width(capacity)) - 1) {}

  /// Null when the table is full. Requires: the caller sets the record's state next. Records never used come first,
  /// then the one that is free for longest, so that a generation returns as late as possible. `random`: bits that no
  /// peer can guess, for the proof and the number.
  Record* take(std::uint64_t random = 0) noexcept {
    if (full()) return nullptr;
    const std::uint32_t index = used_ < capacity_ ? used_++ : first_free_;
    Record& r = records_[index];
    if (r.number != 0) {
      first_free_ = r.since;
      if (first_free_ == no_index) last_free_ = no_index;
    }
    const auto bits_of_index = static_cast<std::uint32_t>(std::bit_width(index_mask_));
    const auto drawn = static_cast<std::uint32_t>(random);
    const std::uint32_t before = r.number != 0 ? r.number >> bits_of_index : drawn;
    constexpr std::uint32_t counted = (1U << wire::connection_number::counted_bits) - 1;
    const std::uint32_t generation = (before & counted) % counted + 1;
    r.renew(wire::connection_number::of(index, (drawn & ~counted) | generation, bits_of_index), random);
    return &r;
  }
  /// Whether take() would answer null.
  bool full() const noexcept { return used_ == capacity_ && first_free_ == no_index; }
  /// Takes a record back. Requires: its state is free.
  void give(Record& r) noexcept {
    const std::uint32_t index = index_of(r);
    r.since = no_index;
    if (last_free_ == no_index) first_free_ = index;
    else records_[last_free_].since = index;
    last_free_ = index;
  }
  /// The record of a connection number; null when that connection no longer exists.
  Record* find(wire::connection_number n) noexcept {
    if (index_of(n) >= used_) return nullptr;
    Record& r = records_[index_of(n)];
    return r.number == n.value && r.state != peer_state::free ? &r : nullptr;
  }
  /// The same for a message whose sender must prove that it is the peer.
  Record* find_proven(wire::connection_word w) noexcept {
    if (index_of(w.number()) >= used_) return nullptr;
    Record& r = records_[index_of(w.number())];
    if (r.live == w.value) [[likely]]
      return &r;
    return r.word() == w && r.state != peer_state::free ? &r : nullptr;
  }
  /// The record of a connection number; null when that connection is not established.
  Record* living(wire::connection_number n) noexcept { return living(n, capacity_); }
  /// The same among the first `below` records; `below` is at most capacity(). `n` may be any 32 bits: a number that no
  /// connection has finds no record.
  Record* living(wire::connection_number n, std::uint32_t below) noexcept {
    if (index_of(n) >= below) [[unlikely]]
      return nullptr;
    Record& r = records_[index_of(n)];
    return r.live_number() == n.value ? &r : nullptr;  // a forged `dead` fails the bounds check
  }
  /// The same for a message whose sender must prove that it is the peer. `w` may be any 64 bits.
  Record* living_proven(wire::connection_word w, std::uint32_t below) noexcept {
    if (index_of(w.number()) >= below) [[unlikely]]
      return nullptr;
    Record& r = records_[index_of(w.number())];
    return r.live == w.value ? &r : nullptr;
  }
  Record& at(std::uint32_t index) noexcept { return records_[index]; }
  std::uint32_t index_of(const Record& r) const noexcept { return static_cast<std::uint32_t>(&r - records_.get()); }
  std::uint32_t capacity() const noexcept { return capacity_; }
  Record* begin() noexcept { return records_.get(); }
  /// After the last record that was ever used.
  Record* end() noexcept { return records_.get() + used_; }

 private:
  std::uint32_t index_of(wire::connection_number n) const noexcept { return n.value & index_mask_; }

  std::unique_ptr<Record[]> records_;
  std::uint32_t capacity_;
  std::uint32_t index_mask_;  ///< At least capacity_: the index of `dead` is outside of the table.
  std::uint32_t used_ = 0;
  std::uint32_t first_free_ = no_index;
  std::uint32_t last_free_ = no_index;
};

}  // namespace weft::detail
