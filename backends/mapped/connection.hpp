// SPDX-License-Identifier: Apache-2.0
//
// One link: the rings of both directions, the peer's memory as it is mapped here, the receives that were posted, and the socket.
// Hot path: the rings, the neighbour and the receives. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "greeting.hpp"
#include "neighbour.hpp"
#include "ring.hpp"

#include <memory>
#include <string>
#include <utility>

namespace weft::backends::mapped {

enum class link_phase : std::uint8_t {
  dialling,  ///< The listener's queue is full: tried again.
  greeting,  ///< We spoke, and wait for the other side.
  arrived,   ///< Somebody connected and has said nothing yet.
  heard,     ///< It greeted us; the transport was not told.
  standing,
  ending,  ///< Over, and not yet told.
  gone,    ///< Told, or hung up.
};

/// Receives. The one that was posted last is taken first: its memory is the warmest, and no order among them is promised.
class posted_receives {
 public:
  struct receive {
    local_memory into;
    void* context = nullptr;
  };
  explicit posted_receives(std::uint32_t most) : most_(most), places_(std::make_unique<receive[]>(most)) {}
  bool empty() const noexcept { return held_ == 0; }
  bool full() const noexcept { return held_ == most_; }
  void post(const receive& r) noexcept { places_[held_++] = r; }
  const receive& take() noexcept { return places_[--held_]; }

 private:
  std::uint32_t most_, held_ = 0;
  std::unique_ptr<receive[]> places_;
};

struct connection {
  explicit connection(std::uint32_t most_receives) : receives(most_receives) {}

  outgoing_ring out;
  incoming_ring in;
  neighbour there;
  posted_receives receives;
  likely_lines arriving;   ///< Where the peer's bytes came last.
  likely_lines answering;  ///< Where bytes with a notice went last.
  bool wakes = false;      ///< The peer may sleep: look after each message whether it does.
  link_phase phase = link_phase::greeting;
  bool stood = false;  ///< The transport knows it as established.
  std::uint32_t tag = no_tag;
  pid_t process = 0;
  file socket;
  file own_ring;  ///< Until the peer has it.
  mapping incoming_memory, outgoing_memory;
  address_bytes dialled;
  instant since{};

  /// Tells of bytes that put() has just moved.
  [[gnu::always_inline]] void notify(remote_memory at, std::size_t size, std::uint64_t immediate) noexcept {
    const auto found = there.found(at);
    const std::size_t near = found.here == nullptr ? 0 : size;
    out.send_notice(immediate, {found.offset, near});
    if (near != 0) answering.are(found.here, near);
  }
  /// Fetches what a notice tells of, and what its answer will probably overwrite.
  [[gnu::always_inline]] void fetch_ahead(landed_bytes told, const std::byte* own_arena) noexcept {
    if (!told.lies_within(arena::most_bytes)) return;
    arriving.are(own_arena + told.place, told.size);
    arriving.fetch();
    answering.fetch_to_write();
  }

  /// A message or a notice can be told now.
  bool has_news() const noexcept {
    const ring_entry* next = incoming_memory.start() == nullptr ? nullptr : in.front();
    return next != nullptr && ((next->size & ring_entry::notice) != 0 || !receives.empty());
  }
  /// This side's ring, which nobody knows yet.
  result<void> make_ring(std::uint64_t payload, const std::string& who) {
    const std::uint64_t size = ring_memory::file_bytes(payload);
    auto ring = sealed_memory(size, who);
    if (!ring) return std::move(ring).error();
    auto here = mapping::of(*ring, size, who);
    if (!here) return std::move(here).error();
    own_ring = std::move(ring).value();
    incoming_memory = std::move(here).value();
    in = incoming_ring(reinterpret_cast<ring_memory*>(incoming_memory.start()), payload);
    return {};
  }
  /// Maps what the peer sent. False: it is not what a port of this build sends.
  bool meet(const packet& came, const std::string& who) noexcept {
    const std::uint64_t ring_bytes = ring_memory::file_bytes(came.said.payload);
    if (came.said.entries != ring_memory::entries || came.said.arena < sizeof(arena_head) || came.said.payload < ring_memory::least_payload ||
        came.said.payload > most_payload || !keeps(came.arena, came.said.arena) || !keeps(came.ring, ring_bytes))
      return false;
    auto memory = neighbour::of(came.arena, came.said.arena, who);
    auto ring = mapping::of(came.ring, ring_bytes, who);
    if (!memory || !ring) return false;
    there = std::move(memory).value();
    outgoing_memory = std::move(ring).value();
    out = outgoing_ring(reinterpret_cast<ring_memory*>(outgoing_memory.start()), came.said.payload);
    wakes = came.said.sleeps != 0;
    return true;
  }
  static constexpr std::uint64_t most_payload = std::uint64_t{1} << 32;

  /// What was sent is told to a peer that may sleep: the fence keeps the look behind the message, as the sleeper's keeps its look behind its word.
  [[gnu::always_inline]] void sent() const noexcept {
    if (!wakes) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (there.asleep() && there.claim_waking()) mapped::wake(socket);
  }
};

}  // namespace weft::backends::mapped
