// SPDX-License-Identifier: Apache-2.0
//
// The posts of a simulated process, and what must hold at their ends.
// Hot path: no. Threads: one fiber.
#pragma once

#include "node.hpp"

namespace weft::simulation {

template <complete_fabric F>
template <class Post>
bool node<F>::post(connection& c, posted_operation fresh, const_bytes carried, Post&& make) {
  posted_operation& o = run_.operations.emplace_back(fresh);
  o.order = ++run_.order;
  history::record attempt;
  attempt.kind = o.kind;
  attempt.peer = o.to;
  attempt.value = o.value;
  attempt.subject = o.kind == history::work::fetch_add ? o.number : 0;
  attempt.sum = history::sum_of(carried);
  attempt.summed = std::uint8_t{!carried.empty()};
  const instant limit = now() + 4s;
  for (;;) {
    self_.attempt = attempt;
    const status s = make(&o);
    if (s) break;
    self_.attempt.reset();
    o.ended = true;
    if (!s.is_again()) {
      if (s.code == errc::peer_lost) pump(100ms);  // the fabric may know before the event comes
      if (c.usable()) run_.found("refused_post", std::string(name_of(o.kind)) + " was refused: " + describe(s));
      return false;
    }
    if (!c.usable()) return false;
    if (now() > limit) {
      run_.found("stuck", std::string(name_of(o.kind)) + " is never accepted: " + describe(s));
      return false;
    }
    pump(20us);
    if (!c.usable()) return false;
    o.ended = false;
  }
  const instant deadline = o.quiet ? instant{} : now() + operation_timeout + operation_timeout / 10;
  o.id = carried.empty() ? self_.book.posted(o.kind, o.to, now(), deadline, o.value, attempt.subject)
                         : self_.book.posted(o.kind, o.to, now(), deadline, o.value, carried);
  self_.attempt.reset();  // only now: a process may be killed where it reads the clock
  ++run_.result.operations;
  return true;
}

template <complete_fabric F>
void node<F>::ended(peer from, void* context, const status& why, std::uint64_t old) {
  auto& o = *static_cast<posted_operation*>(context);
  if (o.process != self_.number) return run_.found("foreign_end", "an operation of another process ended here");
  self_.book.ended(o.id, now(), why.code, old);
  if (o.ended) return;  // the checker names it
  o.ended = true;
  o.success = bool(why);
  const connection* const c = find(from);
  if (c == nullptr || c->id != o.connection)
    return run_.found("mixed_connections", std::string(name_of(o.kind)) + " ended with another peer");
  if (!why) {
    if (!o.forged) alarm(from, std::string(name_of(o.kind)) + " failed: " + describe(why));
    return;
  }
  if (c->gone && !c->left)
    run_.found("success_after_peer_lost", std::string(name_of(o.kind)) + " succeeded after its peer was lost");
  if (o.forged || killed(o.to)) return;
  if (o.kind == history::work::get) check_bytes(o);
  if (o.kind == history::work::other) check_flush(o);
}

/// A read must have brought the target's bytes.
template <complete_fabric F>
void node<F>::check_bytes(const posted_operation& o) {
  process_state* const target = run_.process(o.to);
  self_.book.acknowledged(o.id, now(), target->area.inside().subspan(readable_at + o.value, o.size),
                          source_bytes(o.number, o.size));
}

/// Each write that was posted before the flush must be visible now, or have failed.
template <complete_fabric F>
void node<F>::check_flush(const posted_operation& flushed) {
  process_state* const target = run_.process(flushed.to);
  for (const posted_operation& o : run_.operations) {
    if (o.process != self_.number || o.connection != flushed.connection || o.order >= flushed.order) continue;
    const bool writes = o.kind == history::work::put || o.kind == history::work::put_notify;
    if (!writes || o.quiet || o.forged || o.id == 0 || (o.ended && !o.success)) continue;
    self_.book.acknowledged(o.id, now(), source_bytes(o.number, o.size),
                            target->area.inside().subspan(slot_at(o.number), o.size));
  }
}

template <complete_fabric F>
void node<F>::send(connection& c, std::uint32_t number, std::uint32_t size, bool quiet, bool gathered) {
  const message_head head{message_head{}.mark, self_.number, number,
                          std::max<std::uint32_t>(size, sizeof(message_head))};
  const local_memory from = source(number, head.size);
  std::memcpy(from.data, &head, sizeof head);
  posted_operation o = about(c, history::work::send, number, head.size);
  o.value = number;
  o.quiet = quiet;
  const auto at = slot_at(number);
  const std::uint32_t half = head.size / 2;
  const std::array<local_memory, 2> pieces{sources_.slice(at, half), sources_.slice(at + half, head.size - half)};
  post(c, o, source_bytes(number, head.size), [&](posted_operation* context) {
    if (gathered) return net_->send(c.handle, gather_list(pieces), context);
    return quiet ? net_->send(c.handle, from) : net_->send(c.handle, from, context);
  });
}

template <complete_fabric F>
void node<F>::put(connection& c, const remote_region& there, std::uint32_t number, std::uint32_t size, bool gathered) {
  const local_memory from = source(number, size);
  const auto at = slot_at(number);
  const std::array<local_memory, 2> pieces{sources_.slice(at, size / 2),
                                           sources_.slice(at + size / 2, size - size / 2)};
  post(c, about(c, history::work::put, number, size), source_bytes(number, size), [&](posted_operation* context) {
    if (gathered && size > 1) return net_->put(c.handle, gather_list(pieces), there.at(at), context);
    return net_->put(c.handle, from, there.at(at), context);
  });
}

template <complete_fabric F>
void node<F>::put_notify(connection& c, const remote_region& there, std::uint32_t number, std::uint32_t size,
                         bool quiet) {
  const local_memory from = source(number, size);
  run_.sizes[{self_.number, number}] = size;
  posted_operation o = about(c, history::work::put_notify, number, size);
  o.value = immediate(number);
  o.quiet = quiet;
  post(c, o, source_bytes(number, size), [&](posted_operation* context) {
    const remote_place at = there.at(slot_at(number));
    return quiet ? net_->put_notify(c.handle, from, at, immediate(number))
                 : net_->put_notify(c.handle, from, at, immediate(number), context);
  });
}

/// Two puts and a put_notify that go out together. A member that is refused is left out.
template <complete_fabric F>
void node<F>::batch(connection& c, const remote_region& there, const step& s) {
  const std::uint32_t first = s.number * writes_per_step;
  auto all = net_->batch(c.handle);
  for (std::uint32_t i = 0; i < 2 && c.usable(); ++i) {
    const local_memory from = source(first + i, s.size);
    (void)all.put(from, there.at(slot_at(first + i)));
  }
  const std::uint32_t last = first + 2;
  const local_memory from = source(last, s.size);
  run_.sizes[{self_.number, last}] = s.size;
  posted_operation o = about(c, history::work::put_notify, last, s.size);
  o.value = immediate(last);
  o.quiet = true;
  post(c, o, source_bytes(last, s.size),
       [&](posted_operation*) { return all.put_notify(from, there.at(slot_at(last)), immediate(last)); });
  if (const status closed = all.close(); !closed && !closed.is_again())
    run_.connections[c.id].broken = run_.connections[c.id].broken || !c.usable();
}

template <complete_fabric F>
void node<F>::get(connection& c, const remote_region& there, std::uint32_t number, std::uint32_t size) {
  posted_operation o = about(c, history::work::get, number, size);
  o.value = number % (readable_bytes - most_bytes);
  const local_memory into = sources_.slice(slot_at(number), size);
  post(c, o, {},
       [&](posted_operation* context) { return net_->get(c.handle, into, there.at(readable_at + o.value), context); });
}

template <complete_fabric F>
void node<F>::atomics(connection& c, const remote_region& there, const step& s) {
  const auto which = static_cast<std::uint32_t>(s.draw % 4);
  const bool adds = s.what == action::fetch_add;
  posted_operation o = about(c, adds ? history::work::fetch_add : history::work::compare_swap, which, 8);
  o.value = adds ? 1 + s.draw / 4 % 7 : 0;
  const remote_place at = there.at((adds ? which : 4 + which) * sizeof(std::uint64_t));
  post(c, o, {}, [&](posted_operation* context) {
    return adds ? net_->fetch_add(c.handle, at, o.value, context)
                : net_->compare_swap(c.handle, at, s.draw / 8 % 3, s.draw / 32 % 3, context);
  });
}

template <complete_fabric F>
void node<F>::flush(connection& c, std::uint32_t number) {
  if constexpr (flushes<F>)
    post(c, about(c, history::work::other, number, 0), {},
         [&](posted_operation* context) { return net_->flush(c.handle, context); });
}

template <complete_fabric F>
void node<F>::wrong_post(connection& c, const remote_region& there, const step& s) {
  const local_memory from = source(s.number * writes_per_step, 100);
  const auto read_only = net_->parse_region(run_.process(c.other)->read_only_description);
  if (!read_only) return run_.found("unknown_region", read_only.error().sentence);
  const bool bound = s.draw % 2 == 0;
  const status said =
      bound ? net_->put(c.handle, from, there.at(there.size() - 50)) : net_->put(c.handle, from, read_only->at(0));
  if (said && bound) run_.found("skipped_bound_check", "a put past the end of a region was accepted");
  if (said && !bound) run_.found("skipped_rights_check", "a put into a region without the right was accepted");
}

template <complete_fabric F>
void node<F>::forged_post(connection& c, remote_place at, const step& s) {
  at.room = 1U << 20;
  at.granted = rights::all;
  const local_memory from = source(s.number * writes_per_step, 64);
  posted_operation o = about(c, history::work::other, s.number * writes_per_step, 64);
  o.forged = true;
  post(c, o, {}, [&](posted_operation* context) { return net_->put(c.handle, from, at, context); });
}

}  // namespace weft::simulation
