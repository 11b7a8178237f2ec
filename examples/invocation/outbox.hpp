// SPDX-License-Identifier: Apache-2.0
//
// Outgoing messages: written once into registered memory (some fabrics need it), sent in order per peer, kept until
// sent. A full queue is no error: the message stays and pump() tries again. A message to a dead peer is dropped,
// because the loss of the peer is reported; where that may be late, refusal() tells. A manager has thousands of peers,
// so each call does work for one peer or for those with unsent messages, and never reads all letters. Hot path: no.
// Threads: the owner's.
#pragma once

#include "messages.hpp"

#include <weft/compose/transport.hpp>

#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::invocation {

template <complete_fabric F>
class outbox {
 public:
  /// `to_one`: most letters to one peer at a time; 0: no limit.
  static result<outbox> open(transport<F>& net, std::uint32_t letters, std::uint32_t to_one = 0) {
    auto memory = net.allocate(letters * largest_message, rights::none);
    if (!memory) return std::move(memory).error();
    return outbox(std::move(*memory), letters, to_one == 0 ? letters : to_one);
  }

  /// Errors: no_memory when every buffer is in use, the peer has its share, or the message is too large; then nothing
  /// is sent.
  template <class Message>
  status post(transport<F>& net, peer to, const Message& message) {
    if (free_ == none) return error(errc::no_memory, "outbox");
    const auto held = to_.find(to);
    if (held != to_.end() && held->second.count >= to_one_) return error(errc::no_memory, "outbox");
    letter& l = letters_[free_];
    l.size = pack(message, memory_.memory().subspan(free_ * largest_message, largest_message));
    if (l.size == 0) return error(errc::no_memory, "outbox");
    const std::uint32_t index = std::exchange(free_, l.after);
    addressee& its = held != to_.end() ? held->second : to_[to];
    l = {to, l.size, its.last, none};
    (its.last == none ? its.first : letters_[its.last].after) = index;
    its.last = index;
    ++its.count;
    if (its.unsent == none) its.unsent = index;
    if (!send_to(net, its) && !its.waits) wait(to, its);
    return {};
  }
  /// A send completed, with or without an error.
  void ended(void* context) noexcept {
    const auto at =
        static_cast<std::size_t>(static_cast<std::byte*>(context) - reinterpret_cast<std::byte*>(letters_.data()));
    const std::size_t index = at / sizeof(letter);  // contexts of others lie elsewhere
    if (index < letters_.size() && letters_[index].size != 0) release(static_cast<std::uint32_t>(index));
  }
  /// The peer was closed: no event follows for its letters.
  void forget(peer gone) noexcept {
    const auto held = to_.find(gone);
    if (held == to_.end()) return;
    for (std::uint32_t i = held->second.first; i != none;) {
      const std::uint32_t next = letters_[i].after;
      put_back(i);
      i = next;
    }
    to_.erase(held);
  }
  /// Sends what waits, as far as the library takes it. A peer that cannot take its next message does not stop others;
  /// after some of these the rest waits for the next call.
  void pump(transport<F>& net) {
    std::uint32_t refused = 0;
    for (std::size_t left = waiting_.size(); left != 0 && refused < most_refused; --left) {
      const peer next = waiting_.front();
      waiting_.pop_front();
      const auto held = to_.find(next);
      if (held == to_.end() || !std::exchange(held->second.waits, false) || held->second.unsent == none) continue;
      if (send_to(net, held->second)) continue;
      ++refused;
      wait(next, held->second);
    }
  }
  /// Why the library took no message to this peer; good: it took each, as far as the latest refusal tells.
  status refusal(peer of) const noexcept { return refused_ == of ? refusal_ : status{}; }
  /// Whether a message to this peer waits until the library takes it.
  bool waits(peer to) const noexcept {
    const auto held = to_.find(to);
    return held != to_.end() && held->second.unsent != none;
  }
  bool idle() const noexcept { return to_.empty(); }

  /// Peers that one pump() at most finds unable to take their next message.
  static constexpr std::uint32_t most_refused = 32;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct letter {
    peer to;
    std::size_t size = 0;                       ///< 0: free.
    std::uint32_t before = none, after = none;  ///< Letters to the same peer, the oldest first; `after`: free ones too.
  };
  struct addressee {
    std::uint32_t first = none, last = none;  ///< Its letters: sent ones, then unsent ones.
    std::uint32_t unsent = none;              ///< The first that is not sent.
    std::uint32_t count = 0;
    bool waits = false;  ///< In `waiting_`. A peer that was forgotten and has letters again may be there twice.
  };

  outbox(owned_region memory, std::uint32_t letters, std::uint32_t to_one)
      : memory_(std::move(memory)), letters_(letters), to_one_(to_one) {
    for (std::uint32_t i = letters; i-- > 0;) put_back(i);
  }

  void wait(peer to, addressee& its) {
    its.waits = true;
    waiting_.push_back(to);
  }
  void put_back(std::uint32_t index) noexcept {
    letters_[index] = {};
    letters_[index].after = std::exchange(free_, index);
  }
  /// Takes the letter from its peer.
  void release(std::uint32_t index) noexcept {
    const letter& l = letters_[index];
    const auto held = to_.find(l.to);
    addressee& its = held->second;
    (l.before == none ? its.first : letters_[l.before].after) = l.after;
    (l.after == none ? its.last : letters_[l.after].before) = l.before;
    if (its.unsent == index) its.unsent = l.after;
    if (--its.count == 0) to_.erase(held);
    put_back(index);
  }

  /// Sends the peer's unsent letters in order. False: the library does not take the next one now. `its` may be gone
  /// afterwards if true.
  bool send_to(transport<F>& net, addressee& its) {
    for (bool last = false; !last;) {
      const std::uint32_t index = its.unsent;
      letter& l = letters_[index];
      last = l.after == none;
      const status s = net.send(l.to, memory_.slice(index * largest_message, l.size), &l);
      if (s.is_again()) return false;
      its.unsent = l.after;
      if (s) continue;
      refused_ = l.to;
      refusal_ = s;
      release(index);
    }
    return true;
  }

  owned_region memory_;
  std::vector<letter> letters_;
  std::unordered_map<peer, addressee> to_;  ///< Peers with letters.
  std::deque<peer> waiting_;                ///< Peers with unsent letters, in turn.
  std::uint32_t free_ = none;
  std::uint32_t to_one_;
  peer refused_;
  status refusal_;
};

}  // namespace weft::invocation
