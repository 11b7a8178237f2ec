// SPDX-License-Identifier: Apache-2.0
//
// Messages whose receives make no entry (policies/framing.hpp, watched_words): after each look at the queue, a look at
// the buffer that each link fills next. What is found goes the way of any message (receiving/receive_path.hpp). Notices
// have entries and messages have none, so that the two are put in order here: messages are looked at when the queue was
// seen empty. Then each notice of a write before them has been told, and a goodbye, which is a message, ends nothing
// too early. And all that are told in one look were there before the first of their handlers ran: posting a receive
// again may bring more from the stream (libfabric's tcp), notices among it. Hot path: yes, with framing::watched_words.
// Threads: the owner's.
#pragma once

#include "receive_path.hpp"

#include <algorithm>
#include <cstring>

namespace weft::detail {

template <class Engine, class Handler>
class message_watch {
 public:
  using record = typename Engine::record;

  message_watch(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// Links per look, and messages of each: a step of progress is bounded however many there are.
  static constexpr std::uint32_t at_once = 64;
  static constexpr std::uint32_t most_of_one = 16;

  /// Returns how many messages there were. Requires: the queue was seen empty.
  [[gnu::always_inline]] int poll() {
    const auto used = static_cast<std::uint32_t>(e_.peers.end() - e_.peers.begin());
    if (used > at_once) [[unlikely]]
      return poll_some(used);
    int told = 0;
    for (std::uint32_t i = 0; i < used; ++i)
      if (record& r = e_.peers.at(i); wire::stirs(r.next_filled)) [[unlikely]]
        told += serve(r);
    return told;
  }

  /// Reads all that a link brought before it ended.
  void drain(record& r) {
    const std::uint32_t number = r.number;
    for (std::uint32_t n = receives<Engine>::per_block(e_.options); n != 0 && r.number == number && read_some(r) != 0;
         --n) {
    }
  }

 private:
  [[gnu::noinline]] int poll_some(std::uint32_t used) {
    int told = 0;
    for (std::uint32_t i = 0; i < at_once; ++i) {
      if (e_.watched_next >= used) e_.watched_next = 0;
      if (record& r = e_.peers.at(e_.watched_next++); wire::stirs(r.next_filled)) told += serve(r);
    }
    return told;
  }

  [[gnu::noinline]] int serve(record& r) {
    const bool inside = e_.handling();
    e_.poll_budget.begin_handling();
    const int told = read_some(r);
    if (!inside) (void)e_.poll_budget.end_handling();
    return told;
  }

  /// How many messages lie there whole, one behind the other.
  std::uint32_t whole(const record& r, wire::watched_look& first) const noexcept {
    const std::size_t room = receives<Engine>::size_of_one(e_.options);
    first = wire::look_at(r.next_filled, room);
    if (first.verdict != wire::watched_verdict::whole) return 0;
    const std::uint32_t most = std::min(r.posted_count, most_of_one);
    std::uint32_t n = 1;
    while (n < most &&
           wire::look_at(r.receives.slots[r.posted_at(n)].data, room).verdict == wire::watched_verdict::whole)
      ++n;
    return n;
  }

  int read_some(record& r) {
    wire::watched_look found;
    const std::uint32_t count = whole(r, found);
    if (count == 0) return found.verdict == wire::watched_verdict::nothing ? 0 : look_closer(r, found.verdict);
    const std::uint32_t number = r.number;
    std::uint32_t n = 0;
    do {
      receive_path<Engine, Handler>(e_, on_).arrived_unasked(r, found.size);
      if (++n == count || r.number != number || r.posted_count == 0) break;  // a handler may close the peer
      found = wire::look_at(r.next_filled, receives<Engine>::size_of_one(e_.options));
    } while (found.verdict == wire::watched_verdict::whole);
    return static_cast<int>(n);
  }

  /// Whoever speaks on this link was not built with watched words: nothing that it says can be read. Its hello has a
  /// random number where a length would be.
  [[gnu::cold, gnu::noinline]] int look_closer(record& r, wire::watched_verdict verdict) {
    std::uint32_t first = 0;
    std::memcpy(&first, r.next_filled, sizeof first);
    if (verdict == wire::watched_verdict::too_long && first != wire::magic) return 0;
    ++e_.garbled;
    if (r.made_words() != nullptr) r.words->reason = "its messages are none of framing::watched_words";
    teardown<Engine>(e_).gone(r, error(errc::incompatible, "receive"), on_);
    return 1;
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
