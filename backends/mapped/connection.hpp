// SPDX-License-Identifier: Apache-2.0
//
// One link: the rings of both directions, the peer's mapped memory, the posted receives, and the socket.
// Hot path: the rings, the peer's memory and the receives. Threads: the owner's.
#pragma once

#include "../../core/port.hpp"
#include "handshake.hpp"
#include "peer_memory.hpp"
#include "prefetch.hpp"
#include "ring.hpp"

#include <memory>
#include <string>
#include <utility>

namespace weft::backends::mapped {

enum class link_phase : std::uint8_t {
  dialling,        ///< The listener's queue is full: connect again.
  hello_sent,      ///< Our hello is sent; the peer's has not arrived.
  arrived,         ///< A peer connected; its hello has not arrived.
  hello_received,  ///< The peer's hello arrived; not reported to the transport.
  established,
  ending,  ///< Ended, and not reported yet.
  gone,    ///< Reported as ended, or hung up.
};

class posts;

/// Posted receives. The last posted one is taken first: its memory is warmest, and no order among receives is promised.
class posted_receives {
 public:
  struct receive {
    std::byte* data = nullptr;
    std::size_t size = 0;
    void* context = nullptr;
  };
  explicit posted_receives(std::uint32_t most)
      : places_(std::make_unique<receive[]>(std::size_t{most} + 1)), end_(places_.get()), stop_(places_.get() + most) {}
  /// Whether a message of this size fits into an entry, and every posted receive has room for a whole entry. A short
  /// message is copied as a whole entry, without a branch on its length.
  [[gnu::always_inline]] bool take_whole_entry(std::uint32_t size) const noexcept { return size < whole_below_; }
  bool empty() const noexcept { return end_ == places_.get(); }
  bool full() const noexcept { return end_ == stop_; }
  /// Requires: !full().
  [[gnu::always_inline]] void post(const receive& r) noexcept {
    if (r.size < ring_entry::room) [[unlikely]]
      whole_below_ = 0;
    *end_++ = r;
  }
  /// Posts the last taken receive again. False: `context` is another receive's.
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
  receive *end_, *stop_;  ///< The end of the posted receives, and the last place, which stays free.
  std::uint32_t whole_below_ = ring_entry::room + 1;  ///< 0: a receive has less room than an entry.
};

struct connection {
  explicit connection(std::uint32_t most_receives) : receives(most_receives) {}

  outgoing_ring out;
  incoming_ring in;
  peer_memory there;
  posted_receives receives;
  likely_lines arriving;  ///< Where the peer's bytes arrived last.
  bool wakes = false;     ///< The peer may sleep: check that after each message.
  link_phase phase = link_phase::hello_sent;
  bool was_established = false;  ///< Reported to the transport as established.
  std::uint32_t tag = no_tag;
  void* owner = nullptr;                  ///< The transport's object for the link.
  posts* through = nullptr;               ///< The object that posts to this link.
  const std::byte* own_memory = nullptr;  ///< Start of this side's arena.
  pid_t process = 0;
  file socket;
  file own_ring;  ///< Until the peer has it.
  mapping incoming_memory, outgoing_memory;
  address_bytes dialled;
  instant since{};

  /// Sends a notice about bytes that were just stored.
  [[gnu::always_inline]] void notify(const std::byte* stored, std::size_t size, std::uint64_t immediate) noexcept {
    const std::uint64_t first = there.offset_of(stored);
    out.send_notice(immediate, {first, first + size - 1});
  }
  /// Prefetches the bytes of a notice.
  [[gnu::always_inline]] void fetch_ahead(written_bytes written) noexcept {
    const auto start = reinterpret_cast<std::uintptr_t>(own_memory);
    arriving.are(start + written.first, start + written.last);
    arriving.fetch();
  }

  /// A message in the peer's arena. Nothing where the peer named an invalid place.
  std::optional<const_bytes> lent_message(const ring_entry& e, std::uint32_t size) noexcept {
    const std::byte* const start = there.lent(incoming_ring::lent_at(e).offset, size);
    return start == nullptr ? std::nullopt : std::optional(const_bytes(start, size));
  }

  [[gnu::always_inline]] void pop() noexcept {
    if (in.popped()) [[unlikely]]
      return_room();
  }
  [[gnu::noinline]] void return_room() noexcept { in.return_room(); }

  /// Whether a message or a notice can be reported now.
  bool has_entry() const noexcept {
    if (incoming_memory.start() == nullptr || !in.has_front()) return false;
    return (in.front().size.load(std::memory_order_relaxed) & ring_entry::notice) != 0 || !receives.empty();
  }
  /// Makes this side's ring. No peer knows it yet.
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
  /// Maps the files of the peer's hello. False: no port of this build sends such a hello.
  bool map_peer(const packet& came, const std::string& who) noexcept {
    const std::uint64_t ring_bytes = ring_memory::file_bytes(came.hello.payload);
    if (came.hello.entries != ring_memory::entries || came.hello.arena < sizeof(arena_head) ||
        came.hello.arena > arena::most_bytes || came.hello.payload < ring_memory::least_payload ||
        came.hello.payload > most_payload || !keeps(came.arena, came.hello.arena) || !keeps(came.ring, ring_bytes))
      return false;
    auto memory = peer_memory::of(came.arena, came.hello.arena, who);
    auto ring = mapping::of(came.ring, ring_bytes, who);
    if (!memory || !ring) return false;
    there = std::move(memory).value();
    outgoing_memory = std::move(ring).value();
    out = outgoing_ring(reinterpret_cast<ring_memory*>(outgoing_memory.start()), came.hello.payload);
    wakes = came.hello.sleeps != 0;
    return true;
  }
  static constexpr std::uint64_t most_payload = std::uint64_t{1} << 32;

  /// Wakes a peer that may sleep, after a message. The fence orders the check after the message, as the sleeper's fence
  /// orders its check after its flag.
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
