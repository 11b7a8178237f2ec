// SPDX-License-Identifier: Apache-2.0
//
// The target's side of each operation: access checks, bytes, matching of receives, completions for the owner, and the
// reply to the initiator.
// The checks are those of a card: key, right, range. Hot path: yes. Threads: one.
#pragma once

#include "simulation.hpp"

namespace weft::backends::loopback {

/// The memory of an access, or the reason of its refusal.
struct access {
  std::byte* at = nullptr;
  status outcome{};
};

inline constexpr std::size_t overrun_of_the_planted_bug = 64;

inline access reach(const simulation& sim, const endpoint& target, remote_memory where, std::size_t size,
                    rights asked) {
  const auto found = target.regions.find(where.key);
  if (found == target.regions.end() || !target.row.regions_enabled) return {nullptr, error(errc::denied, "remote key")};
  const region& held = *found->second;
  if (sim.wrong.bug == planted_bug::skipped_rights_check) asked = rights::none;
  if (!grants(held.granted, asked)) return {nullptr, error(errc::denied, "remote rights")};
  const std::uint64_t start =
      target.row.virtual_address ? where.address - reinterpret_cast<std::uintptr_t>(held.base) : where.address;
  const std::size_t slack = sim.wrong.bug == planted_bug::skipped_bound_check ? overrun_of_the_planted_bug : 0;
  if (start > held.size + slack || size > held.size + slack - start)
    return {nullptr, error(errc::out_of_range, "remote range")};
  return {held.base + start, {}};
}

/// Returns the packet to its initiator where the end is unreported; otherwise frees it.
inline void answer(simulation& sim, std::uint32_t index) {
  packet& p = sim.pool[index];
  if (!p.unreported) return sim.pool.give_back(index);
  p.stage = packet_stage::returning;
  sim.time.post(sim.after(sim.wrong.delay_least, sim.wrong.delay_most), due_kind::packet, index);
}

/// Stores the message after the earlier ones in a multi-receive buffer. The library releases the buffer when the
/// largest message may no longer fit. It reports that with the last message or separately: fi_cq(3) permits both, so
/// both happen.
inline void take_into_buffer(simulation& sim, endpoint& target, packet& p, receive_queue& queue) {
  posted_receive& into = queue.posted.front();
  completion_entry entry;
  entry.kind = completion_kind::received;
  entry.context = into.context;
  entry.immediate = p.immediate_given ? narrowed(p.immediate, target.row.send_immediate_bytes) : 0;
  entry.length = p.total();
  entry.at = into.into.data + into.used;
  const bool fits = p.total() <= into.into.size - into.used;
  if (!fits) entry.outcome = error(errc::truncated, "receive");
  else if (p.total() != 0) std::memcpy(entry.at, p.payload.data(), p.total());
  if (fits) into.used += p.total();
  const bool over = !fits || into.into.size - into.used < target.options.least_room;
  const bool apart = over && fits && sim.time.draw.below(2) == 0;
  entry.last = over && !apart;
  const posted_receive spent = into;
  if (over) queue.posted.pop_front();
  overwrite_context(target, spent.context);
  sim.note(trace_event::executed, target.id, static_cast<std::uint64_t>(p.kind), p.total());
  report(sim, target, entry, p.to);
  if (!apart) return;
  completion_entry end;
  end.kind = completion_kind::released;
  end.context = spent.context;
  report(sim, target, end, p.to);
}

inline void take_message(simulation& sim, endpoint& target, packet& p, const posted_receive& into) {
  completion_entry entry;
  entry.kind = completion_kind::received;
  entry.context = into.context;
  entry.immediate = p.immediate_given ? narrowed(p.immediate, target.row.send_immediate_bytes) : 0;
  entry.length = p.total();
  if (p.total() > into.into.size) entry.outcome = error(errc::truncated, "receive");
  else if (p.total() != 0) std::memcpy(into.into.data, p.payload.data(), p.total());
  overwrite_context(target, into.context);
  sim.note(trace_event::executed, target.id, static_cast<std::uint64_t>(p.kind), p.total());
  if (strikes(sim, planted_bug::lost_receive, 13)) return;
  report(sim, target, entry, p.to);
}

inline void report_write(simulation& sim, endpoint& target, const packet& p, void* context) {
  completion_entry entry;
  entry.kind = completion_kind::write_with_immediate;
  entry.context = context;
  entry.immediate = narrowed(p.immediate, target.row.write_immediate_bytes);
  if (sim.wrong.bug == planted_bug::narrow_immediate) entry.immediate &= 0xffff;
  if (context != nullptr) overwrite_context(target, context);
  report(sim, target, entry, p.to);
  if (sim.wrong.bug == planted_bug::double_notification && context == nullptr) report(sim, target, entry, p.to);
}

/// Gives the packet a receive. Requires: a receive is posted.
inline void match(simulation& sim, endpoint& target, receive_queue& queue, std::uint32_t index) {
  packet& p = sim.pool[index];
  if (target.row.many_in_one && p.kind == packet_kind::message) {
    take_into_buffer(sim, target, p, queue);
    return answer(sim, index);
  }
  const posted_receive into = queue.posted.front();
  queue.posted.pop_front();
  if (p.kind == packet_kind::message) take_message(sim, target, p, into);
  else report_write(sim, target, p, into.context);
  answer(sim, index);
}

inline void match_or_starve(simulation& sim, endpoint& target, receive_queue& queue, std::uint32_t index) {
  if (!queue.posted.empty() && queue.starved.empty()) return match(sim, target, queue, index);
  ++target.starved_count;
  sim.note(trace_event::starved, target.id, sim.pool[index].number);
  sim.pool[index].stage = packet_stage::waiting;
  queue.starved.push_back(index);
}

/// Tries messages again that found no receive.
inline void feed(simulation& sim, endpoint& target, receive_queue& queue) {
  while (!queue.starved.empty() && !queue.posted.empty()) {
    const std::uint32_t index = queue.starved.front();
    queue.starved.pop_front();
    match(sim, target, queue, index);
  }
}

inline void copy_in(const packet& p, std::byte* at, std::size_t first, std::size_t last) noexcept {
  if (last > first) std::memcpy(at + first, p.payload.data() + first, last - first);
}

/// Copies the last half of a write's bytes, and reports nothing.
inline void deliver_last_half(simulation& sim, endpoint& target, packet& p) {
  const access found = reach(sim, target, p.where, p.size, rights::remote_write);
  if (found.outcome) copy_in(p, found.at, p.size / 2, p.size);
}

inline void report_before_bytes(simulation& sim, endpoint& target, const packet& p, std::byte* at) {
  report_write(sim, target, p, nullptr);
  std::vector<std::byte> late = p.payload;
  sim.time.post_action(sim.now() + 50'000, [late = std::move(late), at, &target] {
    if (target.open) std::memcpy(at, late.data(), late.size());
  });
}

