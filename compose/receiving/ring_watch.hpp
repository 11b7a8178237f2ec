// SPDX-License-Identifier: Apache-2.0
//
// The target's side of watched rings (wire/cell.hpp). A poll reads the last word of the next cell of each peer. A cell
// is complete when that word has the next sequence. Then weft makes the checks that a card would make, copies the
// payload, and reports the notice. Credit goes back when a quarter of the ring was read. The initiator's side of credit
// is here too: arriving credit ends operations. Cells are read before messages that were posted after them, so the
// order of the row is kept. All words of a cell come from a peer and are checked; a refusal goes back as a message. A
// transport with another answer has no_ring_watch, whose members do nothing. Hot path: yes, with notify::watched_word.
// Threads: the owner's.
#pragma once

#include "../../wire/fused.hpp"
#include "../events.hpp"
#include "../memory/write_target.hpp"
#include "../posting/ring_posts.hpp"
#include "completions.hpp"

#include <type_traits>

namespace weft::detail {

template <class Engine, class Handler>
class ring_watch {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using posts = ring_posts<Engine>;

  ring_watch(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// Peers of one poll. The bound keeps progress() short for any number of peers.
  static constexpr std::uint32_t peers_of_one_poll = 64;

  /// Returns how many events there were.
  [[gnu::always_inline]] int poll() {
    const auto used = static_cast<std::uint32_t>(e_.peers.end() - e_.peers.begin());
    if (used > peers_of_one_poll) [[unlikely]]
      return poll_some(used);
    int reported = 0;
    for (std::uint32_t i = 0; i < used; ++i)
      if (record& r = e_.peers.at(i); r.live_number() != peer_header::dead && has_work(r)) reported += serve(r);
    return reported;
  }

  /// Reads all cells that the peer has written. False: a handler closed the peer.
  [[gnu::always_inline]] bool drain(record& r) {
    const std::uint32_t number = r.number;
    read_out_of_line(r);
    return r.live_number() == number;
  }

  /// The peer refused a put_notify by message.
  void refused(record& r, const_bytes body) {
    const auto reply = wire::parse_fused_reply(body);
    const bool known = reply && reply->token >> 32 == 0 &&
                       (reply->code == static_cast<std::uint8_t>(errc::denied) ||
                        reply->code == static_cast<std::uint8_t>(errc::out_of_range));
    const std::uint32_t n = known ? static_cast<std::uint32_t>(reply->token) - 1 : 0;
    if (!known || n - r.cells_credited >= r.cells_posted - r.cells_credited) return void(++e_.garbled);
    ++r.cells_refused;
    const status why = error(static_cast<errc>(reply->code), "put_notify");
    slot* s = r.waits[n % wire::ring_cells] == no_index ? nullptr : posts::take_waiting(r, n, finder());
    if (s != nullptr) end(*s, why);
    else on_(failed{operation::put_notify, e_.handle(r), nullptr, why});
  }

 private:
  /// The last word of the next cell. The cell is complete when the word has its sequence.
  [[gnu::always_inline]] static wire::cell_end next_end(const record& r) noexcept {
    std::byte* const word = cell_memory::end_of_cell(r.incoming, r.cells_read) - sizeof(wire::cell_end);
    return {std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(word)).load(std::memory_order_acquire)};
  }
  [[gnu::always_inline]] static bool has_work(const record& r) noexcept {
    return next_end(r).sequence() == r.cells_read + 1 || r.answer_is_due ||
           (r.cells_waiting != 0 && posts::their_credit(r) >> 32 != r.cells_credited);
  }

  /// Out of line and short, because the library's code has filled the processor's caches. So rare steps are separate
  /// functions.
  [[gnu::noinline]] int serve(record& r) {
    const bool inside = e_.handling();
    e_.poll_budget.begin_handling();
    const std::uint32_t number = r.number;
    int reported = 0;
    if (r.cells_waiting != 0) [[unlikely]]
      reported = take_peers_credit(r);
    reported += read_all(r);
    if (r.live_number() == number && r.answer_is_due) [[unlikely]]
      send_credit(r);
    if (!inside) (void)e_.poll_budget.end_handling();
    return reported;
  }

  [[gnu::always_inline]] int read_all(record& r) {
    const std::uint32_t number = r.number;
    int reported = 0;
    while (r.live_number() == number && reported < static_cast<int>(wire::ring_cells)) {
      const wire::cell_end last = next_end(r);
      if (last.sequence() != r.cells_read + 1 || !take(r, last)) break;
      ++reported;
    }
    if (r.live_number() == number && r.cells_read - r.cells_reported >= wire::ring_cells / 4) r.answer_is_due = true;
    return reported;
  }
  [[gnu::noinline]] int read_out_of_line(record& r) { return read_all(r); }

  /// False: the cell is of another connection, or there is no room to refuse the cell. Nothing was done then. Each word
  /// is read once, because a peer may write at any time.
  [[gnu::always_inline]] bool take(record& r, wire::cell_end last) {
    std::byte* const at = cell_memory::end_of_cell(r.incoming, r.cells_read) - wire::cell_tail_bytes;
    const std::uint64_t connection = word_of(at, offsetof(wire::cell_tail, immediate));
    const std::uint32_t number = r.number;
    if (static_cast<std::uint32_t>(connection >> 32) != number) [[unlikely]]
      return false;
    if (const std::uint64_t credit = word_of(at, offsetof(wire::cell_tail, credit)); r.cells_waiting == 0) [[likely]] {
      if (posts::believes(r, credit)) r.cells_credited = static_cast<std::uint32_t>(credit >> 32);
    } else {
      take_credit(r, credit);
      if (r.live_number() != number) return false;
    }
    const bool inside = (last.flags() & ~wire::cell_answered) == 0 && last.length() <= wire::largest_cell_payload;
    const std::uint64_t size = inside ? last.length() : size_outside(last, at);
    if (size == no_cell) [[unlikely]]
      return garbled(r);
    errc code{};
    std::byte* const place = write_target(e_, word_of(at, offsetof(wire::cell_tail, key)),
                                          word_of(at, offsetof(wire::cell_tail, address)), size, code);
    if (place == nullptr) [[unlikely]]
      return refuse(r, last, code);
    if (inside) [[likely]]
      copy_payload(place, at - size, size);
    count(r, last);
    on_(notified{e_.handle(r), static_cast<std::uint32_t>(connection)});
    return true;
  }
  /// A word of the tail. The tail is 8-aligned, as cells are.
  static std::uint64_t word_of(std::byte* tail, std::size_t offset) noexcept {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(tail + offset))
        .load(std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void count(record& r, wire::cell_end last) noexcept {
    ++r.cells_read;
    e_.hear(r);
    if ((last.flags() & wire::cell_answered) != 0) r.answer_is_due = true;
  }

  // ---- credit
  /// Writes one word into the peer's memory: the number of cells read. The peer may use those cells again.
  [[gnu::noinline]] void send_credit(record& r) noexcept {
    std::uint64_t word = wire::credit_word(r.cells_read, r.cells_denied);
    status s;
    if constexpr (injects_writes<typename Engine::port_type> && Engine::inject_bytes >= sizeof word) {
      s = e_.port->inject_write(r.link, {reinterpret_cast<const std::byte*>(&word), sizeof word}, r.their_cells);
    } else {
      std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(r.outgoing))
          .store(word, std::memory_order_relaxed);
      s = e_.port->template write<post_mode::unsignalled>(r.link, {r.outgoing, sizeof word, e_.cells.descriptor},
                                                          r.their_cells, nullptr);
    }
    r.answer_is_due = s.is_again();
    if (!s.is_again()) r.cells_reported = r.cells_read;
  }
  /// Returns how many operations the peer's credit ended; 1 if a handler closed the peer.
  [[gnu::noinline]] int take_peers_credit(record& r) {
    const std::uint32_t number = r.number;
    const std::uint32_t waited = r.cells_waiting;
    take_credit(r, posts::their_credit(r));
    return r.live_number() == number ? static_cast<int>(waited - r.cells_waiting) : 1;
  }
  [[gnu::noinline]] void take_credit(record& r, std::uint64_t word) {
    posts::credit(
        r, word, [this](slot& s) { end(s, {}); }, finder());
  }
  void end(slot& s, status outcome) {
    if (s.stage == stage::confirming) s.stage = stage::single;  // the write's own completion is still to come
    completions<Engine, Handler>(e_, on_).end_of(s, outcome);
  }
  auto finder() noexcept {
    return [this](std::uint32_t index) { return e_.operations.at(index); };
  }

  // ---- rare cells
  [[gnu::noinline]] int poll_some(std::uint32_t used) {
    int reported = 0;
    for (std::uint32_t i = 0; i < peers_of_one_poll; ++i) {
      if (e_.cells.next >= used) e_.cells.next = 0;
      if (record& r = e_.peers.at(e_.cells.next++); r.live_number() != peer_header::dead && has_work(r))
        reported += serve(r);
    }
    return reported;
  }
  /// The number of bytes that a write before this cell carried. no_cell: not a cell of weft.
  [[gnu::noinline]] static std::uint64_t size_outside(wire::cell_end last, const std::byte* tail) noexcept {
    std::uint64_t size = no_cell;
    if ((last.flags() & ~wire::cell_flags) == 0 && (last.flags() & wire::cell_outside) != 0 &&
        last.length() == sizeof size)
      std::memcpy(&size, tail - sizeof size, sizeof size);
    return size;
  }
  [[gnu::cold, gnu::noinline]] bool garbled(record& r) noexcept {
    ++e_.garbled;
    ++r.cells_read;
    return true;
  }
  [[gnu::noinline]] bool refuse(record& r, wire::cell_end last, errc code) noexcept {
    if ((last.flags() & wire::cell_reported_by_library) == 0) {
      if (e_.deferred_fused_replies.full()) return false;
      const wire::fused_reply reply{last.sequence(), static_cast<std::uint8_t>(code)};
      std::byte out[wire::fused_reply_bytes];
      wire::encode(reply, out);
      if (e_.tell(r, wire::message_kind::fused_reply, out).is_again()) {
        e_.deferred_fused_replies.push_back(r.number, {reply.token, 0, reply.code});
        e_.put_off();
      }
      ++r.cells_denied;
    }
    count(r, last);
    return true;
  }

  static constexpr std::uint64_t no_cell = ~std::uint64_t{0};  ///< Larger than any region.

  Engine& e_;
  Handler on_;
};

/// The part of a transport whose notices do not use watched rings.
template <class Engine, class Handler>
class no_ring_watch {
 public:
  using record = typename Engine::record;

  no_ring_watch(Engine& e, Handler) noexcept : e_(e) {}
  static constexpr int poll() noexcept { return 0; }
  static constexpr bool drain(record&) noexcept { return true; }
  void refused(record&, const_bytes) noexcept { ++e_.garbled; }

 private:
  Engine& e_;
};

template <class Engine, class Handler>
using ring_watch_of =
    std::conditional_t<Engine::watches_cells, ring_watch<Engine, Handler>, no_ring_watch<Engine, Handler>>;

}  // namespace weft::detail
