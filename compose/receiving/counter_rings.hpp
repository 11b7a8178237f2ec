// SPDX-License-Identifier: Apache-2.0
//
// The target's side of notices by remote counter (policies/notify.hpp, remote_counter). Each peer writes entries into a
// separate ring, and the port counts the writes that arrived. A transport with another answer has no_counter_rings,
// whose members do nothing. Hot path: poll(), with that answer. Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/engine.hpp"
#include "../events.hpp"

#include <atomic>
#include <type_traits>

namespace weft::detail {

template <class Engine, class Handler>
class counter_rings {
 public:
  using record = typename Engine::record;

  counter_rings(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// Reports every new entry, if the counter of arrived writes changed. Polls the rings also when a credit found no
  /// room, or when entries arrived before their writer's acceptance.
  void poll() {
    e_.poll_budget.begin_handling();
    read_rings();
    (void)e_.poll_budget.end_handling();
  }

  /// The peer reports how many of this side's entries it has read.
  void take_credit(record& r, const_bytes body) noexcept {
    const auto read = wire::parse_number(body);
    if (read && *read - r.ring_credited <= r.ring_posted - r.ring_credited) r.ring_credited = *read;
    else ++e_.garbled;
  }

 private:
  void read_rings() {
    const std::uint64_t written = e_.port->counted_writes();
    if (written == e_.ring_seen && !e_.rings_are_due) return;
    e_.ring_seen = written;
    e_.rings_are_due = false;
    for (record& r : e_.peers)
      if (is_read(r)) read_ring(r);
  }
  static bool is_read(const record& r) noexcept {
    return r.state == peer_state::established || r.state == peer_state::leaving;
  }

  /// At most one round of the ring: a peer that writes all the time holds no poll. A handler may close the peer.
  void read_ring(record& r) {
    const std::uint32_t number = r.number;
    auto* ring =
        reinterpret_cast<wire::ring_entry*>(e_.ring_memory.get()) + e_.peers.index_of(r) * Engine::ring_entries;
    for (std::uint32_t left = Engine::ring_entries; left != 0 && is_read(r) && r.number == number; --left) {
      wire::ring_entry& entry = ring[r.ring_read % Engine::ring_entries];
      const std::uint32_t sequence = std::atomic_ref<std::uint32_t>(entry.sequence).load(std::memory_order_acquire);
      if (sequence != r.ring_read + 1) break;
      const std::uint32_t immediate = entry.immediate;
      ++r.ring_read;
      on_(notified{e_.handle(r), immediate});
    }
    if (r.state != peer_state::established || r.number != number ||
        r.ring_read - r.ring_reported < Engine::ring_entries / 4)
      return;
    std::byte body[4];
    wire::encode(r.ring_read, body);
    const status sent = e_.tell(r, wire::message_kind::ring_credit, body);
    if (sent) r.ring_reported = r.ring_read;
    e_.rings_are_due |= sent.is_again();
  }

  Engine& e_;
  Handler on_;
};

/// The part of a transport whose notices do not use a remote counter.
template <class Engine, class Handler>
struct no_counter_rings {
  no_counter_rings(Engine&, Handler) noexcept {}
  static void poll() noexcept {}
  static void take_credit(typename Engine::record&, const_bytes) noexcept {}
};

template <class Engine, class Handler>
using counter_rings_of =
    std::conditional_t<Engine::uses_ring, counter_rings<Engine, Handler>, no_counter_rings<Engine, Handler>>;

}  // namespace weft::detail
