// SPDX-License-Identifier: Apache-2.0
//
// The manager's side of its nodes: daemons (daemon.hpp) register here, and executors start on the node with most free
// workers. It has a transport of its own: clients, who show no credentials, cannot reach it, and a silent node is lost
// earlier than a worker may be silent that computes. Hot path: no. Threads: the manager's.
#pragma once

#include "../outbox.hpp"
#include "inherited.hpp"
#include "options.hpp"
#include "roster.hpp"

#include <weft/core/printable.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace weft::invocation::nodes {

template <complete_fabric F>
class fleet {
 public:
  static result<std::unique_ptr<fleet>> open(const fleet_options& o, const std::string& node,
                                             const std::string& fabrics) {
    transport_options t;
    t.node = node;
    t.fabrics = fabrics;
    t.service = o.service;
    t.listens = true;
    t.sleeps = true;
    t.receives = F::facts.endpoint_type == endpoint_type::connected ? 32 : 256;
    t.peers = most_nodes + callers;
    t.pending = callers;
    t.handshake_limit = 1s;
    t.silence_limit = o.silence;
    auto net = weft::open<F>(t);
    if (!net) return std::move(net).error();
    auto letters = outbox<F>::open(*net, 256, 64);
    if (!letters) return std::move(letters).error();
    return std::unique_ptr<fleet>(new fleet(o, std::move(net).value(), std::move(letters).value()));
  }
  /// Tells the nodes that the manager ends, so that they end too and do not wait for it.
  ~fleet() {
    ends_ = true;
    for (const node_seen& n : seen_.nodes()) (void)letters_.post(net_, n.link, dismissed_message{});
    for (const instant end = net_.now() + 500ms; !letters_.idle() && net_.now() < end;) {
      tend();
      (void)net_.wait(1ms);
    }
  }

  std::string listen_address() const { return net_.listen_address(); }
  const roster_counts& counts() const noexcept { return seen_.counts(); }

  result<roster::executor> start(const executor_order& order) {
    node_seen* on = seen_.freest(order.workers);
    if (on == nullptr) return {error(errc::unreachable, "place"), seen_.refusal(order.workers)};
    auto placed = seen_.place(*on, order.workers);
    const auto lease_ms = static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(o_.lease).count());
    if (const status s = letters_.post(net_, on->link, message_of(order, placed->number, lease_ms)); !s) {
      const std::string sentence = "the node " + on->name + " takes no orders now; try later";
      seen_.ended(*placed, {false, sentence}, true);
      return {s, sentence};
    }
    return placed;
  }
  /// The bill of an allocation whose manager is gone, once a node has brought it.
  std::optional<bill_fields> inherit(const token& client_secret) { return inherited_.collect(client_secret); }
  std::uint64_t inherited() const noexcept { return inherited_.taken(); }
  void kill(const remote_executor& e) {
    if (!e.end) (void)letters_.post(net_, e.node, kill_message{e.number});  // full: the manager asks again
  }
  void tend() {
    (void)net_.progress(events{*this});
    letters_.pump(net_);
  }

 private:
  static constexpr std::uint32_t most_nodes = 128;
  static constexpr std::uint32_t callers = 24;

  fleet(const fleet_options& o, transport<F> net, outbox<F> letters)
      : o_(o), letters_(std::move(letters)), net_(std::move(net)) {}

  struct events {
    fleet& f;
    void operator()(const requested& e) const { f.asked(e); }
    void operator()(const received& e) const { f.on_message(e.peer, e.message); }
    void operator()(const lost& e) const { f.gone(e.peer); }
    void operator()(const completed& e) const noexcept { f.letters_.ended(e.context); }
    void operator()(const failed& e) const noexcept { f.letters_.ended(e.context); }
    void operator()(const notified&) const noexcept {}
    void operator()(const connected&) const noexcept {}
  };

  void asked(const requested& e) {
    const auto g = e.has_private_data ? parse_greeting(e.private_data) : std::nullopt;
    if (!g)
      return (void)net_.reject(e.peer, "here only daemons of nodes register (weft-node), of protocol version " +
                                           std::to_string(nodes_version) + "; clients have another address");
    if (!same_token(g->secret, o_.secret))
      return (void)net_.reject(e.peer, "the secret of the nodes differs (--secret FILE)");
    if (seen_.size() >= most_nodes)
      return (void)net_.reject(e.peer, "all " + std::to_string(most_nodes) + " places of nodes are taken");
    (void)net_.accept(e.peer);
  }

  void on_message(peer from, const_bytes message) {
    if (const auto m = unpack<enter_message>(message)) {
      if (!seen_.enter(from, printable(m->name), m->workers)) return;
      say("node " + seen_.find(from)->name + " entered: " + std::to_string(m->workers) + " workers");
      (void)letters_.post(net_, from, entered_message{});
      return;
    }
    node_seen* node = seen_.find(from);
    if (node == nullptr) return;
    if (const auto m = unpack<state_message>(message)) {
      if (m->draining && !node->draining) say("node " + node->name + " drains");
      node->free = m->free;
      node->draining = m->draining;
    } else if (const auto s = unpack<started_message>(message)) {
      node->refusals = 0;
      if (const auto e = seen_.of(from, s->number)) e->process = s->process;
    } else if (const auto no = unpack<not_started_message>(message)) {
      if (const auto e = seen_.of(from, no->number)) {
        e->journals_here = true;
        say("executor " + std::to_string(e->number) + " was not started on " + node->name + ": " +
            std::string(no->sentence));
        seen_.ended(*e, {false, "on the node " + node->name + ": " + std::string(no->sentence)}, true);
      }
    } else if (const auto j = unpack<journal_message>(message)) {
      if (const auto e = seen_.of(from, j->number); e && j->first < e->journals.size())
        (void)unpacked(j->words, std::span(e->journals).subspan(j->first));
    } else if (const auto end = unpack<ended_message>(message)) {
      if (const auto e = seen_.of(from, end->number)) {
        e->journals_here = true;
        if (!end->in_order)
          say("executor " + std::to_string(e->number) + " on " + node->name + ": " + std::string(end->sentence));
        seen_.ended(*e, {end->in_order, "on the node " + node->name + ": " + std::string(end->sentence)});
      }
      (void)letters_.post(net_, from, noted_message{end->number});
    } else if (const auto w = unpack<wind_up_message>(message)) {
      if (const auto e = seen_.of(from, w->number))
        e->to_wind_up = winding_up{"the node " + node->name + " ends the executor: " + std::string(w->sentence),
                                   std::chrono::milliseconds(std::min<std::uint64_t>(w->limit_ms, 86'400'000))};
    } else if (const auto o = unpack<orphan_message>(message)) {
      (void)inherited_.take(*o);
    } else if (unpack<left_message>(message)) {
      node->left = true;
    }
  }

  void gone(peer who) {
    if (const auto sentence = seen_.gone(who, std::string(net_.reason())); sentence && !ends_) say(*sentence);
    letters_.forget(who);
  }
  static void say(const std::string& sentence) { std::cout << printable(sentence) << std::endl; }

  fleet_options o_;
  outbox<F> letters_;  ///< Before the transport: its memory outlives posts that are still under way.
  transport<F> net_;
  roster seen_;
  inherited_accounts inherited_;
  bool ends_ = false;  ///< The nodes leave, because this manager does.
};

}  // namespace weft::invocation::nodes