/// Copies the bytes of a write, unless a planted bug loses, delays or misplaces them.
inline void take_bytes(simulation& sim, const endpoint& target, const packet& p, std::byte* at, bool notifies) {
  if (!notifies && strikes(sim, planted_bug::lost_bytes, 13)) return;
  if (!notifies && sim.wrong.bug == planted_bug::late_bytes) {
    sim.time.post_action(sim.now() + 5'000'000, [late = p.payload, at, &target] {
      if (target.open) std::memcpy(at, late.data(), late.size());
    });
    return;
  }
  if (p.size > 1 && strikes(sim, planted_bug::misplaced_bytes, 13)) {
    std::memcpy(at + 1, p.payload.data(), p.size - 1);
    return;
  }
  copy_in(p, at, 0, p.size);
}

inline void deliver_write(simulation& sim, endpoint& target, std::uint32_t index) {
  packet& p = sim.pool[index];
  access found;
  if (p.size != 0 || !p.dead) found = reach(sim, target, p.where, p.size, rights::remote_write);
  if (!found.outcome) {
    ++target.refused_count;
    sim.note(trace_event::refused, target.id, p.number, static_cast<std::uint64_t>(found.outcome.code));
    if (!target.row.hides_refusal) p.outcome = found.outcome;
    return answer(sim, index);
  }
  const bool notifies = p.immediate_given && !p.immediate_lost;
  if (notifies && sim.wrong.bug == planted_bug::notification_before_bytes && !target.row.consumes) {
    report_before_bytes(sim, target, p, found.at);
    return answer(sim, index);
  }
  take_bytes(sim, target, p, found.at, notifies);
  sim.note(trace_event::executed, target.id, static_cast<std::uint64_t>(p.kind), p.size);
  if (target.row.counts_writes) {
    ++target.counted_writes;
    ++target.events;
    wake_sleeper(sim, target);
  }
  if (!notifies) return answer(sim, index);
  if (target.row.consumes) {
    receive_queue* queue = target.receives_of(p.to);
    return match_or_starve(sim, target, *queue, index);
  }
  report_write(sim, target, p, nullptr);
  answer(sim, index);
}

inline void deliver_read(simulation& sim, endpoint& target, std::uint32_t index) {
  packet& p = sim.pool[index];
  const access found = reach(sim, target, p.where, p.size, rights::remote_read);
  p.outcome = found.outcome;
  p.payload.resize(p.size);
  if (found.outcome && p.size != 0) std::memcpy(p.payload.data(), found.at, p.size);
  if (p.size != 0 && strikes(sim, planted_bug::wrong_read, 7)) p.payload.back() ^= std::byte{1};
  answer(sim, index);
}

inline void deliver_atomic(simulation& sim, endpoint& target, std::uint32_t index) {
  packet& p = sim.pool[index];
  word_change& change = p.change;
  const std::size_t size = size_of(change.type);
  const access found = reach(sim, target, p.where, size, rights::remote_atomic);
  p.outcome = found.outcome;
  if (found.outcome && reinterpret_cast<std::uintptr_t>(found.at) % size != 0)
    p.outcome = error(errc::invalid, "atomic alignment");
  if (p.outcome) {
    std::uint64_t value = 0;
    std::memcpy(&value, found.at, size);
    std::uint64_t next = applied(change.what, change.type, value, change.operand, change.expected);
    if (strikes(sim, planted_bug::lost_addition, 7)) next = value;
    if (strikes(sim, planted_bug::double_addition, 7))
      next = applied(change.what, change.type, next, change.operand, change.expected);
    std::memcpy(found.at, &next, size);
    change.operand = value;
  }
  answer(sim, index);
}

}  // namespace weft::backends::loopback
