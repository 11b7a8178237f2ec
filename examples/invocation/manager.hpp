// SPDX-License-Identifier: Apache-2.0
//
// The manager: accepts clients, starts an executor for each allocation, and owns the words of its workers' accounts. As
// the parent it detects the death of an executor, reports it to the client at once, checks the words against the
// journals, and can start another. Clients show no credentials, so all that they can take has limits: places
// (admission/client_places.hpp), memory (admission/budget.hpp), workers, and buffers of messages. Hot path: no, except
// that it makes progress for atomics that this side executes. Threads: one.
#pragma once

#include "admission/allocation_table.hpp"
#include "admission/budget.hpp"
#include "admission/client_places.hpp"
#include "membership/member_address.hpp"
#include "membership/sharing.hpp"

#include <algorithm>

namespace weft::invocation {

struct manager_options {
  std::string node = "127.0.0.1";
  std::string fabrics;              ///< Of a program of several: those that it and its executors may use; empty: all.
  std::string service;              ///< Empty: any free one.
  std::uint16_t most_workers = 16;  ///< Of one allocation.
  std::uint16_t most_allocations = 32;
  std::uint32_t largest_slot = 16U << 20;  ///< Bytes of input or output.
  duration longest_function = 60s;
  duration start_limit = 10s;      ///< Until all workers of an executor are there.
  duration silence = 2s;           ///< Of a peer, beyond the longest function: then it is lost. Workers get it too.
  std::uint16_t most_clients = 0;  ///< At a time; 0: 16 more than allocations, so that a refusal has a place.
  duration idle_limit = 10s;       ///< A client that has sent no request by then is closed.
  memory_budget memory;            ///< For the slots and objects of executors.
  std::uint32_t most_peers = invocation::most_peers;  ///< Of its transport. More only on fabrics that have the room.
};

template <complete_fabric F, spawner Spawner>
class manager {
 public:
  static result<std::unique_ptr<manager>> open(const manager_options& o, Spawner spawn) {
    transport_options t;
    t.node = o.node;
    t.fabrics = o.fabrics;
    t.service = o.service;
    t.listens = true;
    t.sleeps = true;
    t.receives = F::facts.endpoint_type == endpoint_type::connected
                     ? 16
                     : 64;  // for each peer, or for all: completion queues have limits
    const places p = places_of(o);
    t.peers = p.callers + p.clients + p.workers;
    t.pending = p.callers + p.workers;  // clients have no more than their places, so silent callers leave some
    t.handshake_limit = 1s;
    t.silence_limit = o.longest_function + o.silence;
    auto net = weft::open<F>(t);
    if (!net) return std::move(net).error();
    // One for each peer: all workers of a storm get their accounts, and all clients their answers.
    auto letters = outbox<F>::open(*net, std::max(128U, p.clients + p.workers), most_letters);
    if (!letters) return std::move(letters).error();
    return std::unique_ptr<manager>(
        new manager(o, std::move(net).value(), std::move(letters).value(), std::move(spawn)));
  }

  /// host:service, for clients.
  std::string listen_address() const { return net_.listen_address(); }
  std::size_t allocations() const noexcept { return allocations_.size(); }
  std::size_t clients() const noexcept { return clients_.taken(); }
  /// Of all allocations that ended so far: their number, and the number of exact accounts.
  std::uint64_t bills() const noexcept { return bills_; }
  std::uint64_t exact_bills() const noexcept { return exact_bills_; }
  /// Of executors whose journal was lost with their node.
  std::uint64_t unproven_bills() const noexcept { return unproven_bills_; }
  const Spawner& spawns() const noexcept { return spawn_; }

  /// Shares clients with other managers from now on, while step() is called. Requires: `by` lives so long.
  void share_clients(const sharing& by) noexcept { shares_ = &by; }
  /// Managers came or went: tells the clients.
  void tell_clients() {
    clients_.each([this](peer each) { (void)letters_.post(net_, each, managers_message{shares_->addresses()}); });
  }
  /// Clients that were sent to another manager, and clients that came from one that is gone.
  std::uint64_t sent_on() const noexcept { return sent_on_; }
  std::uint64_t taken_over() const noexcept { return taken_over_; }

