// SPDX-License-Identifier: Apache-2.0
//
// Transfers that one library call cannot carry: posted part by part, a few at a time, and ended as one operation.
// Forced by rows that bound the bytes of a write or the pieces of a call. Each part has a slot whose parent is the
// operation's own slot. The last part of a put_notify is an ordinary put_notify in the operation's own slot, posted
// when all other parts are delivered. Without completions of delivery the row must keep writes in order. Hot path: only
// of such transfers. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "../engine/transfer_plan.hpp"

#include <cstdint>

namespace weft::detail {

template <class Engine>
class initiator;
template <class Engine>
class flushing;
template <class Engine>
class ring_posts;
template <class Engine>
class rare_posts;

template <class Engine>
class parts {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using fabric = typename Engine::fabric;
  using notify_answer = answer<fabric, notify_family>;
  static constexpr const fabric_facts& facts = fabric::facts;

  static constexpr bool bounded = facts.largest_write < unlimited / 2;
  /// Pieces of one library call, no more than callers may give.
  static constexpr std::size_t write_pieces =
      std::min<std::size_t>(gather_limit, std::min(facts.gather_limit, facts.rma_gather_limit));
  static constexpr std::size_t send_pieces =
      std::min<std::size_t>(gather_limit, facts.gather_limit - std::size_t{Engine::framed});
  static constexpr std::uint8_t at_once = 4;
  static constexpr bool fuses = false;  ///< The last part is no small payload: it goes as a write.
  /// How the parts that a notice waits for are posted.
  static constexpr post_mode settled = facts.delivery_complete ? post_mode::delivered : post_mode::signalled;
  /// Whether a notice can come after several parts. Not possible where the notice is on the last part, nothing orders
  /// that part, and no completion means delivered.
  static constexpr bool notices_after_parts =
      !notify_answer::rides_on_write || facts.delivery_complete || facts.order_write_after_write;

  explicit parts(Engine& e) noexcept : e_(e) {}

  static bool too_large(const Engine& e, std::uint64_t size) noexcept {
    if constexpr (bounded) return size > e.port->limits().largest_write;
    else return false;
  }

  /// Begins a transfer that ends as one operation. `delivered`: the mode of a put's parts. `again`: nothing was posted.
  [[gnu::noinline]] status begin(record& r, operation what, gather_list from, remote_memory to, std::uint32_t immediate,
                                 void* context, bool signalled, bool delivered, bool confirm = false) noexcept {
    if constexpr (!notices_after_parts)
      if (what == operation::put_notify)
        return error(errc::unsupported, "put_notify in parts (no order_write_after_write, no delivery_complete)");
    slot* o = claim(r, what, context);
    if (o == nullptr) return again(waits_for::operation_slot, name_of(what));
    const std::uint32_t index = e_.plans.take();
    if (index == no_index) {
      e_.release(*o);
      return again(waits_for::operation_slot, name_of(what));
    }
    if (!signalled) o->use = slot_use::silent;
    fill(*o, index, what, from, to, immediate, delivered);
    e_.plans.at(index).confirm = confirm;
    const status s = advance(*o);
    if (s || o->pending != 0) {
      if (s.is_again()) defer(*o);
      return {};
    }
    e_.plans.give(index);
    e_.release(*o);
    return s;
  }

  /// Takes the last member of a batch that the queue had no room for: progress() tries it again. Cold.
  [[gnu::cold]] void leave(record& r, operation what, const local_memory& from, remote_memory to,
                           std::uint32_t immediate, status why) {
    if (e_.operations.left() == 0) e_.add_slots();
    slot& o = *e_.operations.take();
    e_.claim(o, slot_use::silent, what, &r, nullptr);
    std::uint32_t index = e_.plans.take();
    if (index == no_index) {
      e_.plans.fill(4);
      index = e_.plans.take();
    }
    fill(o, index, what, {&from, 1}, to, immediate, Engine::write_mode == post_mode::delivered);
    if (!why.is_again()) fail(o, why);
    defer(o);
  }

