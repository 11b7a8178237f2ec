// SPDX-License-Identifier: Apache-2.0
//
// A peer for coroutines: each posting call of the transport as an awaitable.
// Errors are values. A coroutine never sees `again`: it waits until the post succeeds. The library owns source and
// destination until the operation ends.
// Hot path: yes. Threads: the owner's.
#pragma once

#include "scheduler.hpp"

#include <cstdint>

namespace weft::coroutines {

/// `auto there = net.with(peer); const status s = co_await there.put_notify(from, at, 7);` Cheap to copy.
template <complete_fabric F>
class remote {
 public:
  remote(scheduler<F>& s, weft::peer p) noexcept : scheduler_(&s), peer_(p) {}
  weft::peer peer() const noexcept { return peer_; }
  frame_pool& frames() const noexcept { return scheduler_->frames(); }

  auto send(local_memory from) const noexcept {
    return scheduler_->operation([net = &scheduler_->net(), to = peer_, from](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "send") : net->send(to, from, c);
    });
  }
  auto put(local_memory from, const remote_place& at) const noexcept {
    return scheduler_->operation([net = &scheduler_->net(), to = peer_, from, at](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "put") : net->put(to, from, at, c);
    });
  }
  auto put_notify(local_memory from, const remote_place& at, std::uint32_t immediate) const noexcept {
    return scheduler_->operation([net = &scheduler_->net(), to = peer_, from, at, immediate](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "put_notify") : net->put_notify(to, from, at, immediate, c);
    });
  }
  template <weft::detail::wide_immediate Number>
  auto put_notify(local_memory, const remote_place&, Number) const noexcept {
    return weft::detail::refuse_immediate<Number>();
  }
  auto get(local_memory into, const remote_place& at) const noexcept {
    return scheduler_->operation([net = &scheduler_->net(), to = peer_, into, at](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "get") : net->get(to, into, at, c);
    });
  }
  /// Adds to a 64-bit word at an 8-byte aligned place.
  auto fetch_add(const remote_place& at, std::uint64_t operand) const noexcept {
    return scheduler_->template operation<fetched>(
        [net = &scheduler_->net(), to = peer_, at, operand](void* c) noexcept {
          return lost(to) ? error(errc::peer_lost, "fetch_add") : net->fetch_add(to, at, operand, c);
        });
  }
  auto compare_swap(const remote_place& at, std::uint64_t expected, std::uint64_t desired) const noexcept {
    return scheduler_->template operation<fetched>(
        [net = &scheduler_->net(), to = peer_, at, expected, desired](void* c) noexcept {
          return lost(to) ? error(errc::peer_lost, "compare_swap") : net->compare_swap(to, at, expected, desired, c);
        });
  }
  /// The next message of this peer. Errors: deadline, peer_lost, closed.
  auto next_message(duration most) const noexcept { return message_awaiter<scheduler<F>>(*scheduler_, peer_, most); }

 private:
  /// The scheduler repeats posts, and the peer may end meanwhile: a trusted caller cannot test that.
  static bool lost(weft::peer p) noexcept { return answer<F, checks_family>::trusts_caller && !p.alive(); }

  scheduler<F>* scheduler_;
  weft::peer peer_;
};

}  // namespace weft::coroutines
