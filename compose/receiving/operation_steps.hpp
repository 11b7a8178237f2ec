// SPDX-License-Identifier: Apache-2.0
//
// Operations of several calls: the next call after one has ended, the end of the last one, and deferred calls that are
// tried again. No handler runs here but for the members of a failed group: the caller reports the end, so this code is
// compiled once for each fabric. Hot path: no; such operations move much, or wait for a peer. Threads: the owner's.
#pragma once

#include "../engine/rare_calls.hpp"
#include "../posting/atomics.hpp"
#include "../posting/flushing.hpp"
#include "../posting/group_packing.hpp"
#include "../posting/initiator.hpp"
#include "../posting/notice_batching.hpp"

namespace weft::detail {

template <class Engine>
class operation_steps {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using ended = ended_operation<record>;

  operation_steps(Engine& e, erased_handler on) noexcept : e_(e), on_(on) {}

  /// One of the operation's calls, or the reply that it waits for, has ended. True: the operation has ended too, and
  /// the caller reports `done`.
  bool end_of(slot& s, status outcome, ended& done) {
    if (s.use == slot_use::abandoned) {
      e_.release(s);
      return false;
    }
    if (!outcome && s.fault == errc::ok) s.fault = outcome.code;
    --s.pending;
    if (s.stage >= stage::delivering) [[unlikely]]
      if (!next_call(s)) return false;
    return s.pending == 0 && finish(s, outcome, done);
  }

  /// Continues a deferred operation. True: it has ended, and the caller reports `done`.
  bool continue_deferred(slot& s, ended& done) {
    switch (s.stage) {
      case stage::ending:
        break;
      case stage::splitting:
        parts<Engine>(e_).retry(s);
        break;
      case stage::looping:
        if constexpr (Engine::swap_loops) atomic_posts<Engine>(e_).resume(s);
        if (s.fault == errc::ok) return false;
        break;
      case stage::grouped:
        if (!group_packing<Engine>(e_).resume(s)) return false;
        break;
      case stage::confirming:
      case stage::replying:
        flushing<Engine>(e_).ask_or_defer(s);
        break;
      default:
        if (Engine::batches_notices) return notice_batching<Engine>(e_).send(s), false;
        initiator<Engine>(e_).send_notice(s);
    }
    return s.pending == 0 && finish(s, {}, done);
  }

 private:
  /// Makes the next call of an operation that takes several. False: the operation continues, also if `pending` is 0.
  bool next_call(slot& s) {
    if constexpr (Engine::swap_loops)
      if (s.stage == stage::looping) return s.fault != errc::ok || atomic_posts<Engine>(e_).step(s);
    if (s.stage == stage::splitting) {
      parts<Engine>(e_).part_ended(s);
      return true;
    }
    if (s.stage == stage::confirming) {
      s.stage = stage::replying;  // the peer's answer is still to come
      return true;
    }
    s.stage = stage::noticing;
    if (s.fault != errc::ok) s.pending = 0;
    else if (Engine::batches_notices) e_.defer(s);  // sent at the end of this poll, with others to the same peer
    else initiator<Engine>(e_).send_notice(s);
    return true;
  }

  bool finish(slot& s, status outcome, ended& done) {
    if (s.fault != errc::ok && outcome) outcome = error(s.fault, name_of(s.what));
    if (!outcome && s.stage == stage::grouped) [[unlikely]]
      return group_packing<Engine>(e_).fail(s, ended::reported_as(*s.record, outcome), on_), false;
    done = ended::of_slot(s, outcome);
    if (s.parent != nullptr) {
      slot& parent = *s.parent;
      e_.release(s);
      if (Engine::batches_notices && parent.stage == stage::noticing && parent.what == operation::put_notify)
        return notice_batching<Engine>(e_).reported(parent, outcome), false;
      return end_of(parent, outcome, done);
    }
    e_.release(s);
    return true;
  }

  Engine& e_;
  erased_handler on_;
};

}  // namespace weft::detail
