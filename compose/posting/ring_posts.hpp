// SPDX-License-Identifier: Apache-2.0
//
// The initiator's side of watched rings: put_notify as one write of a ring entry, payload included (wire/cell.hpp). A
// payload larger than an entry carries its notice as an immediate where the row has those. Else the payload goes first
// in a separate write, since the row keeps writes in order. Posts request no completion: the peer's credit says which
// entries are free, and ends signalled operations. So neither library queues a completion. Hot path: yes, with
// notify::watched_word. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "../engine/watched_ring.hpp"

#include <atomic>

namespace weft::detail {

template <class Engine>
class initiator;

template <class Engine>
class ring_posts {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  static constexpr const fabric_facts& facts = Engine::fabric::facts;
  static constexpr bool gathers = facts.rma_gather_limit >= 2;
  static constexpr std::size_t largest = gathers ? wire::largest_cell_payload : cell_memory::largest_staged;
  /// Larger payloads: a write with an immediate, or a write and an entry after it.
  static constexpr bool large_ride = Engine::shape::write_immediate;
  static constexpr bool reports = facts.refused_write == refusal::reported;

  explicit ring_posts(Engine& e) noexcept : e_(e) {}

  template <class Write>
  [[gnu::always_inline]] status post(const Write& w) noexcept {
    record& r = *w.record;
    if (full(r)) [[unlikely]]
      if (!has_room_after_deferred(r)) return again(waits_for::receive_slot, "put_notify");
    if (!w.signalled && w.from.size <= cell_memory::largest_staged) [[likely]]
      if (!Engine::tracks_writes || w.from.size + wire::cell_tail_bytes <= injected)
        return put_staged(r, w.from, w.to, w.immediate, 0, &r);
    return post_otherwise(w);
  }

  /// The library took the write of `o`. Posts the entry.
  void notice_of(slot& o, remote_memory to, std::uint64_t size) noexcept {
    o.scratch[0] = to.address;
    o.scratch[1] = to.key;
    o.scratch[2] = size;
    o.stage = stage::noticing;
    o.pending = 2;  // the write's completion, and the credit for the cell
    notice(o);
  }
  /// Requires: the bytes are posted, and `o` holds place, size and immediate. Without room the entry is deferred.
  void notice(slot& o) noexcept {
    record& r = *o.record;
    std::uint64_t size = o.scratch[2];
    const local_memory number{reinterpret_cast<std::byte*>(&size), sizeof size, nullptr};
    status sent = again(waits_for::receive_slot, "put_notify");
    if (has_room(r))
      sent = put_staged(r, number, {o.scratch[0], o.scratch[1]}, o.immediate, wire::cell_outside | wire::cell_answered,
                        nullptr);
    if (sent.is_again()) return defer(o);
    if (!sent) {
      o.fault = sent.code;
      --o.pending;
      return;
    }
    o.stage = o.pending > 1 ? stage::confirming : stage::replying;  // the library holds its write, or nothing of it
    wait_for(r, o);
  }

  /// Room for a new post: a cell is free, and no earlier notice of this peer is deferred.
  [[gnu::noinline]] bool has_room_after_deferred(record& r) noexcept {
    if (r.cells_allowed == 0) {
      const auto defers = [&r](const slot& s) {
        return s.record == &r && s.stage == stage::noticing && (s.use == slot_use::user || s.use == slot_use::silent);
      };
      if (e_.operations.count(defers) > 0) return false;
      r.cells_allowed = wire::ring_cells;
    }
    return has_room(r);
  }
  [[gnu::noinline]] static bool has_room(record& r) noexcept {
    if (!ring_is_full(r)) return true;
    if (r.cells_waiting == 0)
      credit(
          r, their_credit(r), [](slot&) {}, [](std::uint32_t) { return static_cast<slot*>(nullptr); });
    return !ring_is_full(r);
  }

