// SPDX-License-Identifier: Apache-2.0
//
// The peers of one transport: records in a table of fixed size, so that a record's address is good for the transport's life and a
// connection number names it in 16 bits. A number also holds a generation: messages and handles of an earlier use are recognised.
// Hot path: `live` is compared once per operation. Threads: the owner's.
#pragma once

#include "../core/time.hpp"
#include "../wire/hello.hpp"
#include "events.hpp"
#include "operations.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

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
struct parked_message {
  Receive* in = nullptr;
  std::byte* data = nullptr;
  std::uint32_t length = 0;
  std::uint32_t tag = 0;
};

/// A block of receives and their memory.
template <class Slot>
struct receive_block {
  std::vector<Slot> slots;
  std::unique_ptr<std::byte[]> memory;
  registration enrolled;
};

template <class Link, class Watch, std::size_t LibraryBytes>
struct peer_record : peer_header {
  using slot = operation_slot<peer_record, LibraryBytes>;

  Link link{};
  std::uint32_t number = 0;  ///< Our number for this connection.
  std::uint32_t generation = 0;
  wire::connection_number theirs{};  ///< Their number for it: goes into everything that we send.
  std::uint32_t their_slot_bytes = 0;
  std::uint32_t heard = 0;        ///< Tick of the last message.
  std::uint32_t spoke = 0;        ///< Tick of our last heartbeat.
  std::uint32_t speak_every = 0;  ///< In ticks; 0: they do not listen for heartbeats.
  std::uint32_t since = 0;        ///< Tick of the last change of state.
  peer_state state = peer_state::free;
  bool link_stands = false;
  bool link_gone = true;
  bool link_ended = false;   ///< Connected fabrics: the library said so; what the link brought before may still be in the queue.
  bool owes_answer = false;  ///< hello, accept or reject still to be sent.
  errc refusal = errc::rejected;
  std::uint64_t nonce = 0;                                           ///< Of the hello that made this record.
  std::array<std::byte, wire::largest_private_data> private_data{};  ///< Ours until sent.
  std::uint8_t private_size = 0;
  bool has_private_data = false;
  std::string reason;  ///< Sentence of a refusal, theirs or ours.
  Watch watch{};
  std::uint64_t process = 0;  ///< Theirs, on rows of one host.
  receive_block<receive_slot<LibraryBytes>> receives;
  slot marker;  ///< Context of unsignalled operations, so that an error finds its peer.

  // notification ring (policies/notify.hpp, remote_counter)
  wire::ring_place ring{};  ///< Theirs, to write into.
  std::uint32_t ring_posted = 0;
  std::uint32_t ring_credited = 0;
  std::uint32_t ring_read = 0;  ///< Entries of ours read so far.
  std::uint32_t ring_told = 0;  ///< Entries whose reading they were told of.
};

/// A table of records, free ones reused with a new generation.
template <class Record>
class peer_table {
 public:
  explicit peer_table(std::uint32_t capacity) : records_(std::make_unique<Record[]>(capacity)), capacity_(capacity) {}

  /// Null when the table is full.
  Record* take() noexcept {
    for (std::uint32_t i = 0; i < capacity_; ++i) {
      Record& r = records_[i];
      if (r.state != peer_state::free) continue;
      r.generation = r.generation % ((1U << wire::connection_number::generation_bits) - 1) + 1;
      r.number = wire::connection_number::of(i, r.generation).value;
      return &r;
    }
    return nullptr;
  }
  /// The record of a connection number, if that connection still exists.
  Record* find(wire::connection_number n) noexcept {
    if (n.index() >= capacity_) return nullptr;
    Record& r = records_[n.index()];
    return r.number == n.value && r.state != peer_state::free ? &r : nullptr;
  }
  /// The record of a connection number, if that connection is established.
  Record* living(wire::connection_number n) noexcept {
    if (n.index() >= capacity_) [[unlikely]]
      return nullptr;
    Record& r = records_[n.index()];
    return r.live == n.value && n.value != 0 ? &r : nullptr;
  }
  Record& at(std::uint32_t index) noexcept { return records_[index]; }
  std::uint32_t index_of(const Record& r) const noexcept { return static_cast<std::uint32_t>(&r - records_.get()); }
  std::uint32_t capacity() const noexcept { return capacity_; }
  Record* begin() noexcept { return records_.get(); }
  Record* end() noexcept { return records_.get() + capacity_; }

 private:
  std::unique_ptr<Record[]> records_;
  std::uint32_t capacity_;
};

}  // namespace weft
