// SPDX-License-Identifier: Apache-2.0
//
// The peers of one transport: records in a table of fixed size, so that a record's address is good for the transport's
// life and a connection number names it in 20 bits. A number also holds a generation: messages and handles of an
// earlier use are recognised. Hot path: `live` is compared once per operation. Threads: the owner's.
#pragma once

#include "../../core/time.hpp"
#include "../../wire/hello.hpp"
#include "../events.hpp"
#include "operations.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace weft::detail {

enum class peer_state : std::uint8_t {
  free,
  dialling,   ///< We asked; the link does not stand yet.
  greeting,   ///< The link stands, our hello is on its way or there.
  arrived,    ///< Somebody dialled us and has not said hello.
  requested,  ///< They said hello; the application has not answered.
  established,
  leaving,   ///< They said goodbye; ends of what was posted before may still be on their way.
  refusing,  ///< We said no and linger, so that the answer gets out.
};

/// A receive: where the library puts a message, or one behind the other (receive_buffers::multi_receive).
template <std::size_t LibraryBytes>
struct receive_slot : library_context<LibraryBytes> {
  receive_slot() noexcept : library_context<LibraryBytes>(context_kind::receive) {}
  std::byte* data = nullptr;
  void* descriptor = nullptr;
  std::uint32_t owner = 0;  ///< Index of the peer record; meaningful on connected fabrics only.
  std::uint32_t held = 0;   ///< multi_receive: messages in it that no handler has taken yet.
  bool released = false;    ///< multi_receive: the library let it go; posted again when none is held.
};

/// A message that cannot be handled yet: it keeps the receive that it lies in.
template <class Receive>
struct unexpected_message {
  Receive* in = nullptr;
  std::byte* data = nullptr;
  std::uint32_t length = 0;
  std::uint32_t tag = 0;
  std::uint64_t left = 0;  ///< Of a group that was looked at: its members still to be handled, a bit for each.
};

/// A block of receives and their memory.
template <class Slot>
struct receive_block {
  std::vector<Slot> slots;
  std::unique_ptr<std::byte[]> memory;
  registration registered;
};

/// A tick, modulo a minute: enough to see that some milliseconds have passed.
struct short_tick {
  std::uint16_t value = 0;
  short_tick& operator=(std::uint32_t tick) noexcept {
    value = static_cast<std::uint16_t>(tick);
    return *this;
  }
  std::uint32_t until(std::uint32_t tick) const noexcept { return static_cast<std::uint16_t>(tick - value); }
};

/// Parts of a record that some fabrics need. Rows on one host: the peer's process.
template <class Watch>
struct watched_process {
  Watch watch{};
  std::uint64_t process = 0;
};
/// Connected fabrics without a pool: the link's own receives.
template <std::size_t LibraryBytes>
struct own_receives {
  receive_block<receive_slot<LibraryBytes>> receives;
};
/// The notification ring (policies/notify.hpp, remote_counter).
struct ring_state {
  wire::ring_place ring{};  ///< Theirs, to write into.
  std::uint32_t ring_posted = 0;
  std::uint32_t ring_credited = 0;
  std::uint32_t ring_read = 0;  ///< Entries of ours read so far.
  std::uint32_t ring_told = 0;  ///< Entries whose reading they were told of.
};
/// Rows that keep messages in no order: a goodbye says how many there were, since it may overtake them
/// (connecting/teardown.hpp).
struct message_counts {
  std::uint32_t messages_sent = 0;
  std::uint32_t messages_taken = 0;  ///< Of a peer that is leaving: less those that it announced, so that 0 is all.
};

/// A group that is being filled: where its next member goes, and how many more there may be. Without a slot there is no
/// room in it.
struct open_group {
  std::byte* at = nullptr;
  std::byte* end = nullptr;
  std::uint32_t room = 0;
  std::uint32_t slot = no_index;
  std::uint32_t generation = 0;  ///< Of the slot, to see whether it is still this group's.
};
/// Transports that gather posts (coalesce::up_to): those to this peer.
struct gathered_posts {
  open_group gathered;
  instant gathered_since{};  ///< When a look first found something else to do; the zero time before.
  bool listed = false;       ///< Among the engine's.
};