  /// The number of cells that the peer has read, as the peer wrote it here.
  static std::uint64_t their_credit(const record& r) noexcept {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(r.incoming))
        .load(std::memory_order_acquire);
  }
  /// Whether the peer's credit is possible, and this side knows all refusals that the credit counts.
  static bool believes(const record& r, std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32) - r.cells_credited <= r.cells_posted - r.cells_credited &&
           static_cast<std::uint32_t>(word) == r.cells_refused;
  }
  /// Takes the peer's credit. `find(index)` returns the slot; `end(slot)` ends an operation and may run handlers.
  template <class End, class Find>
  static void credit(record& r, std::uint64_t word, End&& end, Find&& find) {
    const auto read = static_cast<std::uint32_t>(word >> 32);
    if (!believes(r, word)) return;
    if (r.cells_waiting == 0) {
      r.cells_credited = read;
      return;
    }
    for (const std::uint32_t number = r.number; r.live_number() == number && r.cells_credited != read;) {
      const std::uint32_t n = r.cells_credited++;
      if (slot* s = take_waiting(r, n, find); s != nullptr) end(*s);
    }
  }
  /// Returns the operation that waits for the n-th cell, and removes it from the table. Null where none waits.
  template <class Find>
  static slot* take_waiting(record& r, std::uint32_t n, Find&& find) noexcept {
    std::uint32_t& place = r.waits[n % wire::ring_cells];
    if (place == no_index) return nullptr;
    slot* s = find(std::exchange(place, no_index));
    --r.cells_waiting;
    const bool waits = s != nullptr && (s->use == slot_use::user || s->use == slot_use::silent) && s->record == &r &&
                       s->what == operation::put_notify && s->sequence == n + 1 &&
                       (s->stage == stage::replying || s->stage == stage::confirming);
    return waits ? s : nullptr;
  }

 private:
  static constexpr bool injects =
      requires(typename Engine::port_type p, typename Engine::link l, const_bytes b, remote_memory at) {
    {p.inject_write(l, b, at)};
  };
  static constexpr std::size_t injected = injects ? Engine::inject_bytes : 0;

  static bool full(const record& r) noexcept { return r.cells_posted - r.cells_credited >= r.cells_allowed; }
  static bool ring_is_full(const record& r) noexcept { return r.cells_posted - r.cells_credited >= wire::ring_cells; }
  /// Keeps the notice for later, and later notices behind it.
  void defer(slot& o) noexcept {
    o.record->cells_allowed = 0;
    e_.defer(o);
  }

  void wait_for(record& r, slot& o) noexcept {
    o.sequence = r.cells_posted;
    o.scratch[0] = 0;
    r.waits[(r.cells_posted - 1) % wire::ring_cells] = o.index;
    ++r.cells_waiting;
  }

  [[gnu::always_inline]] static void put_tail(record& r, std::byte* at, std::size_t size, remote_memory to,
                                              std::uint32_t immediate, unsigned flags) noexcept {
    const std::uint64_t words[]{
        wire::credit_word(r.cells_read, r.cells_denied), to.address, to.key,
        std::uint64_t{r.theirs.value} << 32 | immediate,
        wire::cell_end::of(static_cast<std::uint16_t>(size), static_cast<std::uint16_t>(flags), r.cells_posted + 1)
            .word};
    static_assert(sizeof words == wire::cell_tail_bytes);
    for (std::size_t i = 0; i < std::size(words);
         ++i)  // each by itself: gathered into wider stores they would wait for each other on the stack
      std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at + i * sizeof words[i]))
          .store(words[i], std::memory_order_relaxed);
  }
  [[gnu::always_inline]] static remote_memory place_for(const record& r, std::size_t total) noexcept {
    const std::size_t end = wire::cell_ring_front + (r.cells_posted % wire::ring_cells + 1) * wire::cell_bytes;
    return {r.their_cells.address + end - total, r.their_cells.key};
  }
  [[gnu::always_inline]] static status counted(record& r, status s) noexcept {
    if (!s) [[unlikely]]
      return s;
    ++r.cells_posted;
    r.cells_reported = r.cells_read;
    r.answer_is_due = false;
    return s;
  }

  /// Payload and tail copied together, then one write. The source is free at once.
  [[gnu::always_inline]] status put_staged(record& r, const local_memory& from, remote_memory to,
                                           std::uint32_t immediate, unsigned flags, record* marker) noexcept {
    std::byte* const tail = cell_memory::end_of_staged(r.outgoing, r.cells_posted) - wire::cell_tail_bytes;
    std::byte* const start = tail - from.size;
    put_tail(r, tail, from.size, to, immediate, flags);
    copy_payload(start, from.data, from.size);
    const std::size_t total = from.size + wire::cell_tail_bytes;
    if constexpr (injected >= wire::cell_tail_bytes)
      if (total <= injected) return counted(r, e_.port->inject_write(r.link, {start, total}, place_for(r, total)));
    return counted(r, e_.port->template write<post_mode::unsignalled>(r.link, {start, total, e_.cells.descriptor},
                                                                      place_for(r, total),
                                                                      static_cast<library_context<0>*>(marker)));
  }
  /// The caller's payload without a copy, and a staged tail after it.
  status put_gathered(record& r, const local_memory& from, remote_memory to, std::uint32_t immediate, unsigned flags,
                      record* marker) noexcept {
    std::byte* const tail = cell_memory::end_of_staged(r.outgoing, r.cells_posted) - wire::cell_tail_bytes;
    put_tail(r, tail, from.size, to, immediate, flags);
    const local_memory pieces[2]{from, {tail, wire::cell_tail_bytes, e_.cells.descriptor}};
    return counted(r, e_.port->template write_gather<post_mode::unsignalled>(
                          r.link, pieces, place_for(r, from.size + wire::cell_tail_bytes),
                          static_cast<library_context<0>*>(marker)));
  }
  status put_whole(record& r, const local_memory& from, remote_memory to, std::uint32_t immediate, unsigned flags,
                   record* marker) noexcept {
    if constexpr (gathers)
      if (from.size > cell_memory::largest_staged) return put_gathered(r, from, to, immediate, flags, marker);
    return put_staged(r, from, to, immediate, flags, marker);
  }

  /// By value, so that the usual post keeps its arguments in registers.
  template <class Write>
  [[gnu::noinline]] status post_otherwise(Write w) noexcept {
    record& r = *w.record;
    if constexpr (large_ride)
      if (w.from.size > largest) return initiator<Engine>(e_).write_with_immediate(w);
    const bool waits = w.signalled || Engine::tracks_writes;
    if (!waits && w.from.size <= largest) return put_whole(r, w.from, w.to, w.immediate, 0, &r);
    if (e_.operations.left() <= e_.control_messages) return again(waits_for::operation_slot, "put_notify");
    if (!waits) return post_ahead(w);
    slot& o = *e_.operations.take();
    e_.claim(o, w.signalled ? slot_use::user : slot_use::silent, operation::put_notify, &r, w.context);
    if (w.from.size > largest) return post_ahead(w, o);
    o.stage =
        stage::replying;  // a refused write of a cell ends by the loss of its peer, or by the operation's deadline
    const status s = put_whole(r, w.from, w.to, w.immediate, wire::cell_answered, nullptr);
    if (s) wait_for(r, o);
    else e_.release(o);
    return s;
  }

  /// An unsignalled put_notify: the write, then its cell. It takes a slot, because the queue may have room for the
  /// write only.
  template <class Write>
  status post_ahead(const Write& w) noexcept {
    record& r = *w.record;
    const status s =
        e_.port->template write<post_mode::unsignalled>(r.link, w.from, w.to, static_cast<library_context<0>*>(&r));
    if (!s) return s;
    std::uint64_t size = w.from.size;
    const local_memory number{reinterpret_cast<std::byte*>(&size), sizeof size, nullptr};
    const status sent = put_staged(r, number, w.to, w.immediate,
                                   wire::cell_outside | (reports ? wire::cell_reported_by_library : 0U), &r);
    if (!sent.is_again()) return sent;
    slot& o = *e_.operations.take();
    e_.claim(o, slot_use::silent, operation::put_notify, &r, nullptr);
    o.immediate = w.immediate;
    o.scratch[0] = w.to.address;
    o.scratch[1] = w.to.key;
    o.scratch[2] = w.from.size;
    o.stage = stage::noticing;
    defer(o);
    return {};
  }
  template <class Write>
  status post_ahead(const Write& w, slot& o) noexcept {
    const status s = e_.port->template write<Engine::write_mode>(w.record->link, w.from, w.to, &o);
    if (!s) {
      e_.release(o);
      return s;
    }
    o.immediate = w.immediate;
    notice_of(o, w.to, w.from.size);
    return {};
  }

  Engine& e_;
};

}  // namespace weft::detail
