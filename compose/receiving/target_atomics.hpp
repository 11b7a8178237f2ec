// SPDX-License-Identifier: Apache-2.0
//
// Atomics that this side executes for its peers, because their provider cannot (policies/atomics.hpp, target). A
// request comes as a message, and names memory by key and address. Both are checked here as a card would check them,
// because the bytes come from a peer: the region decides, never the address. Hot path: on fabrics with that answer.
// Threads: the owner's; such an atomic is atomic against std::atomic_ref too.
#pragma once

#include "../../wire/control.hpp"
#include "../engine/engine.hpp"

#include <atomic>

namespace weft::detail {

template <class Engine>
class target_atomics {
 public:
  using record = typename Engine::record;

  explicit target_atomics(Engine& e) noexcept : e_(e) {}

  /// False: there is no room for the reply, and nothing was executed. Try again later.
  bool execute(record& from, const_bytes body) noexcept {
    const auto request = wire::parse_atomic_request(body);
    if (!request) {
      ++e_.garbled;
      return true;
    }
    // Room for the reply comes first: an atomic is executed once and answered, or neither.
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
    // Executed: the reply must go out, so it is deferred if the queue is full.
    if (e_.tell(from, wire::message_kind::atomic_reply, out).is_again()) defer(from, reply);
    return true;
  }

  /// Sends the replies that found no room before.
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

 private:
  /// One width of word serves all types of that width, so each peer may choose its type.
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
      // Regions with atomics begin at a multiple of 8, so the offset says whether the word is aligned.
      if (offset > entry.registered.size || entry.registered.size - offset < size || offset % size != 0) {
        code = static_cast<std::uint8_t>(errc::out_of_range);
        return nullptr;
      }
      if (!grants(entry.granted, rights::remote_atomic) || entry.executor != atomicity::target) break;
      return entry.registered.base + offset;
    }
    code = static_cast<std::uint8_t>(errc::denied);
    return nullptr;
  }

  void defer(record& to, const wire::atomic_reply& reply) noexcept {
    e_.deferred_replies.push_back(to.number, reply);
    e_.put_off();
  }

  Engine& e_;
};

}  // namespace weft::detail
