// SPDX-License-Identifier: Apache-2.0
//
// What this side does for its peers because their provider cannot: executes atomics, and reads the notification ring.
// A request names memory by key and address, as a write would: both are checked here as a card would check them,
// because the bytes come from a peer. Addresses are never trusted: the region decides. Hot path: on rows whose atomics
// or notices need it. Threads: the owner's; atomics by message are atomic against std::atomic_ref too.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/engine.hpp"

#include <atomic>

namespace weft::detail {

template <class Engine>
class target {
 public:
  using record = typename Engine::record;

  explicit target(Engine& e) noexcept : e_(e) {}

  /// False when the reply could not be sent for want of room: nothing was executed, try again later.
  bool execute(record& from, const_bytes body) noexcept {
    const auto request = wire::parse_atomic_request(body);
    if (!request) {
      ++e_.garbled;
      return true;
    }
    // Room for the reply first: executed once and answered, or neither.
    if (e_.deferred_replies.full()) return false;
    wire::atomic_reply reply{request->token, 0, 0};
    std::byte* word = locate(*request, reply.code);
    std::byte out[wire::atomic_reply_bytes];
    if (word == nullptr) {
      wire::encode(reply, out);
      return !e_.tell(from, wire::message_kind::atomic_reply, out).is_again();
    }
    reply.old =
        size_of(request->type) == 4 ? executed<std::uint32_t>(word, *request) : executed<std::uint64_t>(word, *request);
    wire::encode(reply, out);
    // Executed: the reply is deferred now, whatever the queue says.
    if (e_.tell(from, wire::message_kind::atomic_reply, out).is_again()) defer(from, reply);
    return true;
  }

  /// Sends replies that the queue had no room for.
  void settle() noexcept {
    while (!e_.deferred_replies.empty()) {
      const auto& [number, reply] = e_.deferred_replies.front();
      record* r = e_.peers.find({number});
      if (r != nullptr) {
        std::byte out[wire::atomic_reply_bytes];
        wire::encode(reply, out);
        if (e_.tell(*r, wire::message_kind::atomic_reply, out).is_again()) return;
      }
      e_.deferred_replies.pop_front();
    }
  }

  /// Tells every entry of the rings that is new since the last look, if the counter of landed writes moved or a look is
  /// due anyway: a credit found no room, or entries landed before their writer's acceptance did.
  template <class On>
  void read_rings(On&& on) noexcept {
    const std::uint64_t landed = e_.port->counted_writes();
    if (landed == e_.ring_seen && !e_.rings_are_due) return;
    e_.ring_seen = landed;
    e_.rings_are_due = false;
    for (record& r : e_.peers)
      if (r.state == peer_state::established) read_ring(r, on);
  }

 private:
  /// The word is of one width for all types, so that peers may see it as what they like.
  template <class Cell>
  static std::uint64_t executed(std::byte* at, const wire::atomic_request& a) noexcept {
    std::atomic_ref<Cell> cell(*reinterpret_cast<Cell*>(at));
    if (a.operation == atomic_operation::add && !is_floating(a.type))
      return cell.fetch_add(static_cast<Cell>(a.operand), std::memory_order_acq_rel);
    Cell old = cell.load(std::memory_order_acquire);
    while (!cell.compare_exchange_weak(old, static_cast<Cell>(applied(a.operation, a.type, old, a.operand, a.expected)),
                                       std::memory_order_acq_rel)) {
    }
    return old;
  }

  std::byte* locate(const wire::atomic_request& a, std::uint8_t& code) noexcept {
    for (region_entry& entry : e_.regions) {
      if (entry.registered.key != a.key) continue;
      const std::uint64_t offset = a.address - entry.base;
      const std::size_t size = size_of(a.type);
      if (offset > entry.registered.size || entry.registered.size - offset < size || offset % size != 0) {
        code = static_cast<std::uint8_t>(errc::out_of_range);
        return nullptr;
      }
      if (!grants(entry.granted, rights::remote_atomic) || entry.executor != atomicity::target)
        break;  // aligned to 8 where it grants them
      return entry.registered.base + offset;
    }
    code = static_cast<std::uint8_t>(errc::denied);
    return nullptr;
  }

  void defer(record& to, const wire::atomic_reply& reply) noexcept {
    e_.deferred_replies.push_back(to.number, reply);
    e_.put_off();
  }

  template <class On>
  void read_ring(record& r, On& on) noexcept {
    auto* ring =
        reinterpret_cast<wire::ring_entry*>(e_.ring_memory.get()) + e_.peers.index_of(r) * Engine::ring_entries;
    for (;;) {
      wire::ring_entry& entry = ring[r.ring_read % Engine::ring_entries];
      const std::uint32_t sequence = std::atomic_ref<std::uint32_t>(entry.sequence).load(std::memory_order_acquire);
      if (sequence != r.ring_read + 1) break;
      const std::uint32_t immediate = entry.immediate;
      ++r.ring_read;
      on(r, immediate);
    }
    if (r.ring_read - r.ring_reported < Engine::ring_entries / 4) return;
    std::byte body[4];
    wire::encode(r.ring_read, body);
    const status told = e_.tell(r, wire::message_kind::ring_credit, body);
    if (told) r.ring_reported = r.ring_read;
    e_.rings_are_due |= told.is_again();
  }

  Engine& e_;
};

}  // namespace weft::detail