  /// A part ended, and `o.pending` no longer counts it. Afterwards `o.pending` is 0 if the operation has ended.
  void part_ended(slot& o) noexcept {
    o.posted = e_.tick;
    carry_on(o);
  }
  /// The operation was deferred, and its turn has come.
  void retry(slot& o) noexcept {
    plan_of(o).deferred = false;
    --o.pending;
    carry_on(o);
  }

  // ---- posts of the notify answers
  status write_with_immediate(const last_write<Engine>& w) noexcept {
    slot& o = *w.slot;
    record& r = *o.record;
    o.stage = stage::single;
    const std::uint64_t immediate = initiator<Engine>::immediate_word(r, o.immediate);
    if constexpr (write_pieces > 1)
      if (w.from->count() > 1)
        return e_.port->template write_gather_immediate<Engine::write_mode>(r.link, w.from->list(), w.to, immediate,
                                                                            &o);
    if constexpr (Engine::write_mode == post_mode::delivered)
      if (w.from->count() == 0) {  // rare_posts::notice_alone
        std::byte body[4];
        wire::encode(o.immediate, body);
        return e_.tell(r, wire::message_kind::notify, body, &o);
      }
    return e_.port->template write_immediate<Engine::write_mode>(r.link, w.from->front(), w.to, immediate, &o);
  }
  status write_then_message(const last_write<Engine>& w) noexcept {
    return write_first<Engine::write_mode>(w, stage::noticing);
  }
  status write_delivered_then_message(const last_write<Engine>& w) noexcept {
    return write_first<post_mode::delivered>(w, stage::delivering);
  }
  status write_then_ring(const last_write<Engine>& w) noexcept {
    const record& r = *w.slot->record;
    if (r.ring_posted - r.ring_credited >= r.ring.entries) return again(waits_for::receive_slot, "put_notify");
    return write_first<Engine::write_mode>(w, stage::writing);
  }

  status write_watched(const last_write<Engine>& w) noexcept {
    if constexpr (ring_posts<Engine>::large_ride) return write_with_immediate(w);
    slot& o = *w.slot;
    if (!ring_posts<Engine>(e_).has_room_after_deferred(*o.record)) return again(waits_for::receive_slot, "put_notify");
    const status s = write<Engine::write_mode>(o, *w.from, w.to, &o);
    if (s) ring_posts<Engine>(e_).notice_of(o, w.to, w.from->count() == 0 ? 0 : total_of(w.from->list()));
    return s;
  }

 private:
  transfer_plan& plan_of(const slot& o) noexcept { return e_.plans.at(plan_index(o)); }
  static std::uint32_t plan_index(const slot& o) noexcept { return static_cast<std::uint32_t>(o.scratch[2]); }

  slot* claim(record& r, operation what, void* context) noexcept {
    slot* o = e_.operations.take_above();
    if (o != nullptr) e_.claim(*o, slot_use::user, what, &r, context);
    return o;
  }

  void fill(slot& o, std::uint32_t index, operation what, gather_list from, remote_memory to, std::uint32_t immediate,
            bool delivered) noexcept {
    transfer_plan& p = e_.plans.at(index);
    p.set(from, to);
    p.what = what;
    p.deferred = false;
    p.delivered = delivered;
    p.confirm = false;
    p.ends_with_notice = what == operation::put_notify || what == operation::send;
    o.immediate = immediate;
    o.scratch[0] = 0;
    o.scratch[2] = index;
    o.stage = stage::splitting;
    o.pending = 0;
  }

  /// Posts nothing more. The operation ends in this error when its posted parts have ended.
  void fail(slot& o, status why) noexcept {
    if (o.fault == errc::ok) o.fault = why.code;
    transfer_plan& p = plan_of(o);
    p.at.left = 0;
    p.ends_with_notice = false;
  }

  void defer(slot& o) noexcept {
    if (o.stage != stage::splitting) return;
    transfer_plan& p = plan_of(o);
    if (p.deferred) return;
    p.deferred = true;
    ++o.pending;
    e_.defer(o);
  }

  void carry_on(slot& o) noexcept {
    const transfer_plan& p = plan_of(o);
    if (p.deferred) return;
    if (o.fault != errc::ok) fail(o, error(o.fault, name_of(o.what)));
    if (advance(o).is_again()) return defer(o);
    if (o.stage != stage::splitting || o.pending != 0) return;
    [[maybe_unused]] const bool confirm = p.confirm && o.fault == errc::ok;
    e_.plans.give(plan_index(o));
    o.stage = stage::single;
    if constexpr (answer<fabric, flush_family>::by_message)
      if (confirm) flushing<Engine>(e_).confirm_ended(o);
  }

