// SPDX-License-Identifier: Apache-2.0
//
// Notices of delivered writes, one message per peer. Where nothing is ordered, each put_notify waits for its delivery,
// and one poll reports many. Up to 64 share one message. The operations of one message form a list by `next`; the
// message's slot has the first as its parent, and all end with it (receiving/cq_poller.hpp). Hot path: yes, on rows
// whose answer is notify::message_after_delivery. Threads: the owner's.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/engine.hpp"

#include <cstdint>

namespace weft::detail {

template <class Engine>
class notice_batching {
 public:
  using slot = typename Engine::slot;
  static constexpr std::uint32_t most = 64;  ///< Notices in one message: 256 bytes, less than the least receive slot.

  explicit notice_batching(Engine& e) noexcept : e_(e) {}

  /// Sends the notice of `first`, and the due notices to the same peer. Without room in the queue, all are deferred
  /// again.
  void send(slot& first) noexcept {
    std::byte body[4 * most];
    std::size_t size = wire::encode(first.immediate, body);
    slot* last = &first;
    e_.deferred.take_due([&](slot& s) {
      if (s.record != first.record || s.stage != stage::noticing || size == sizeof body) return false;
      last->next = s.index;
      last = &s;
      size += wire::encode(s.immediate, bytes(body).subspan(size));
      return true;
    });
    last->next = no_index;
    const bool completes = size > 64 || size + Engine::front > Engine::message_inject_bytes;
    const status sent = e_.tell(*first.record, wire::message_kind::notify, {body, size}, completes ? &first : nullptr);
    if (sent && completes) return;
    for_each(first, [&](slot& s) {
      if (sent.is_again()) return e_.defer(s);
      Engine::only_end_is_deferred(s, sent);
      e_.deferred.add_now(s);
    });
  }
  /// The message with the notices of `first` and its followers has ended.
  void reported(slot& first, status outcome) noexcept {
    for_each(first, [&](slot& s) {
      Engine::only_end_is_deferred(s, outcome);
      e_.defer(s);
    });
  }

  /// Takes an operation that ends early out of the message that carries its notice.
  void leave(const slot& s) noexcept {
    for (std::uint32_t i = 0; i < e_.operations.size(); ++i) {
      slot& message = *e_.operations.at(i);
      if (message.parent == nullptr || message.parent->stage != stage::noticing ||
          message.parent->what != operation::put_notify)
        continue;
      if (message.parent == &s) message.parent = next_of(s);
      else
        for (slot* p = message.parent; p != nullptr; p = next_of(*p))
          if (p->next == s.index) p->next = s.next;
    }
  }

 private:
  slot* next_of(const slot& s) const noexcept { return s.next == no_index ? nullptr : e_.operations.at(s.next); }
  /// Reads `next` before `act`, because `act` may put the slot on another list.
  template <class Act>
  void for_each(slot& first, Act&& act) noexcept {
    for (slot* s = &first; s != nullptr;) {
      slot* following = next_of(*s);
      act(*s);
      s = following;
    }
  }

  Engine& e_;
};

}  // namespace weft::detail