  /// Serves until `stop()`, then kills the remaining executors.
  template <class Stop>
  void serve(Stop&& stop) {
    while (!stop()) step(5ms);
    for (const auto& a : allocations_) a->child.kill();
  }

  /// One round: progress, children, outgoing messages; sleeps at most so long without events.
  void step(duration at_most) {
    const int found = net_.progress(events{*this});
    letters_.pump(net_);
    const instant now = net_.now();
    if (now - looked_ >= 2ms) {
      looked_ = now;
      spawn_.tend();
      allocations_.each_in_turn([&](allocation_type& a) { return is_over(a, now); });
      answer_claims();
      if (const peer late = clients_.first_late(now, o_.idle_limit))
        part(late, duration(0));  // one a round: it takes ms
    }
    if (found == 0) (void)net_.wait(at_most);
  }

 private:
  using allocation_type = allocation<typename Spawner::child>;
  /// A client waits for the bill of its last allocation, whose manager is gone.
  struct account_claim {
    peer client;
    token secret;
    std::optional<bill_fields> bill;
  };

  manager(const manager_options& o, transport<F> net, outbox<F> letters, Spawner spawn)
      : o_(o),
        letters_(std::move(letters)),
        net_(std::move(net)),
        spawn_(std::move(spawn)),
        places_(places_of(o)),
        clients_(places_.clients),
        own_where_(net_.listen_address()) {}

  // ---- events
  struct events {
    manager& m;
    void operator()(const requested& e) const { m.asked(e); }
    void operator()(const received& e) const { m.on_message(e.peer, e.message); }
    void operator()(const lost& e) const { m.gone(e.peer); }
    void operator()(const completed& e) const noexcept { m.letters_.ended(e.context); }
    void operator()(const failed& e) const noexcept { m.letters_.ended(e.context); }
    void operator()(const notified&) const noexcept {}
    void operator()(const connected&) const noexcept {}
  };

  void asked(const requested& e) {
    const auto g = e.has_private_data ? parse_greeting(e.private_data) : std::nullopt;
    if (!g)
      return (void)net_.reject(e.peer,
                               "this manager wants a greeting of protocol version " + std::to_string(protocol_version));
    if (g->who == role::client) return shares_ == nullptr ? admit(e.peer) : admit_shared(e.peer, *g);
    allocation_type* const a = allocations_.with_token(g->secret);
    if (a == nullptr) return (void)net_.reject(e.peer, "wrong token");
    if (a->state != allocation_state::starting || g->worker >= a->workers.size() || a->workers[g->worker].link)
      return (void)net_.reject(e.peer, "this worker is here already, or came too late");
    allocations_.worker_came(*a, g->worker, e.peer);
    (void)net_.accept(e.peer);
    (void)letters_.post(net_, e.peer, account_message{net_.export_region(e.peer, a->words, owner_polls)});
  }

  void admit_shared(peer client, const greeting& g) {
    const std::string other = (g.worker & serve_here) != 0 ? "" : shares_->elsewhere(g.secret);
    if (!other.empty()) {
      ++sent_on_;
      return (void)net_.reject(client, std::string(redirection) + other);
    }
    admit(client);
    taken_over_ += std::uint64_t{(g.worker & lost_manager) != 0};
    (void)letters_.post(net_, client, managers_message{shares_->addresses()});
  }
  /// Gives a client a place. Where all are taken, a client without an allocation leaves for it.
  void admit(peer client) {
    const instant now = net_.now();
    if (clients_.full()) {
      const peer leaves = clients_.first_to_leave(now);
      if (!leaves)
        return (void)net_.reject(client, "busy, try later: all " + std::to_string(clients_.most()) +
                                             " places of clients are taken (--max-clients)");
      part(leaves, duration(0));
    }
    if (net_.accept(client)) clients_.enter(client, now);
  }
  /// Closes a peer, and frees the buffers of messages to it.
  void part(peer who, duration at_most) {
    drop_client(who);
    (void)net_.close(who, at_most, events{*this});
    letters_.forget(who);
  }

  /// Its place and its claim. A peer that this side closes is never reported as lost.
  void drop_client(peer who) {
    clients_.leave(who);
    std::erase_if(claims_, [who](const account_claim& c) { return c.client == who; });
  }

  void on_message(peer from, const_bytes message) {
    if (const auto m = unpack<allocate_message>(message)) {
      clients_.asked(from, net_.now());
      return allocate(from, *m);
    }
    if (const auto m = unpack<release_message>(message)) {
      clients_.asked(from, net_.now());
      return release(from, m->allocation);
    }
    if (const auto m = unpack<totals_message>(message)) return totals(from, *m);
    if (unpack<alive_message>(message)) return (void)letters_.post(net_, from, alive_message{});
    if (const auto m = unpack<claim_message>(message)) return claim(from, m->secret);
    (void)letters_.post(net_, from, refused_message{refusal_code::malformed, "this message is unknown"});
  }

  void gone(peer who) {
    drop_client(who);
    while (allocation_type* const a = allocations_.of_client(who, any)) {
      allocations_.leave_client(*a);
      finish(*a, !shares_memory);
    }
    if (const auto place = allocations_.behind(who); place.of != nullptr) {
      place.worker->gone = true;
      place.of->hurry(net_.now() + worker_grace, net_.reason());
      allocations_.press(*place.of);
    }
  }

  // ---- allocating
  void allocate(peer client, const allocate_message& m) {
    const auto same = [&](const allocation_type& a) { return same_token(a.order.common.client_secret, m.secret); };
    if (allocations_.of_client(client, same) != nullptr) return;  // the same request, received twice
    (void)allocations_.of_client(client, [this](allocation_type& a) {
      finish(a);  // a new request gives up the earlier allocation, reported or not
      return false;
    });
    if (const auto no = refuse(m)) return (void)letters_.post(net_, client, refused_message{no->first, no->second});
    auto words = net_.allocate(m.workers * account_bytes, rights::remote_atomic);
    if (!words)
      return (void)letters_.post(net_, client, refused_message{refusal_code::spawn_failed, words.error().sentence});
    const executor_order order = order_for(m);
    auto child = spawn_.start(order);
    if (!child)
      return (void)letters_.post(net_, client, refused_message{refusal_code::spawn_failed, child.error().sentence});
    auto made = std::make_unique<allocation_type>(order, std::move(child).value());
    made->number = ++numbers_;
    made->bytes = bytes_of(m).value_or(0);
    made->client = client;
    made->words = std::move(*words);
    made->due = net_.now() + o_.start_limit;
    (void)letters_.post(net_, client, allocated_message{made->number, made->child.number()});
    allocations_.enter(std::move(made));
    clients_.serves(client, true);
  }

