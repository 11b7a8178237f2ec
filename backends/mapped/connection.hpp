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
#include <vector>

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

/// Receives in the order in which they were posted.
class posted_receives {
 public:
  struct receive {
    local_memory into;
    void* context = nullptr;
  };
  explicit posted_receives(std::uint32_t most) : places_(most) {}
  bool empty() const noexcept { return first_ == end_; }
  bool full() const noexcept { return end_ - first_ == places_.size(); }
  void post(const receive& r) noexcept { places_[end_++ % places_.size()] = r; }
  receive take() noexcept { return places_[first_++ % places_.size()]; }

 private:
  std::vector<receive> places_;
  std::uint64_t first_ = 0, end_ = 0;
};

struct connection {
  explicit connection(std::uint32_t most_receives) : receives(most_receives) {}

  outgoing_ring out;
  incoming_ring in;
  neighbour there;
  posted_receives receives;
  bool wakes = false;  ///< The peer may sleep: look after each message whether it does.
  link_phase phase = link_phase::greeting;
  bool stood = false;  ///< The transport knows it as established.
  std::uint32_t tag = no_tag;
  pid_t process = 0;
  file socket;
  file own_ring;  ///< Until the peer has it.
  mapping incoming_memory, outgoing_memory;
  address_bytes dialled;
  instant since{};

  /// A message or a notice can be told now.
  bool has_news() const noexcept {
    const ring_entry* next = incoming_memory.start() == nullptr ? nullptr : in.front();
    return next != nullptr && ((next->size & ring_entry::notice) != 0 || !receives.empty());
  }
  /// What was sent is told to a peer that may sleep: the fence keeps the look behind the message, as the sleeper's keeps its look behind its word.
  [[gnu::always_inline]] void sent() const noexcept {
    if (!wakes) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (there.asleep() && there.claim_waking()) mapped::wake(socket);
  }
};

}  // namespace weft::backends::mapped
