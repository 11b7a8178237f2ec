// SPDX-License-Identifier: Apache-2.0
//
// The life of a simulated process: it opens, carries out its steps, and ends everything in order.
// Hot path: no. Threads: one fiber.
#pragma once

#include "node_posts.hpp"

#include <algorithm>
#include <utility>

namespace weft::simulation {

inline constexpr std::uint64_t readable_pattern = 0xfffff;
inline constexpr std::byte canary{0xc7};

template <complete_fabric F>
bool node<F>::open() {
  transport_options o;
  o.node = "127.0.0.1";
  o.service = std::to_string(7000 + self_.node);
  o.listens = true;
  o.sleeps = true;
  o.max_message_bytes = 1024;
  o.receives = 16;
  o.operations = most_operations;
  o.peers = 48;
  o.pending = 32;
  o.operation_timeout = operation_timeout;
  o.silence_limit = silence_limit;
  const auto again_and_again = [&](auto&& make) {
    auto made = make();
    for (int i = 0; !made && made.why().code == errc::no_memory && i < 200; ++i) {
      loopback::sleep_for(100us);
      made = make();
    }
    if (!made) run_.found("refused_set_up", made.error().sentence);
    return made;
  };
  auto net = again_and_again([&] { return weft::open<F>(o); });
  if (!net) return false;
  net_ = std::make_unique<transport<F>>(std::move(*net));
  paint(self_.area.inside().subspan(readable_at, readable_bytes), self_.number, readable_pattern);
  auto area = again_and_again([&] { return net_->register_region(self_.area.inside(), rights::all); });
  auto plain = again_and_again([&] { return net_->register_region(self_.read_only.inside(), rights::remote_read); });
  auto sources = again_and_again([&] { return net_->register_region(self_.sources.inside(), rights::none); });
  if (!area || !plain || !sources) return false;
  area_ = std::move(*area);
  read_only_ = std::move(*plain);
  sources_ = std::move(*sources);
  self_.area_description = net_->export_region(area_, owner_polls);
  self_.read_only_description = net_->export_region(read_only_, owner_polls);
  for (std::uint32_t i = 0; i < 4; ++i) self_.book.counter_start(now(), i, 0);
  run_.living[self_.node] = &self_;
  run_.addresses[self_.node] = net_->listen_address();
  return true;
}

template <complete_fabric F>
const step* node<F>::take_step() {
  std::size_t& at = run_.next_step[self_.node];
  const auto& all = run_.planned.steps;
  while (at < all.size() && all[at].node != self_.node) ++at;
  return at < all.size() ? &all[at++] : nullptr;
}

template <complete_fabric F>
auto node<F>::dial(std::uint16_t other) -> connection* {
  for (const instant limit = now() + 50ms; !run_.addresses.contains(other);) {
    if (now() > limit) return nullptr;
    pump(200us);
  }
  const std::uint32_t id = std::uint32_t{self_.number} << 16 | ++dials_;
  connection& c = links_.emplace_back();
  c.id = id;
  c.node = other;
  c.dialled = true;
  shared_connection& both = run_.connections[id];
  both.process[0] = self_.number;
  const greeting mine{self_.number, self_.node, id};
  // Where an address travels over a side channel, the call waits for it, and polls nothing meanwhile. A program that
  // needs its deadlines calls it without operations under way.
  if constexpr (answer<F, bootstrap_family>::side_channel)
    for (const instant limit = now() + 1s; net_->in_flight() > 0 && now() < limit;) pump(1ms);
  const auto made = net_->start_connect(run_.addresses[other], std::as_bytes(std::span(&mine, 1)));
  if (!made) {
    c.gone = both.broken = true;
    return nullptr;
  }
  c.handle = *made;
  for (const instant limit = now() + 4s; !c.up && !c.gone && now() < limit;) pump(1ms);
  if (c.up || c.gone) return c.usable() ? &c : nullptr;
  // Where the fabric reports no death, a dial of a dead process has no end of its own.
  if (F::facts.reports_killed_peer && F::facts.endpoint_type == endpoint_type::connected)
    run_.found("unended_dial", "a dial ends neither in a connection nor in an error");
  (void)net_->close(c.handle, 100ms, *this);
  c.gone = c.left = both.broken = true;
  return nullptr;
}

template <complete_fabric F>
auto node<F>::connection_to(std::uint16_t other, std::uint64_t draw, bool fresh) -> connection* {
  std::vector<connection*> there;
  std::size_t held = 0;
  for (connection& each : links_) {
    held += std::size_t{!each.gone};
    if (each.node == other && each.usable() && !killed(each.other)) there.push_back(&each);
  }
  if (!fresh && !there.empty() && (draw % 8 != 0 || held > 8)) return there[draw / 8 % there.size()];
  return dial(other);
}

template <complete_fabric F>
void node<F>::carry_out(const step& s) {
  pump(s.before);
  if (s.what == action::regions) return change_regions();
  if (s.what == action::rest) {
    const instant until = now() + 1ms + duration(s.draw % 20'000'000);
    const std::uint64_t id = self_.book.posted(history::work::wait, 0, now(), until);
    pump(until - now());
    return self_.book.ended(id, now(), errc::deadline);
  }
  connection* const c = connection_to(s.other, s.draw, false);
  if (c == nullptr) return;
  if (s.what == action::close) return close(*c);
  act(*c, s);
}

template <complete_fabric F>
void node<F>::act(connection& c, const step& s) {
  process_state* const target = run_.process(c.other);
  const auto there = net_->parse_region(target->area_description);
  if (!there) return run_.found("unknown_region", there.error().sentence);
  const std::uint32_t number = s.number * writes_per_step;
  switch (s.what) {
    case action::send:
    case action::quiet_send:
    case action::gather_send:
      return send(c, number, s.size, s.what == action::quiet_send, s.what == action::gather_send);
    case action::put:
    case action::gather_put:
      return put(c, *there, number, s.size, s.what == action::gather_put);
    case action::put_notify:
    case action::quiet_put_notify:
      return put_notify(c, *there, number, s.size, s.what == action::quiet_put_notify);
    case action::batch:
      return batch(c, *there, s);
    case action::get:
      return get(c, *there, number, s.size);
    case action::fetch_add:
    case action::compare_swap:
      return atomics(c, *there, s);
    case action::flush:
      return flush(c, number);
    case action::wrong_post:
      return wrong_post(c, *there, s);
    case action::forged_post: {
      if (s.draw % 2 == 0) return forged_post(c, there->at(there->size() - 8), s);
      const auto plain = net_->parse_region(target->read_only_description);
      return forged_post(c, plain.value().at(0), s);
    }
    default: {
      if (target->further.empty()) return;
      const auto& region = target->further[s.draw / 8 % target->further.size()];
      const auto stale = net_->parse_region(region.description);
      return forged_post(c, stale.value().at(0), s);
    }
  }
}

template <complete_fabric F>
void node<F>::close(connection& c) {
  shared_connection& both = run_.connections[c.id];
  c.left = both.left[c.side()] = true;
  const status s = net_->close(c.handle, 500ms, *this);
  both.in_order[c.side()] = s && !c.gone;
  both.broken = both.broken || !s;
  c.gone = true;
}

/// Registers a further region, or deregisters the oldest one.
template <complete_fabric F>
void node<F>::change_regions() {
  for (std::size_t i = 0; i < further_.size(); ++i) {
    further_region& held = self_.further[i];
    if (!held.registered || self_.further.size() % 2 == 0) continue;
    further_[i].reset();
    held.registered = false;
    std::fill(held.memory.inside().begin(), held.memory.inside().end(), canary);
    return;
  }
  further_region& fresh = self_.further.emplace_back();
  auto made = net_->register_region(fresh.memory.inside(), rights::all);
  if (!made) {
    if (made.why().code != errc::no_memory) run_.found("refused_set_up", made.error().sentence);
    self_.further.pop_back();
    return;
  }
  further_.push_back(std::move(*made));
  fresh.registered = true;
  fresh.description = net_->export_region(further_.back(), owner_polls);
  self_.book.key_issued(now(), net_->parse_region(fresh.description).value().record().key);
}

/// After the faults: everything that was begun ends.
template <complete_fabric F>
void node<F>::settle() {
  const instant limit = now() + liveness_limit;
  const auto unended = [&]() -> const posted_operation* {
    for (const posted_operation& o : run_.operations)
      if (o.process == self_.number && !o.quiet && o.id != 0 && !o.ended) return &o;
    return nullptr;
  };
  while (const posted_operation* o = unended()) {
    if (now() > limit)
      return run_.found("unended_operation",
                        std::string(name_of(o->kind)) + " " + std::to_string(o->id) + " never ends");
    pump(5ms);
  }
}

/// After the faults: a new connection is served.
template <complete_fabric F>
void node<F>::probe() {
  const auto me = std::ranges::find(run_.members, self_.node);
  const auto next = std::next(me) == run_.members.end() ? run_.members.front() : *std::next(me);
  connection* c = nullptr;
  for (int i = 0; i < 3 && c == nullptr; ++i) c = connection_to(next, 0, true);
  if (c == nullptr) return run_.found("unserved", "no new connection was served after the faults");
  send(*c, most_steps * writes_per_step + self_.node, 64, false, false);
  settle();
}

template <complete_fabric F>
void node<F>::record_the_end() {
  for (const connection& c : links_) {
    const shared_connection& both = run_.connections[c.id];
    if (!c.gone && c.up && both.left[1 - c.side()] && both.in_order[1 - c.side()])
      run_.found("lost_goodbye", "a peer closed in order, and this side never got the event");
    if (c.usable() && killed(c.other)) run_.found("undetected_death", "a peer was killed, and this side never noticed");
  }
  if (net_->in_flight() > 0) {
    const auto quiet = std::ranges::any_of(
        run_.operations, [&](const posted_operation& o) { return o.process == self_.number && o.quiet && o.id != 0; });
    if (!quiet) run_.found("leftover_operations", std::to_string(net_->in_flight()) + " operations are left");
  }
  const std::vector<std::byte> before(guard_bytes, std::byte{0x5e});
  const auto guard = [&](std::uint32_t region, const guarded& held) {
    self_.book.guard(now(), region, before, held.before());
    self_.book.guard(now(), region, before, held.after());
  };
  guard(1, self_.area);
  guard(2, self_.read_only);
  guard(3, self_.sources);
  self_.book.guard(now(), 4, std::vector<std::byte>(further_bytes), self_.read_only.inside());
  for (further_region& each : self_.further) {
    guard(5, each.memory);
    if (!each.registered)
      self_.book.guard(now(), 6, std::vector<std::byte>(further_bytes, canary), each.memory.inside());
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, self_.area.inside().data() + i * sizeof value, sizeof value);
    self_.book.counter_end(now(), i, value);
  }
  self_.book.finished(now());
  self_.finished = true;
}

template <complete_fabric F>
void node<F>::close_all() {
  for (connection& each : links_)
    if (each.usable()) {
      each.left = true;
      (void)net_->close(each.handle, 200ms, *this);
      each.gone = true;
    }
}

}  // namespace weft::simulation