  std::optional<std::pair<refusal_code, std::string>> refuse(const allocate_message& m) const {
    using enum refusal_code;
    const auto no = [](refusal_code code, std::string sentence) {
      return std::optional(std::pair(code, std::move(sentence)));
    };
    if (const std::uint32_t most = std::min<std::uint32_t>(o_.most_workers, places_.workers);
        m.workers == 0 || m.workers > most)
      return no(too_many_workers, "asked for " + std::to_string(m.workers) + " workers; 1 to " + std::to_string(most) +
                                      " are possible here");
    if (m.slots < 2 || m.slots > most_slots)
      return no(malformed, "asked for " + std::to_string(m.slots) + " slots per worker; 2 to " +
                               std::to_string(most_slots) + " are possible");
    if (m.input_bytes > o_.largest_slot || m.output_bytes > o_.largest_slot)
      return no(too_large, "slots of " + std::to_string(std::max(m.input_bytes, m.output_bytes)) +
                               " bytes were asked for; at most " + std::to_string(o_.largest_slot) +
                               " are possible here");
    if (m.function_limit_ns == 0 || m.function_limit_ns > static_cast<std::uint64_t>(o_.longest_function.count()))
      return no(too_long, "a function may run for at most " + std::to_string(o_.longest_function / 1s) +
                              " s here, and the limit must not be 0");
    if (m.object_bytes > largest_object) return no(too_large, "an object of functions may have 16 MiB at most");
    if (!is_address(m.where))  // it becomes an argument of the executor
      return no(malformed, "the client's address must be host:service, in at most " + std::to_string(longest_address) +
                               " printable characters without a space");
    if (allocations_.size() >= o_.most_allocations)
      return no(busy, "all " + std::to_string(o_.most_allocations) + " allocations are in use; try later");
    if (auto over = check_budget(o_.memory, allocations_.bytes(), bytes_of(m)))
      return no(over->code, std::move(over->sentence));
    const std::uint32_t workers = allocations_.workers();
    if (workers + m.workers > places_.workers)
      return no(busy, "asked for " + std::to_string(m.workers) + " workers; " + std::to_string(workers) + " of " +
                          std::to_string(places_.workers) + " places of workers are taken; try later");
    return std::nullopt;
  }

  executor_order order_for(const allocate_message& m) const {
    executor_order order = order_with(m);
    worker_settings& c = order.common;
    c.node = o_.node;
    c.fabrics = o_.fabrics;
    c.manager = own_where_;
    c.client = std::string(m.where);
    c.allocation = random_token();
    c.client_secret = m.secret;
    c.start_limit = o_.start_limit;
    c.silence = o_.silence;
    return order;
  }

  // ---- accounts of managers that are gone
  /// One at a time for each client: its last allocation.
  void claim(peer client, const token& secret) {
    std::erase_if(claims_, [client](const account_claim& c) { return c.client == client; });
    claims_.push_back({client, secret, {}});
  }
  void answer_claims() {
    if constexpr (requires { spawn_.inherit(token{}); })
      std::erase_if(claims_, [this](account_claim& c) {
        if (!c.bill) c.bill = spawn_.inherit(c.secret);
        return c.bill && letters_.post(net_, c.client, inherited_message{c.secret, *c.bill});  // full: again later
      });
  }

  // ---- ending
  void release(peer client, std::uint64_t number) {
    const auto named = [number](const allocation_type& a) { return a.number == number; };
    if (allocation_type* const a = allocations_.of_client(client, named)) finish(*a);
  }

  /// Asks the workers to settle and end. Late ones are killed. `asks`: false where they hear of the end themselves.
  void finish(allocation_type& a, bool asks = true) {
    if (a.state != allocation_state::starting) return;
    a.state = allocation_state::finishing;
    a.due = net_.now() + finish_limit;
    if (!asks) return;
    for (const auto& w : a.workers)
      if (w.link && !w.gone) (void)letters_.post(net_, w.link, finish_message{});
  }

  void totals(peer from, const totals_message& m) {
    const auto place = allocations_.behind(from);
    if (place.of == nullptr || place.worker->reported) return;
    place.worker->reported = true;
    place.worker->total = {m.hot_ns, m.execution_ns};
    if (place.of->all_reported()) settle(*place.of);
  }

  /// All workers reported: compares, reports to the client; the process ends by itself.
  void settle(allocation_type& a) {
    if constexpr (requires { a.child.journals_are_here(); })
      if (!a.child.journals_are_here()) return;  // they come with the end
    const bill_fields bill = a.bill();
    if (a.client && a.wound_up.empty()) (void)letters_.post(net_, a.client, released_message{bill});
    else if (a.client) (void)letters_.post(net_, a.client, executor_lost_message{bill, a.wound_up});
    conclude(a, bill);
    a.due = net_.now() + finish_limit;
  }

