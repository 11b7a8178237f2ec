// SPDX-License-Identifier: Apache-2.0
//
// The target's side of watched rings (wire/cell.hpp): a look at the next cell's word of each peer, the checks that a card would make, the copy,
// the notice; then, when it is due, the credit. Cells are read before any message that was posted behind them is handled, so that what a row
// orders stays in order. And the initiator's side of the credit: it ends operations.
// A cell is a peer's word: its length, place and flags are checked, and a refusal goes back as a message.
// Hot path: yes, with notify::watched_word. Threads: the owner's.
#pragma once

#include "../wire/fused.hpp"
#include "cell_posts.hpp"
#include "ends.hpp"
#include "events.hpp"
#include "landing_place.hpp"

namespace weft {

template <class Engine, class Handler>
class cell_watch {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using posts = cell_posts<Engine>;

  cell_watch(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// Peers per look: a step of progress is bounded however many there are.
  static constexpr std::uint32_t at_once = 64;

  /// Returns how many events there were.
  [[gnu::always_inline]] int look() {
    const auto used = static_cast<std::uint32_t>(e_.peers.end() - e_.peers.begin());
    if (used > at_once) [[unlikely]]
      return look_at_some(used);
    int told = 0;
    for (std::uint32_t i = 0; i < used; ++i)
      if (record& r = e_.peers.at(i); r.live != peer_header::dead && stirs(r)) told += serve(r);
    return told;
  }

  /// Reads all that this peer's writes have brought.
  [[gnu::noinline]] int drain(record& r) {
    int told = 0;
    const std::uint32_t number = r.number;
    for (std::uint32_t n = 0; n < wire::ring_cells && r.live == number && cell_is_there(r); ++n) {
      if (!take(r)) break;
      ++told;
    }
    if (r.live == number && r.cells_read - r.cells_told >= wire::ring_cells / 4) r.answer_is_due = true;
    return told;
  }

  /// A refusal came by message.
  void refused(record& r, const_bytes body) {
    const auto reply = wire::parse_fused_reply(body);
    const bool known = reply && reply->token >> 32 == 0 &&
                       (reply->code == static_cast<std::uint8_t>(errc::denied) || reply->code == static_cast<std::uint8_t>(errc::out_of_range));
    const std::uint32_t n = known ? static_cast<std::uint32_t>(reply->token) - 1 : 0;
    if (!known || n - r.cells_credited >= r.cells_posted - r.cells_credited) return void(++e_.garbled);
    ++r.cells_refused;
    const status why = error(static_cast<errc>(reply->code), "put_notify");
    slot* s = r.waits[n % wire::ring_cells] == no_index ? nullptr : posts::take_waiting(r, n, finder());
    if (s != nullptr) end(*s, why);
    else on_(failed{operation::put_notify, e_.handle(r), nullptr, why});
  }

 private:
  auto finder() noexcept {
    return [this](std::uint32_t index) { return e_.operations.at(index); };
  }
  void end(slot& s, status outcome) {
    if (s.stage == stage::confirming) s.stage = stage::single;  // the write's own completion is still to come
    ends<Engine, Handler>(e_, on_).end_of(s, outcome);
  }
  void take_credit(record& r, std::uint64_t word) {
    posts::credit(
        r, word, [this](slot& s) { end(s, {}); }, finder());
  }

  [[gnu::always_inline]] static bool cell_is_there(const record& r) noexcept {
    std::byte* const word = cell_memory::end_of_cell(r.incoming, r.cells_read) - sizeof(std::uint32_t);
    return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(word)).load(std::memory_order_acquire) == r.cells_read + 1;
  }
  [[gnu::always_inline]] static bool stirs(const record& r) noexcept {
    return cell_is_there(r) || r.answer_is_due || (r.cells_waiting != 0 && posts::their_credit(r) >> 32 != r.cells_credited);
  }

  int look_at_some(std::uint32_t used) {
    int told = 0;
    for (std::uint32_t i = 0; i < at_once; ++i) {
      if (e_.cells.next >= used) e_.cells.next = 0;
      if (record& r = e_.peers.at(e_.cells.next++); r.live != peer_header::dead && stirs(r)) told += serve(r);
    }
    return told;
  }

  [[gnu::noinline]] int serve(record& r) {
    const bool inside = e_.handling();
    e_.attention.begin_handling();
    const std::uint32_t number = r.number;
    const std::uint32_t waited = r.cells_waiting;
    if (waited != 0) take_credit(r, posts::their_credit(r));
    int told = r.live == number ? static_cast<int>(waited - r.cells_waiting) : 1;
    told += drain(r);
    if (r.live == number && r.answer_is_due) tell_credit(r);
    if (!inside) (void)e_.attention.end_handling();
    return told;
  }

  /// A plain write of one word: cells that were read may be written again, and who waits for them is told.
  void tell_credit(record& r) noexcept {
    std::uint64_t word = wire::credit_word(r.cells_read, r.cells_denied);
    status s;
    if constexpr (requires { e_.port->inject_write(r.link, const_bytes{}, remote_memory{}); } && Engine::fabric::facts.inject_bytes >= sizeof word) {
      s = e_.port->inject_write(r.link, {reinterpret_cast<const std::byte*>(&word), sizeof word}, r.their_cells);
    } else {
      std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(r.outgoing)).store(word, std::memory_order_relaxed);
      s = e_.port->template write<post_mode::unsignalled>(r.link, {r.outgoing, sizeof word, e_.cells.descriptor}, r.their_cells, nullptr);
    }
    r.answer_is_due = s.is_again();
    if (!s.is_again()) r.cells_told = r.cells_read;
  }

  /// False: not one of this connection, or no room to refuse it; nothing was done.
  bool take(record& r) {
    std::byte* const at = cell_memory::end_of_cell(r.incoming, r.cells_read) - wire::cell_tail_bytes;
    wire::cell_tail t;
    std::memcpy(&t, at, sizeof t);
    if (t.sender != r.number) return false;
    const std::uint32_t number = r.number;
    take_credit(r, t.credit);
    if (r.live != number) return false;
    std::uint64_t size = t.length;
    const bool outside = (t.flags & wire::cell_outside) != 0;
    if (t.length > wire::largest_cell_payload || (t.flags & ~wire::cell_flags) != 0 || (outside && t.length != sizeof size)) {
      ++e_.garbled;
      ++r.cells_read;
      return true;
    }
    if (outside) std::memcpy(&size, at - sizeof size, sizeof size);
    errc code{};
    std::byte* place = landing_place(e_, t.key, t.address, size, code);
    if (place == nullptr) return refuse(r, t, code);
    if (!outside && size != 0) std::memcpy(place, at - size, size);
    count(r, t);
    on_(notified{e_.handle(r), t.immediate});
    return true;
  }
  void count(record& r, const wire::cell_tail& t) noexcept {
    ++r.cells_read;
    r.heard = e_.tick;
    if ((t.flags & wire::cell_answered) != 0) r.answer_is_due = true;
  }

  bool refuse(record& r, const wire::cell_tail& t, errc code) noexcept {
    if ((t.flags & wire::cell_told_by_library) == 0) {
      if (e_.owed_landings.full()) return false;
      const wire::fused_reply reply{t.sequence, static_cast<std::uint8_t>(code)};
      std::byte out[wire::fused_reply_bytes];
      wire::encode(reply, out);
      if (e_.tell(r, wire::message_kind::fused_reply, out).is_again()) {
        e_.owed_landings.push_back(r.number, {reply.token, 0, reply.code});
        e_.put_off();
      }
      ++r.cells_denied;
    }
    count(r, t);
    return true;
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft
