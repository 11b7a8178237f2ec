// SPDX-License-Identifier: Apache-2.0
//
// Outgoing messages: written once into registered memory (some fabrics need it), sent in order per peer, kept until
// sent. A full queue is no error: the message stays and pump() tries again. A message to a dead peer is dropped,
// because the loss of the peer is reported. Hot path: no. Threads: the owner's.
#pragma once

#include "messages.hpp"

#include <weft/compose/transport.hpp>

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
    letter* free = nullptr;
    std::uint32_t has = 0;
    for (letter& l : letters_)
      if (l.state == letter_state::free) free = &l;
      else has += std::uint32_t{l.to == to};
    if (free == nullptr || has >= to_one_) return error(errc::no_memory, "outbox");
    free->size = pack(message, memory_.memory().subspan(place(*free), largest_message));
    if (free->size == 0) return error(errc::no_memory, "outbox");
    free->to = to;
    free->number = ++posted_;
    free->state = letter_state::queued;
    ++queued_;
    pump(net);
    return {};
  }
  /// A send completed, with or without an error.
  void ended(void* context) noexcept {
    auto* l = static_cast<letter*>(context);
    if (l != nullptr && l->state == letter_state::sent) l->state = letter_state::free;
  }
  /// The peer was closed: no event follows for its letters.
  void forget(peer gone) noexcept {
    for (letter& l : letters_) {
      if (l.state == letter_state::free || l.to != gone) continue;
      queued_ -= std::uint32_t{l.state == letter_state::queued};
      l.state = letter_state::free;
    }
  }
  void pump(transport<F>& net) {
    if (queued_ == 0) return;
    bool more = true;
    peer blocked;
    for (std::uint64_t after = 0; more;) {
      letter* next = nullptr;
      for (letter& l : letters_)
        if (l.state == letter_state::queued && l.number > after && (next == nullptr || l.number < next->number))
          next = &l;
      more = next != nullptr;
      if (!more) break;
      after = next->number;
      if (blocked == next->to) continue;
      if (!send(net, *next)) blocked = next->to;
    }
  }
  bool idle() const noexcept {
    for (const letter& l : letters_)
      if (l.state != letter_state::free) return false;
    return true;
  }

 private:
  enum class letter_state : std::uint8_t { free, queued, sent };
  struct letter {
    peer to;
    std::uint64_t number = 0;
    std::size_t size = 0;
    letter_state state = letter_state::free;
  };

  outbox(owned_region memory, std::uint32_t letters, std::uint32_t to_one)
      : memory_(std::move(memory)), letters_(letters), to_one_(to_one) {}

  std::size_t place(const letter& l) const noexcept {
    return static_cast<std::size_t>(&l - letters_.data()) * largest_message;
  }

  bool send(transport<F>& net, letter& l) {
    l.state = letter_state::sent;
    const status s = net.send(l.to, memory_.slice(place(l), l.size), &l);
    if (s.is_again()) {
      l.state = letter_state::queued;
      return false;
    }
    --queued_;
    if (!s) l.state = letter_state::free;
    return true;
  }

  owned_region memory_;
  std::vector<letter> letters_;
  std::uint32_t to_one_;
  std::uint64_t posted_ = 0;
  std::uint32_t queued_ = 0;
};

}  // namespace weft::invocation