  /// Posts what may be posted now. Returns: ok, `again` if a due part had no room, or the error that ended it.
  status advance(slot& o) noexcept {
    transfer_plan& p = plan_of(o);
    while (p.at.left != 0 || p.ends_with_notice) {
      if (o.pending >= at_once) return {};
      const bool message = p.what == operation::send;
      piece_list part;
      const transfer_cursor after = p.cut(message ? send_pieces : write_pieces,
                                          message || !bounded ? unlimited : e_.port->limits().largest_write, part);
      const bool last = p.ends_with_notice && after.left == 0;
      if (last && o.pending != 0) return {};
      const status s = last ? post_last(o, part, p.at.to) : post_part(o, part, p);
      if (s.is_again()) return s;
      if (!s) {
        fail(o, s);
        return s;
      }
      if (last) return {};
      p.at = after;
      ++o.pending;
    }
    return {};
  }

  status post_part(slot& o, const piece_list& part, const transfer_plan& p) noexcept {
    slot* s = claim(*o.record, o.what, nullptr);
    if (s == nullptr) return again(waits_for::operation_slot, name_of(o.what));
    s->use = slot_use::control;
    s->parent = &o;
    status posted;
    if (p.what == operation::get) posted = read(o, part, p.at.to, s);
    else if (p.what == operation::put_notify || p.delivered) posted = write<settled>(o, part, p.at.to, s);
    else posted = write<post_mode::signalled>(o, part, p.at.to, s);
    if (!posted) e_.release(*s);
    return posted;
  }

  status post_last(slot& o, const piece_list& part, remote_memory to) noexcept {
    const std::uint32_t index = plan_index(o);
    o.pending = 1;
    const status s =
        o.what == operation::send ? message(o, part) : notify_answer::post(*this, last_write<Engine>{&o, &part, to});
    if (s) {
      e_.plans.give(index);
    } else {
      o.pending = 0;
      o.stage = stage::splitting;
    }
    return s;
  }

  status message(slot& o, const piece_list& part) noexcept {
    const local_memory from = part.count() == 0 ? local_memory{} : part.front();
    o.stage = stage::single;
    if constexpr (Engine::framed) {
      if (o.buffer == no_index) o.buffer = e_.controls.take();
      if (o.buffer == no_index) return again(waits_for::operation_slot, "send");
      o.stage = stage::buffered;
      const auto tag = Engine::tag_of(wire::message_kind::user, *o.record);
      return Engine::counted(*o.record, rare_posts<Engine>::post_framed(e_, *o.record, from, tag, o));
    } else {
      return Engine::counted(*o.record, e_.port->template send<post_mode::signalled>(
                                            o.record->link, from, Engine::user_immediate(*o.record), &o));
    }
  }

  template <post_mode M>
  status write(slot& o, const piece_list& part, remote_memory to, slot* context) noexcept {
    if constexpr (write_pieces > 1)
      if (part.count() > 1) return e_.port->template write_gather<M>(o.record->link, part.list(), to, context);
    return e_.port->template write<M>(o.record->link, part.front(), to, context);
  }
  status read(slot& o, const piece_list& part, remote_memory from, slot* context) noexcept {
    if constexpr (write_pieces > 1)
      if (part.count() > 1) return e_.port->read_scatter(o.record->link, part.list(), from, context);
    return e_.port->read(o.record->link, part.front(), from, context);
  }

  template <post_mode M>
  status write_first(const last_write<Engine>& w, stage first) noexcept {
    slot& o = *w.slot;
    o.stage = first;
    const status s = write<M>(o, *w.from, w.to, &o);
    if (!s) return s;
    if constexpr (Engine::uses_ring) o.sequence = ++o.record->ring_posted;
    o.pending = 2;  // the write's completion, and the notice
    if (first != stage::delivering) initiator<Engine>(e_).send_notice(o);
    return s;
  }

  Engine& e_;
};

}  // namespace weft::detail
