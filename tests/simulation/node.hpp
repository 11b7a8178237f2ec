// SPDX-License-Identifier: Apache-2.0
//
// One process of a simulated system: a transport, its connections, and its part of the plan. It uses the public API
// only, and records what it posts and what its handler gets.
// Hot path: no. Threads: one fiber.
#pragma once

#include "process.hpp"

#include "../../compose/transport.hpp"
#include "../../core/describe.hpp"

namespace weft::simulation {

inline constexpr duration operation_timeout = 400ms;
inline constexpr duration silence_limit = 300ms;
/// After the faults stop, each operation, dial and goodbye ends within this time.
inline constexpr duration liveness_limit = 5s;
inline constexpr std::uint32_t most_operations = 48;

template <complete_fabric F>
inline constexpr bool flushes = !std::same_as<answer<F, flush_family>, answers::flush::refused>;

/// The first bytes of each message.
struct message_head {
  std::uint32_t mark = 0x6d657373;
  std::uint32_t process = 0;
  std::uint32_t number = 0;
  std::uint32_t size = 0;
};

template <complete_fabric F>
class node {
 public:
  node(run_state& run, process_state& self) : run_(run), self_(self) {}

  void live() {
    if (!open()) return;
    while (const step* next = take_step()) carry_out(*next);
    run_.done.insert(self_.node);
    while (!run_.calm) {
      run_.try_to_calm();
      pump(2ms);
    }
    settle();
    probe();
    meet(0);
    pump(1s);  // deliveries under way, and silence limits
    meet(1);
    record_the_end();
    meet(2);
    close_all();
    net_.reset();
  }

  // ---- the handler
  void operator()(const completed& e) { ended(e.peer, e.context, status{}, e.old.template as<std::uint64_t>()); }
  void operator()(const failed& e) {
    if (e.context == nullptr) {
      if (const connection* const c = find(e.peer); c != nullptr) run_.connections[c->id].broken = true;
      return alarm(e.peer, "an operation without a context failed: " + describe(e.why));
    }
    ended(e.peer, e.context, e.why, 0);
  }
  void operator()(const received& e) {
    message_head head;
    if (e.message.size() < sizeof head) return run_.found("unknown_message", "a message of too few bytes arrived");
    std::memcpy(&head, e.message.data(), sizeof head);
    if (head.mark != message_head{}.mark || head.size != e.message.size())
      return run_.found("unknown_message", "a message arrived that no process sent");
    self_.book.received(static_cast<std::uint16_t>(head.process), now(), head.number, e.message);
  }
  void operator()(const notified& e) {
    const auto writer = static_cast<std::uint16_t>(e.immediate >> 20);
    const std::uint32_t number = e.immediate & 0xfffff;
    const auto known = run_.sizes.find({writer, number});
    if (known == run_.sizes.end())
      return run_.found("unknown_notification",
                        "immediate " + std::to_string(e.immediate) + " arrived, which nobody sent");
    self_.book.notified(writer, now(), e.immediate, self_.area.inside().subspan(slot_at(number), known->second));
  }
  void operator()(const requested& e) {
    greeting theirs;
    if (!e.has_private_data || e.private_data.size() != sizeof theirs) return (void)net_->reject(e.peer, "no greeting");
    std::memcpy(&theirs, e.private_data.data(), sizeof theirs);
    for (const connection& each : links_) {
      if (each.dialled || each.id != theirs.connection) continue;
      if (!each.gone) run_.found("double_request", "a connection was requested twice of its acceptor");
      return (void)net_->reject(e.peer, "this connection ended before");  // a hello that came twice, and late
    }
    connection& fresh = links_.emplace_back();
    fresh.handle = e.peer;
    fresh.id = theirs.connection;
    fresh.other = theirs.process;
    fresh.node = theirs.node;
    const greeting mine{self_.number, self_.node, theirs.connection};
    if (const status s = net_->accept(e.peer, std::as_bytes(std::span(&mine, 1))); !s) {
      fresh.gone = true;
      run_.connections[fresh.id].broken = true;
      return;
    }
    fresh.up = true;
    shared_connection& both = run_.connections[fresh.id];
    both.process[1] = self_.number;
  }
  void operator()(const connected& e) {
    connection* const c = find(e.peer);
    greeting theirs;
    if (c == nullptr || c->up || !e.has_private_data || e.private_data.size() != sizeof theirs)
      return run_.found("unknown_connection", "a connection was established that nobody dialled");
    std::memcpy(&theirs, e.private_data.data(), sizeof theirs);
    if (theirs.connection != c->id) run_.found("mixed_connections", "the answer belongs to another connection");
    c->up = true;
    c->other = theirs.process;
    run_.connections[c->id].established = true;
  }
  void operator()(const lost& e) {
    connection* const c = find(e.peer);
    if (c == nullptr) return run_.found("unknown_peer", "a peer was lost that was never there");
    if (c->gone) return run_.found("double_loss", "a peer was lost twice");
    c->gone = true;
    if (!run_.passed[2].empty()) return;  // the run is over, and all close
    shared_connection& both = run_.connections[c->id];
    both.told[c->side()] = true;
    if (e.why.code != errc::closed) {
      if (run_.planned.disturbances.empty() && both.left[1 - c->side()])
        run_.found("lost_goodbye", "a peer closed in order, and was lost here: " + describe(e.why));
      both.broken = true;
      alarm(e.peer, "a peer was lost: " + describe(e.why));
    } else if (!both.left[1 - c->side()] && !killed(c->other)) {
      run_.found("false_goodbye", "a peer closed, and its process did not");
    }
  }

