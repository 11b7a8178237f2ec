// SPDX-License-Identifier: Apache-2.0
//
// Which records of the table need work, so that no event, poll or sleep reads the whole table: a transport may have a
// million peers, and most of them are idle. Timers look at the unfinished records each time, and at the others in turn.
// Callers over addressed fabrics are found by the word of their hello, as nothing else names them. Costs a quarter of a
// byte for each peer, and 5.4 more for each possible caller of an addressed fabric. Hot path: no. Threads: the
// owner's.
#pragma once

#include "peers.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weft::detail {

/// A set of numbers below a bound: a bit for each, and above them a bit for each 64 that are not all absent. Visits
/// members in increasing order, so a simulated run does not depend on when they came.
class number_set {
 public:
  explicit number_set(std::uint32_t bound) {
    std::uint32_t words = 0;
    for (std::uint32_t bits = bound; levels_ == 0 || bits > 1; ++levels_) {
      begin_[levels_] = words;
      bits = (bits + 63) / 64;
      words += bits;
    }
    begin_[levels_] = words;
    words_ = std::make_unique<std::uint64_t[]>(words);
  }

  void insert(std::uint32_t number) noexcept {
    for (std::uint32_t level = 0; level < levels_; ++level, number /= 64) word(level, number) |= bit(number);
  }
  void erase(std::uint32_t number) noexcept {
    for (std::uint32_t level = 0; level < levels_; ++level, number /= 64)
      if ((word(level, number) &= ~bit(number)) != 0) return;
  }
  bool contains(std::uint32_t number) const noexcept { return (word(0, number) & bit(number)) != 0; }
  /// The smallest member that is not below `from`; no_index: there is none.
  std::uint32_t next(std::uint32_t from) const noexcept {
    for (std::uint32_t level = 0; level < levels_; ++level, from = from / 64 + 1) {
      if (begin_[level] + from / 64 >= begin_[level + 1]) continue;
      const std::uint64_t rest = word(level, from) & ~std::uint64_t{0} << from % 64;
      if (rest == 0) continue;
      std::uint32_t found = from / 64 * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
      while (level-- > 0)
        found = found * 64 + static_cast<std::uint32_t>(std::countr_zero(words_[begin_[level] + found]));
      return found;
    }
    return no_index;
  }
  /// Calls `visit(number)`, which may insert and erase. A member that it inserts below `number` is not visited.
  template <class Visit>
  void each(Visit&& visit) {
    for (std::uint32_t i = next(0); i != no_index; i = next(i + 1)) visit(i);
  }

 private:
  static constexpr std::uint64_t bit(std::uint32_t number) noexcept { return std::uint64_t{1} << number % 64; }
  std::uint64_t& word(std::uint32_t level, std::uint32_t number) const noexcept {
    return words_[begin_[level] + number / 64];
  }

  std::unique_ptr<std::uint64_t[]> words_;
  std::array<std::uint32_t, 7> begin_{};  ///< Of each level, and the end: 64 to the power of 6 exceeds 32 bits.
  std::uint32_t levels_ = 0;
};

/// Records of callers by the word of their hello. Open addressing; the table is made for the first caller.
template <class Record>
class caller_index {
 public:
  explicit caller_index(std::uint32_t most) noexcept : places_(most + most / 3 + 1) {}

  /// Memory for all callers. False: there is none.
  bool ready() noexcept {
    if (held_) return true;
    held_.reset(new (std::nothrow) std::uint32_t[places_]);
    for (std::uint32_t i = 0; held_ && i < places_; ++i) held_[i] = no_index;
    return held_ != nullptr;
  }
  /// Requires: ready(), and the record is not held.
  template <class Table>
  void insert(Table& table, Record& r) noexcept {
    std::uint32_t at = home(r.theirs);
    while (held_[at] != no_index) at = after(at);
    held_[at] = table.index_of(r);
  }
  template <class Table>
  Record* find(Table& table, wire::connection_word theirs) noexcept {
    for (std::uint32_t at = held_ ? home(theirs) : 0; held_ && held_[at] != no_index; at = after(at)) {
      ++compared;
      if (Record& r = table.at(held_[at]); r.theirs == theirs) return &r;
    }
    return nullptr;
  }
  /// Does nothing for a record that is not held.
  template <class Table>
  void erase(Table& table, const Record& r) noexcept {
    if (!held_) return;
    std::uint32_t gap = home(r.theirs);
    for (const std::uint32_t index = table.index_of(r); held_[gap] != index; gap = after(gap))
      if (held_[gap] == no_index) return;
    // Later ones move into the gap, unless that would put them before their home.
    for (std::uint32_t at = after(gap); held_[at] != no_index; at = after(at)) {
      const std::uint32_t from = home(table.at(held_[at]).theirs);
      if (gap <= at ? gap < from && from <= at : gap < from || from <= at) continue;
      held_[gap] = held_[at];
      gap = at;
    }
    held_[gap] = no_index;
  }

  std::uint64_t compared = 0;  ///< For tests: records that searches compared so far.