  /// Looks at an allocation. True: it is gone.
  bool is_over(allocation_type& a, instant now) {
    check_allocation(a, now);
    if (a.state != allocation_state::gone) return false;
    const peer client = a.client;
    allocations_.leave_client(a);
    if (client && !allocations_.has(client)) clients_.serves(client, false);
    return true;
  }
  void check_allocation(allocation_type& a, instant now) {
    if (!a.end) {
      if (auto end = a.child.ended()) {
        a.ended(*std::move(end));
        a.due = now + linger;  // additions in flight still arrive
      } else if (now >= a.due && !a.all_here()) {
        a.kill();
        a.due = now + 1s;
      }
      if constexpr (requires { a.child.asks_to_wind_up(); })
        if (auto asked = a.child.asks_to_wind_up(); asked && a.state == allocation_state::starting) {
          finish(a);
          a.wound_up = std::move(asked->sentence);
          a.due = now + asked->limit;
        }
      return;
    }
    // Its last additions may still be queued; a peer that closed or broke has none.
    if (now < a.due && !std::ranges::all_of(a.workers, [](const auto& w) { return !w.link || w.gone; })) return;
    if (a.state != allocation_state::over && a.all_reported()) settle(a);
    if (a.state != allocation_state::over) {
      const bill_fields bill = a.bill();
      if (a.client) (void)letters_.post(net_, a.client, executor_lost_message{bill, a.end->sentence});
      conclude(a, bill);
    }
    for (const auto& w : a.workers)
      if (w.link.alive()) part(w.link, 1ms);
    net_.release_region(a.words);
    a.state = allocation_state::gone;
  }

  void conclude(allocation_type& a, const bill_fields& bill) {
    a.state = allocation_state::over;
    ++bills_;
    exact_bills_ += std::uint64_t{bill.exact};
    unproven_bills_ += std::uint64_t{a.end && a.end->journal_lost};
    allocations_.press(a);
  }

  /// The transport's peers. Callers: for handshakes and refusals.
  struct places {
    std::uint32_t callers, clients, workers;
  };
  static places places_of(const manager_options& o) noexcept {
    constexpr std::uint32_t callers = 24;
    const std::uint32_t rest = std::max(o.most_peers, 2 * callers) - callers;
    const std::uint32_t asked = o.most_clients > 0 ? o.most_clients : o.most_allocations + 16U;
    const std::uint32_t clients = std::min(asked, rest / 2);
    return {callers, clients, std::min(std::uint32_t{o.most_allocations} * o.most_workers, rest - clients)};
  }

  static constexpr std::uint32_t most_letters = 8;  ///< To one peer: a peer that does not read gets no more.
  static constexpr duration finish_limit = 10s;     ///< Settling, and then ending.
  static constexpr duration worker_grace = 1s;  ///< From the loss of a worker's connection until its process is killed.
  /// On one host workers hear of their client's end themselves, as this manager does. A message to them might never
  /// return: libfabric's shm locks the receiver's memory for each message, and a client that is killed at that moment
  /// leaves it locked. So the manager says nothing to such a worker, and waits for its loss before a goodbye.
  static constexpr bool shares_memory = F::facts.same_host;
  static constexpr duration linger = shares_memory ? 2s : 50ms;
  static constexpr auto any = [](const allocation_type& /*a*/) { return true; };

  manager_options o_;
  outbox<F> letters_;  ///< Before the transport: its memory outlives posts that are still under way.
  transport<F> net_;
  Spawner spawn_;
  places places_;
  client_places clients_;
  std::string own_where_;
  allocation_table<typename Spawner::child> allocations_{random_token()};
  std::vector<account_claim> claims_;
  const sharing* shares_ = nullptr;
  std::uint64_t sent_on_ = 0;
  std::uint64_t taken_over_ = 0;
  std::uint64_t numbers_ = 0;
  std::uint64_t bills_ = 0;
  std::uint64_t exact_bills_ = 0;
  std::uint64_t unproven_bills_ = 0;
  instant looked_{};
};

}  // namespace weft::invocation
