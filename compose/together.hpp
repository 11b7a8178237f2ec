// SPDX-License-Identifier: Apache-2.0
//
// Notices whose writes were delivered, sent in one message per peer: where nothing is ordered each put_notify waits for its delivery, and many
// deliveries are told by one look at the queue. One wait and one message for all of them, however many there are.
// The operations of one message form a list by `next`; the message's slot has the first as its parent, and all end with it (inbox.hpp).
// Hot path: yes, on rows whose answer is notify::message_after_delivery. Threads: the owner's.
#pragma once

#include "../wire/control.hpp"
#include "engine.hpp"

#include <cstdint>

namespace weft {

template <class Engine>
class together {
 public:
  using slot = typename Engine::slot;
  static constexpr std::uint32_t most = 64;  ///< Notices in one message: 256 bytes, less than the least receive slot.

  explicit together(Engine& e) noexcept : e_(e) {}

  /// Its bytes are delivered: its notice is due at the end of this look at the queue.
  void put_off(slot& s) noexcept {
    s.next = e_.owed_notices;
    e_.owed_notices = s.index;
    e_.put_off();
  }

  /// Sends the notice of `first`, and those of the list that go to the same peer. Returns what is left of the list. Those that end now, or
  /// could not be sent, are given to `ended(slot)`; what finds no room is put off again.
  template <class Ended>
  std::uint32_t send(slot& first, std::uint32_t list, Ended&& ended) noexcept {
    std::byte body[4 * most];
    std::size_t size = wire::encode(first.immediate, body);
    slot* last = &first;
    std::uint32_t* link = &list;
    for (std::uint32_t i = list; i != no_index && size < sizeof body;) {
      slot& s = *e_.operations.at(i);
      i = s.next;
      if (s.record != first.record || s.stage != stage::noticing || s.what != operation::put_notify ||
          (s.use != slot_use::user && s.use != slot_use::silent)) {
        link = &s.next;
        continue;
      }
      *link = i;
      last->next = s.index;
      last = &s;
      size += wire::encode(s.immediate, bytes(body).subspan(size));
    }
    last->next = no_index;
    const bool completes = size > 64 || size + Engine::front > Engine::fabric::facts.inject_bytes;
    const status told = e_.tell(*first.record, wire::message_kind::notify, {body, size}, completes ? &first : nullptr);
    if (told && completes) return list;
    for (slot* s = &first; s != nullptr;) {
      slot* following = next_of(*s);
      if (told.is_again()) {
        put_off(*s);
      } else {
        if (!told) s->fault = told.code;
        --s->pending;
        ended(*s);
      }
      s = following;
    }
    return list;
  }

  slot* next_of(const slot& s) const noexcept { return s.next == no_index ? nullptr : e_.operations.at(s.next); }

  /// Takes an operation that ends early out of the message that carries its notice.
  void leave(const slot& s) noexcept {
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& message = *e_.operations.at(i);
      if (message.parent == nullptr || message.parent->stage != stage::noticing || message.parent->what != operation::put_notify) continue;
      if (message.parent == &s) message.parent = next_of(s);
      else
        for (slot* p = message.parent; p != nullptr; p = next_of(*p))
          if (p->next == s.index) p->next = s.next;
    }
  }

 private:
  Engine& e_;
};

}  // namespace weft