 private:
  /// The proof in a word is random, but its sender chose it. Callers who choose it badly slow down each other alone.
  std::uint32_t home(wire::connection_word w) const noexcept {
    const std::uint64_t mixed = (w.value ^ w.value >> 29) * 0x9e3779b97f4a7c15U;
    return static_cast<std::uint32_t>((mixed >> 32) * places_ >> 32);
  }
  std::uint32_t after(std::uint32_t at) const noexcept { return at + 1 == places_ ? 0 : at + 1; }

  std::unique_ptr<std::uint32_t[]> held_;  ///< Indices of records.
  std::uint32_t places_;                   ///< A third more than callers, so that each run has an end.
};
/// Connected fabrics: the link names the caller.
template <class Record>
struct no_caller_index {
  explicit no_caller_index(std::uint32_t /*most*/) noexcept {}
  template <class Table>
  static void erase(Table& /*table*/, const Record& /*r*/) noexcept {}
};

/// The table of peers, and the sets of those that need work.
template <class Record, bool Connected>
class known_peers : public peer_table<Record> {
 public:
  /// A peer that wants heartbeats more often than this counts as unfinished: it needs work all the time.
  static constexpr std::uint16_t quick_heartbeat = 16;

  explicit known_peers(std::uint32_t capacity)
      : peer_table<Record>(capacity),
        unfinished_(capacity),
        ended_links_(Connected ? capacity : 1),
        callers(capacity) {}

  /// Takes a record back. Requires: its state is free.
  void give(Record& r) noexcept {
    const std::uint32_t index = this->index_of(r);
    unfinished_.erase(index);
    if (Connected) ended_links_.erase(index);
    callers.erase(*this, r);
    peer_table<Record>::give(r);
  }

  // ---- unfinished: neither free nor established, or with a handshake to send, or with quick heartbeats
  void is_unfinished(const Record& r) noexcept { unfinished_.insert(this->index_of(r)); }
  /// The timers checked the record. It is unfinished no more if it needs only its turn.
  void was_checked(const Record& r) noexcept {
    if (r.state != peer_state::established) return;
    wants_heartbeats(r);
    if (!r.handshake_pending && !is_quick(r)) unfinished_.erase(this->index_of(r));
  }
  /// Calls `visit(record)`, which may end any peer.
  template <class Visit>
  void each_unfinished(Visit&& visit) {
    unfinished_.each([&](std::uint32_t index) { visit(this->at(index)); });
  }
  /// The first unfinished record at or after an index; null: there is none.
  Record* next_unfinished(std::uint32_t from) noexcept {
    const std::uint32_t index = unfinished_.next(from);
    return index == no_index ? nullptr : &this->at(index);
  }

  // ---- connected fabrics: links that ended, and were not hung up
  void link_ended(const Record& r) noexcept { ended_links_.insert(this->index_of(r)); }
  void link_hung_up(const Record& r) noexcept {
    if (Connected) ended_links_.erase(this->index_of(r));
  }
  template <class Visit>
  void each_ended_link(Visit&& visit) {
    ended_links_.each([&](std::uint32_t index) { visit(this->at(index)); });
  }

  // ---- turns of established peers
  /// The next record in turn, of any state. Requires: a record was used.
  Record& in_turn() noexcept {
    if (turn_ >= used()) begin_round();
    return this->at(turn_++);
  }
  /// All records have their turn now.
  void begin_round() noexcept {
    turn_ = 0;
    shortest_heartbeat_ = std::exchange(shortest_of_round_, no_heartbeat);
  }
  std::uint32_t used() noexcept { return static_cast<std::uint32_t>(this->end() - this->begin()); }
  /// The peer wants heartbeats; 0: it does not.
  void wants_heartbeats(const Record& r) noexcept {
    if (r.heartbeat_every == 0) return;
    if (is_quick(r)) return is_unfinished(r);
    if (r.heartbeat_every < shortest_heartbeat_) shortest_heartbeat_ = r.heartbeat_every;
    if (r.heartbeat_every < shortest_of_round_) shortest_of_round_ = r.heartbeat_every;
  }
  /// The shortest heartbeat of a peer that is not unfinished for it, in ticks; 0: none. Peers that left count until the
  /// round after the present one.
  std::uint32_t shortest_heartbeat() const noexcept {
    return shortest_heartbeat_ == no_heartbeat ? 0U : shortest_heartbeat_;
  }

  std::uint64_t visited = 0;  ///< For tests: records that timers and sleeps looked at so far.

 private:
  static constexpr std::uint16_t no_heartbeat = 0xffff;
  static bool is_quick(const Record& r) noexcept {
    return r.heartbeat_every != 0 && r.heartbeat_every < quick_heartbeat;
  }

  number_set unfinished_;
  number_set ended_links_;
  std::uint32_t turn_ = 0;
  std::uint16_t shortest_heartbeat_ = no_heartbeat;
  std::uint16_t shortest_of_round_ = no_heartbeat;

 public:
  [[no_unique_address]] std::conditional_t<Connected, no_caller_index<Record>, caller_index<Record>> callers;
};

}  // namespace weft::detail