/// What follows the header, which comes first so that a handle points at its record. It is itself the context of its
/// peer's unsignalled operations, where the library leaves contexts alone: an error finds the peer by it.
struct record_start : library_context<0> {
  record_start() noexcept : library_context<0>(context_kind::peer) {}
  peer_state state = peer_state::free;
  bool link_stands : 1 = false;
  bool link_gone : 1 = true;
  bool link_ended : 1 =
      false;  ///< Connected fabrics: the library said so; what the link brought before may still be in the queue.
  bool handshake_pending : 1 = false;  ///< hello, accept or reject still to be sent.
  bool has_private_data : 1 = false;
  short_tick spoke;               ///< Of our last heartbeat.
  std::uint16_t speak_every = 0;  ///< In ticks; 0: they do not listen for heartbeats.
};

/// One peer: 64 bytes on addressed fabrics without parts, so that a million idle peers are 64 MB. Order matters: no
/// byte is padding.
template <class Link, class... Parts>
struct peer_record : peer_header, record_start, Parts... {
  Link link{};
  std::uint64_t nonce = 0;           ///< Of the hello that made this record.
  wire::connection_number theirs{};  ///< Their number for it: goes into everything that we send.
  std::uint32_t their_max_message_bytes = 0;
  std::uint32_t heard = 0;  ///< Tick of the last message.
  std::uint32_t since = 0;  ///< Tick of the last change of state. Of a free record: the next free one.
};

/// A table of records, free ones reused with a new generation.
template <class Record>
class peer_table {
 public:
  explicit peer_table(std::uint32_t capacity) : records_(std::make_unique<Record[]>(capacity)), capacity_(capacity) {}

  /// Null when the table is full. Requires: the record's state is set next. Records never used go first, then the one
  /// that is free for longest: its next generation is as far from the last as can be.
  Record* take() noexcept {
    if (used_ == capacity_ && first_free_ == no_index) return nullptr;
    const std::uint32_t index = used_ < capacity_ ? used_++ : first_free_;
    Record& r = records_[index];
    if (r.number != 0) {
      first_free_ = r.since;
      if (first_free_ == no_index) last_free_ = no_index;
    }
    const std::uint32_t generation =
        (r.number >> wire::connection_number::index_bits) % ((1U << wire::connection_number::generation_bits) - 1) + 1;
    r.number = wire::connection_number::of(index, generation).value;
    return &r;
  }
  /// The record was used and is free now.
  void give(Record& r) noexcept {
    const std::uint32_t index = index_of(r);
    r.since = no_index;
    if (last_free_ == no_index) first_free_ = index;
    else records_[last_free_].since = index;
    last_free_ = index;
  }
  /// The record of a connection number, if that connection still exists.
  Record* find(wire::connection_number n) noexcept {
    if (n.index() >= used_) return nullptr;
    Record& r = records_[n.index()];
    return r.number == n.value && r.state != peer_state::free ? &r : nullptr;
  }
  /// The record of a connection number, if that connection is established.
  Record* living(wire::connection_number n) noexcept { return living(n, capacity_); }
  /// The same among the first `below` records. Requires: at most capacity(). `n` may be any 32 bits: one that no
  /// connection has names none.
  Record* living(wire::connection_number n, std::uint32_t below) noexcept {
    if (n.index() >= below) [[unlikely]]
      return nullptr;
    Record& r = records_[n.index()];
    return r.live == n.value ? &r : nullptr;  // `dead` is no number: its index would be beyond any table
  }
  Record& at(std::uint32_t index) noexcept { return records_[index]; }
  std::uint32_t index_of(const Record& r) const noexcept { return static_cast<std::uint32_t>(&r - records_.get()); }
  std::uint32_t capacity() const noexcept { return capacity_; }
  Record* begin() noexcept { return records_.get(); }
  /// Behind the last that was ever used.
  Record* end() noexcept { return records_.get() + used_; }

 private:
  std::unique_ptr<Record[]> records_;
  std::uint32_t capacity_;
  std::uint32_t used_ = 0;
  std::uint32_t first_free_ = no_index;
  std::uint32_t last_free_ = no_index;
};

}  // namespace weft::detail