 private:
  struct greeting {
    std::uint16_t process = 0;
    std::uint16_t node = 0;
    std::uint32_t connection = 0;
  };
  struct connection {
    peer handle;
    std::uint64_t id = 0;
    std::uint16_t other = 0;
    std::uint16_t node = 0;
    bool dialled = false;
    bool up = false;
    bool gone = false;
    bool left = false;
    std::size_t side() const noexcept { return dialled ? 0 : 1; }
    bool usable() const noexcept { return up && !gone && !left && handle.alive(); }
  };

  instant now() const { return net_->now(); }
  bool killed(std::uint16_t process) {
    const process_state* p = run_.process(process);
    return p == nullptr || p->killed;
  }
  connection* find(peer handle) {
    for (connection& each : links_)
      if (each.handle == handle) return &each;
    return nullptr;
  }
  /// Without disturbances nothing may fail.
  void alarm(peer who, const std::string& sentence) {
    const connection* const c = find(who);
    if (!run_.planned.disturbances.empty() || run_.planned.weather.has(fault::memory)) return;
    if (c != nullptr && (run_.connections[c->id].left[0] || run_.connections[c->id].left[1])) return;
    run_.found("false_alarm", sentence);
  }

  bool open();
  const step* take_step();
  void carry_out(const step& s);
  void act(connection& c, const step& s);
  connection* connection_to(std::uint16_t other, std::uint64_t draw, bool fresh);
  connection* dial(std::uint16_t other);
  void close(connection& c);
  void change_regions();
  void settle();
  void probe();
  void record_the_end();
  void close_all();

  /// Makes progress for this long, and sleeps where nothing happens.
  void pump(duration span) {
    const instant end = now() + span;
    do {
      (void)net_->progress(*this);
      if (net_->in_flight() > most_operations)
        run_.found("queue_overrun", std::to_string(net_->in_flight()) + " operations are in flight");
      const instant at = now();
      if (at >= end) return;
      (void)net_->wait(end - at);
    } while (now() < end);
  }
  void meet(std::size_t barrier) {
    run_.passed[barrier].insert(self_.node);
    for (const instant end = now() + 60s; run_.passed[barrier].size() < run_.members.size();) {
      if (now() > end) return run_.found("hung", "a node never came to the end of the run");
      pump(5ms);
    }
  }

  void ended(peer from, void* context, const status& why, std::uint64_t old);
  void check_bytes(const posted_operation& o);
  void check_flush(const posted_operation& o);

  /// Records a post, makes it, and repeats `again` for a limited time. Returns whether it was accepted.
  template <class Post>
  bool post(connection& c, posted_operation fresh, const_bytes carried, Post&& make);
  posted_operation about(const connection& c, history::work kind, std::uint32_t number, std::uint32_t size) const {
    posted_operation o;
    o.kind = kind;
    o.number = number;
    o.size = size;
    o.process = self_.number;
    o.to = c.other;
    o.connection = c.id;
    o.dialled = c.dialled;
    return o;
  }
  local_memory source(std::uint32_t number, std::uint32_t size) {
    const std::size_t at = slot_at(number);
    paint(self_.sources.inside().subspan(at, size), self_.number, number);
    return sources_.slice(at, size);
  }
  const_bytes source_bytes(std::uint32_t number, std::uint32_t size) {
    return self_.sources.inside().subspan(slot_at(number), size);
  }
  std::uint32_t immediate(std::uint32_t number) const noexcept { return std::uint32_t{self_.number} << 20 | number; }

  void send(connection& c, std::uint32_t number, std::uint32_t size, bool quiet, bool gathered);
  void put(connection& c, const remote_region& there, std::uint32_t number, std::uint32_t size, bool gathered);
  void put_notify(connection& c, const remote_region& there, std::uint32_t number, std::uint32_t size, bool quiet);
  void batch(connection& c, const remote_region& there, const step& s);
  void get(connection& c, const remote_region& there, std::uint32_t number, std::uint32_t size);
  void atomics(connection& c, const remote_region& there, const step& s);
  void flush(connection& c, std::uint32_t number);
  void wrong_post(connection& c, const remote_region& there, const step& s);
  void forged_post(connection& c, remote_place at, const step& s);

  run_state& run_;
  process_state& self_;
  std::unique_ptr<transport<F>> net_;
  owned_region area_, read_only_, sources_;
  std::vector<owned_region> further_;
  std::deque<connection> links_;
  std::uint32_t dials_ = 0;
  std::uint64_t waits_ = 0;
};

}  // namespace weft::simulation

#include "node_posts.hpp"
#include "node_steps.hpp"
