// SPDX-License-Identifier: Apache-2.0
//
// The longer members of the loopback's port: checks of each post, and the owner's turn.
// Hot path: yes. Threads: one owner.
#pragma once

#include "port.hpp"

#include <algorithm>

namespace weft::backends::loopback {

template <port_shape Shape>
port<Shape>::port(simulation& sim, std::shared_ptr<endpoint> at) : sim_(sim), at_(std::move(at)) {
  limits_.inject_bytes = facts.inject_bytes;
  limits_.queue_depth = std::max<std::size_t>(at_->options.operations, facts.queue_depth);
  limits_.largest_message = facts.largest_message;
  limits_.largest_write = facts.largest_write;
  limits_.library = "loopback";
}

template <port_shape Shape>
status port<Shape>::check(const order& asked, const char* operation) const noexcept {
  const behaviour& row = at_->row;
  if (!at_->open) return error(errc::closed, operation);
  const bool write = asked.kind == packet_kind::write;
  if (asked.mode == post_mode::delivered && !row.delivers) return error(errc::unsupported, operation);
  if (write && asked.has_immediate && (!Shape::write_immediate || row.write_immediate_bytes == 0))
    return error(errc::unsupported, operation);
  if (asked.copied && asked.size() > row.inject_bytes) return error(errc::invalid, operation);
  const std::uint64_t most = asked.kind == packet_kind::message ? row.largest_message : row.largest_write;
  if (asked.header.size() + asked.size() > most) return error(errc::out_of_range, operation);
  // The header of a framed message is its first piece.
  if (asked.rest.size() + 1 > (asked.kind == packet_kind::message ? facts.gather_limit : facts.rma_gather_limit))
    return error(errc::invalid, operation);
  if (asked.copied) return {};
  for (const local_memory& each : asked.rest)
    if (!registered(*at_, each.descriptor, each.data, each.size)) return error(errc::invalid, operation);
  const bool here =
      registered(*at_, asked.local.descriptor, asked.local.data, asked.local.size) &&
      (asked.header.empty() || registered(*at_, asked.header_descriptor, asked.header.data(), asked.header.size()));
  return here ? status{} : error(errc::invalid, operation);
}

template <port_shape Shape>
status port<Shape>::post(const order& asked, const char* operation) noexcept {
  if (const status wrong = check(asked, operation); !wrong) return wrong;
  if (const status turned = admit(sim_, *at_, asked.which, operation); !turned) return turned;
  const std::uint32_t index = take_packet(sim_, *at_, asked.which, asked.kind, asked.mode, asked.context);
  packet& p = sim_.pool[index];
  p.local = asked.local.data;
  p.size = asked.size();
  std::copy(asked.rest.begin(), asked.rest.end(), p.rest.begin());
  p.rest_count = asked.rest.size();
  p.header = asked.header.data();
  p.header_size = asked.header.size();
  p.where = asked.remote;
  p.immediate = asked.immediate;
  p.immediate_given = asked.has_immediate;
  p.injected = asked.copied;
  set_out(sim_, *at_, index);
  return {};
}

template <port_shape Shape>
status port<Shape>::atomic(const word_change& asked, link which, void* descriptor, remote_memory at,
                           void* context) noexcept {
  constexpr const char* operation = "atomic";
  if (!at_->open) return error(errc::closed, operation);
  if (!at_->row.atomics) return error(errc::unsupported, operation);
  if (!registered(*at_, descriptor, reinterpret_cast<const std::byte*>(asked.old), 3 * sizeof *asked.old))
    return error(errc::invalid, operation);
  if (const status turned = admit(sim_, *at_, which, operation); !turned) return turned;
  asked.old[1] = asked.operand;  // Libraries that read operands late keep them here.
  asked.old[2] = asked.expected;
  const std::uint32_t index = take_packet(sim_, *at_, which, packet_kind::atomic, post_mode::signalled, context);
  packet& p = sim_.pool[index];
  p.change = asked;
  p.where = at;
  set_out(sim_, *at_, index);
  return {};
}

template <port_shape Shape>
void port<Shape>::turn() {
  if (!at_->open) return;
  if (sim_.time.draw.hits(sim_.wrong.pause)) {
    node_state& node = sim_.nodes[at_->node];
    node.paused_until = std::max(node.paused_until, sim_.after(sim_.wrong.pause_least, sim_.wrong.pause_most));
    sim_.note(trace_event::paused, at_->node);
  }
  sim_.time.pass(sim_.time.draw.between(sim_.cost.poll_least, sim_.cost.poll_most).count());
  progress(sim_, *at_);
}

template <port_shape Shape>
template <class On>
int port<Shape>::poll(On&& on) {
  turn();
  at_->events_seen = at_->events;
  int reported = 0;
  if constexpr (Shape::two_queues) {  // The queues are read one after the other: receives, then transmits.
    std::array<completion_entry, 16> read;
    for (; reported < 16 && !at_->completions.empty(); at_->completions.pop_front())
      read[static_cast<std::size_t>(reported++)] = at_->completions.front().entry;
    std::stable_partition(read.begin(), read.begin() + reported,
                          [](const completion_entry& each) { return each.kind != completion_kind::ended; });
    for (int i = 0; i < reported; ++i) on(read[static_cast<std::size_t>(i)]);
  } else {
    for (; reported < 16 && !at_->completions.empty(); ++reported) {
      const completion_entry next = at_->completions.front().entry;
      at_->completions.pop_front();
      on(next);
    }
  }
  return reported;
}

template <port_shape Shape>
template <class On>
void port<Shape>::poll_links(On&& on) {
  turn();
  for (std::size_t budget = at_->link_events.size(); budget != 0 && !at_->link_events.empty(); --budget) {
    const link_event next = at_->link_events.front();
    at_->link_events.pop_front();
    if (next.what == link_change::arrived) {
      const link_name fresh = offer_link(*at_, next.dialler);
      const std::uint32_t tag = on(link_change::arrived, no_tag, fresh);
      answer_dial(sim_, *at_, fresh, tag);
      continue;
    }
    link_state* held = at_->find(next.at);
    if (held == nullptr) continue;
    if (next.what == link_change::established && held->phase != link_phase::lost) held->phase = link_phase::open;
    (void)on(next.what, held->tag, next.at);
  }
}

template <port_shape Shape>
status port<Shape>::wait(instant until) noexcept {
  if (!at_->open) return error(errc::closed, "wait");
  if (!at_->options.sleeps) return error(errc::invalid, "wait");
  const bool for_ever = until == instant::max();
  std::int64_t end = until.time_since_epoch().count();
  if (!for_ever) end -= sim_.nodes[at_->node].clock_ahead;
  if (!for_ever && sim_.wrong.bug == planted_bug::forgotten_deadline) end += 200'000'000;
  if (at_->has_events() || sim_.time.draw.hits(sim_.wrong.spurious_wake)) {
    sim_.time.pass(sim_.cost.clock.count());
    return {};
  }
  const bool woken = doze(sim_, *at_, for_ever ? never : end);
  // Outside fibers, doze returns only when nothing will ever happen.
  const bool in_fiber = sim_.time.running() != no_index;
  if (woken || (in_fiber && sim_.now() < end)) return {};
  return error(errc::deadline, "wait");
}

}  // namespace weft::backends::loopback
