// SPDX-License-Identifier: Apache-2.0
//
// One link: the rings of both directions, the peer's memory as it is mapped here, the receives that were posted, and
// the socket. Hot path: the rings, the neighbour and the receives. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "fetching_ahead.hpp"
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

class posts;

/// Receives. The one that was posted last is taken first: its memory is the warmest, and no order among them is
/// promised.
class posted_receives {
 public:
  struct receive {
    std::byte* data = nullptr;
    std::size_t size = 0;
    void* context = nullptr;
  };
  explicit posted_receives(std::uint32_t most)
      : places_(std::make_unique<receive[]>(std::size_t{most} + 1)), end_(places_.get()), stop_(places_.get() + most) {}
  /// What a short message may have, so that it can be copied whole entries at a time: no branch asks for its length.
  [[gnu::always_inline]] std::uint32_t shortest() const noexcept { return shortest_; }
  bool empty() const noexcept { return end_ == places_.get(); }
  bool full() const noexcept { return end_ == stop_; }
  /// Requires: !full().
  [[gnu::always_inline]] void post(const receive& r) noexcept {
    if (r.size < ring_entry::room) [[unlikely]]
      shortest_ = 0;
    *end_++ = r;
  }
  /// Posts what was taken last, as it was; false: it is another one.
  [[gnu::always_inline]] bool post_again(const void* context) noexcept {
    if (end_->context != context) [[unlikely]]
      return false;
    ++end_;
    return true;
  }
  /// Requires: !empty().
  [[gnu::always_inline]] const receive& take() noexcept { return *--end_; }

 private:
  std::unique_ptr<receive[]> places_;
  receive *end_, *stop_;  ///< Behind the last that is posted; the last place, which nobody gets.
  std::uint32_t shortest_ = ring_entry::room;
};

struct connection {
  explicit connection(std::uint32_t most_receives) : receives(most_receives) {}

  outgoing_ring out;
  incoming_ring in;
  neighbour there;
  posted_receives receives;
  likely_lines arriving;  ///< Where the peer's bytes came last.
  bool wakes = false;     ///< The peer may sleep: look after each message whether it does.
  link_phase phase = link_phase::greeting;
  bool stood = false;  ///< The transport knows it as established.
  std::uint32_t tag = no_tag;
  void* whose = nullptr;                  ///< What the transport has of it.
  posts* through = nullptr;               ///< Who posts to it.
  const std::byte* own_memory = nullptr;  ///< Where this side's arena begins.
  pid_t process = 0;
  file socket;
  file own_ring;  ///< Until the peer has it.
  mapping incoming_memory, outgoing_memory;
  address_bytes dialled;
  instant since{};

  /// Tells of bytes that were just stored.
  [[gnu::always_inline]] void notify(const std::byte* stored, std::size_t size, std::uint64_t immediate) noexcept {
    const std::uint64_t first = there.offset_of(stored);
    out.send_notice(immediate, {first, first + size - 1});
  }
  /// Fetches what a notice tells of.
  [[gnu::always_inline]] void fetch_ahead(written_bytes told) noexcept {
    const auto start = reinterpret_cast<std::uintptr_t>(own_memory);
    arriving.are(start + told.first, start + told.last);
    arriving.fetch();
  }

  [[gnu::always_inline]] void pop() noexcept {
    if (in.popped()) [[unlikely]]
      tell_room();
  }
  [[gnu::noinline]] void tell_room() noexcept { in.tell_room(); }

  /// A message or a notice can be told now.
  bool has_news() const noexcept {
    if (incoming_memory.start() == nullptr || !in.has_front()) return false;
    return (in.front().size & ring_entry::notice) != 0 || !receives.empty();
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
    if (came.said.entries != ring_memory::entries || came.said.arena < sizeof(arena_head) ||
        came.said.payload < ring_memory::least_payload || came.said.payload > most_payload ||
        !keeps(came.arena, came.said.arena) || !keeps(came.ring, ring_bytes))
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

  /// What was sent is told to a peer that may sleep: the fence keeps the look behind the message, as the sleeper's
  /// keeps its look behind its word.
  [[gnu::always_inline]] void sent() const noexcept {
    if (wakes) [[unlikely]]
      wake_if_asleep();
  }
  [[gnu::noinline]] void wake_if_asleep() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (there.asleep() && there.claim_waking()) mapped::wake(socket);
  }
};

}  // namespace weft::backends::mapped
