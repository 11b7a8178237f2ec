// SPDX-License-Identifier: Apache-2.0
//
// The daemon of a node: it registers with a manager, which it may find in etcd, starts executors, keeps their journals,
// and reports free workers and deaths. It is the parent of its executors, so it sees every end, and they end with it.
// An executor ends by itself when its client or its manager is gone. The daemon bounds that: it kills an executor after
// the end of its lease, after a drain's limit, and `grace` after the loss of its manager.
// Hot path: no; calls pass by it. Threads: one, the same from open() on (executors die with it).
#pragma once

#include "../outbox.hpp"
#include "messages.hpp"
#include "options.hpp"

#include <weft/core/printable.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace weft::invocation::nodes {

template <complete_fabric F>
class node_daemon {
 public:
  /// Asked in each round: whether the daemon is to drain.
  using stop = std::function<bool()>;

  static result<std::unique_ptr<node_daemon>> open(const daemon_options& o, process_spawner::settings spawn) {
    transport_options t;
    t.node = o.node;
    t.fabrics = o.fabrics;
    t.sleeps = true;
    t.peers = 4;
    t.receives = F::facts.endpoint_type == endpoint_type::connected ? 32 : 128;
    t.silence_limit = o.silence;
    auto net = weft::open<F>(t);
    if (!net) return std::move(net).error();
    auto letters = outbox<F>::open(*net, 64);
    if (!letters) return std::move(letters).error();
    return std::unique_ptr<node_daemon>(
        new node_daemon(o, std::move(net).value(), std::move(letters).value(), std::move(spawn)));
  }

  /// Serves managers until it has drained. Errors: unreachable or peer_lost: no manager within the limit.
  result<void> serve(const stop& asked_to_end) {
    bool met = false;
    for (;;) {
      if (const auto here = seek(asked_to_end, met); !here) {
        if (draining_) return {};
        return std::move(here).error();
      }
      met = true;
      attend(asked_to_end);
      if (draining_ && executors_.empty()) return leave();
      const bool over = dismissed_ && o_.managers.size() == 1 && !o_.more_managers;
      abandon();
      if (over || draining_) return {};
      say("the manager at " + at_ + (dismissed_ ? " ended" : " was lost (" + loss_ + ")") + "; looking for one");
    }
  }
  /// Executors so far, for people.
  std::string summary() const {
    return "executors: " + std::to_string(started_) + " started, " + std::to_string(in_order_) + " ended in order, " +
           std::to_string(died_) + " died" +
           (orphans_.empty() ? "" : ", " + std::to_string(orphans_.size()) + " accounts that no manager took");
  }

 private:
  struct running {
    std::uint64_t number;
    std::uint16_t workers;
    process_spawner::child child;
    instant lease_end;
    token client_secret{};
    instant kill_at = instant::max();
    std::string why{};  ///< Why the daemon ended it.
    std::optional<executor_end> end{};
    std::size_t told = 0;  ///< Journals of the report so far.
  };

  /// The account of an executor that ended after its manager.
  struct orphan {
    token client_secret;
    std::uint16_t workers;
    std::vector<std::string> journals;  ///< Of journals_per_letter workers each.
    std::size_t told = 0;
  };

  node_daemon(const daemon_options& o, transport<F> net, outbox<F> letters, process_spawner::settings spawn)
      : o_(o), letters_(std::move(letters)), net_(std::move(net)), spawn_(std::move(spawn)) {}

  struct events {
    node_daemon& d;
    void operator()(const received& e) const {
      if (!d.manager_ || e.peer == d.manager_) d.on_message(e.message);
    }
    void operator()(const lost& e) const {
      if (e.peer != d.manager_) return;
      d.lost_ = true;
      d.loss_ = d.net_.reason().empty() ? std::string(e.why.operation) : std::string(d.net_.reason());
    }
    void operator()(const completed& e) const noexcept { d.letters_.ended(e.context); }
    void operator()(const failed& e) const noexcept { d.letters_.ended(e.context); }
    void operator()(const requested& e) const { (void)d.net_.reject(e.peer, "a node accepts no connections"); }
    void operator()(const notified&) const noexcept {}
    void operator()(const connected&) const noexcept {}
  };

  /// Those of the command line first. The one that ended comes last: it may have been started again.
  std::vector<std::string> candidates() const {
    std::vector<std::string> all = o_.managers;
    if (o_.more_managers)
      for (std::string& each : o_.more_managers())
        if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
    std::stable_partition(all.begin(), all.end(), [this](const std::string& each) { return each != at_; });
    return all;
  }
  /// Connects to the first manager that takes this node. Errors: also rejected, where all refuse it.
  result<void> seek(const stop& asked_to_end, bool again) {
    const instant end = net_.now() + o_.manager_limit;
    const auto hello = encode(greeting{o_.secret});
    std::string why = "none is known";
    const auto ends = [&] { return draining_ = draining_ || asked_to_end(); };
    do {
      const auto all = candidates();
      std::size_t refusals = 0;
      for (const std::string& each : all) {
        if (ends()) break;
        lost_ = dismissed_ = entered_ = false;
        manager_ = {};
        auto link = net_.connect(each, hello, std::clamp<duration>(end - net_.now(), 10ms, 1s), events{*this});
        if (link) {
          manager_ = *link;
          at_ = each;
          for (orphan& o : orphans_) o.told = 0;  // what an earlier manager heard is lost with it
          (void)letters_.post(net_, manager_, enter_message{o_.workers, o_.name});
          return {};
        }
        why = link.error().sentence;
        if (link.why().code == errc::rejected && ++refusals == all.size()) return std::move(link).error();
      }
      if (ends()) return {error(errc::closed, "seek"), "asked to end"};  // asked also where no manager is known
      rest(100ms);
    } while (net_.now() < end);
    return {error(again ? errc::peer_lost : errc::unreachable, "seek"),
            "no manager takes this node within " + std::to_string(o_.manager_limit / 1ms) + " ms: " + why};
  }

  /// Until the manager is gone, or the drain is over.
  void attend(const stop& asked_to_end) {
    while (!lost_ && !dismissed_) {
      if (!draining_ && asked_to_end()) drain();
      const int found = round();
      if (draining_ && executors_.empty() && letters_.idle()) return;
      if (found == 0) (void)net_.wait(5ms);
    }
  }
  int round() {
    const int found = net_.progress(events{*this});
    letters_.pump(net_);
    spawn_.tend();
    look(net_.now());
    return found;
  }
  void rest(duration time) {
    for (const instant end = net_.now() + time; net_.now() < end;)
      if (round() == 0) (void)net_.wait(5ms);
  }

  void on_message(const_bytes message) {
    if (const auto m = unpack<start_message>(message)) start(*m);
    else if (const auto k = unpack<kill_message>(message)) {
      for (running& e : executors_)
        if (e.number == k->number) end(e, "its manager ended it", net_.now());
    } else if (const auto n = unpack<noted_message>(message)) {
      unnoted_.erase(n->number);
    } else if (unpack<entered_message>(message)) {
      entered_ = true;
      say("registered at " + at_ + " as " + o_.name + ": " + std::to_string(o_.workers) + " workers");
    } else if (unpack<dismissed_message>(message)) {
      dismissed_ = true;
    }
  }

  void start(const start_message& m) {
    const auto no = [&](std::string_view sentence) {
      (void)letters_.post(net_, manager_, not_started_message{m.number, sentence.substr(0, largest_text)});
    };
    if (draining_) return no("the node drains; try later");
    if (m.workers == 0 || m.workers > free_workers())
      return no("asked for " + std::to_string(m.workers) + " workers; " + std::to_string(free_workers()) + " of " +
                std::to_string(o_.workers) + " are free; try later");
    executor_order order = order_of(m);
    order.common.node = o_.node;
    order.common.fabrics = o_.fabrics;
    auto child = spawn_.start(order);
    if (!child) return no(child.error().sentence);
    const std::uint64_t process = child->number();
    const auto lease = std::chrono::milliseconds(std::clamp<std::uint64_t>(m.lease_ms, 1, longest_lease_ms));
    executors_.push_back({m.number, m.workers, std::move(child).value(), net_.now() + lease, m.client_secret});
    ++started_;
    (void)letters_.post(net_, manager_, started_message{m.number, process});
    tell_state();
  }

  std::uint16_t free_workers() const noexcept {
    std::size_t busy = 0;
    for (const running& e : executors_) busy += e.workers;
    return static_cast<std::uint16_t>(o_.workers - std::min<std::size_t>(busy, o_.workers));
  }
  void tell_state() { (void)letters_.post(net_, manager_, state_message{free_workers(), draining_}); }

  /// Running calls may finish: the manager asks the workers to settle. After the limit the executor is killed.
  void wind_up(running& e, const std::string& why, duration limit, instant now) {
    if (e.kill_at != instant::max()) return;
    e.why = why;
    e.kill_at = now + limit;
    const auto ms = static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(limit).count());
    (void)letters_.post(net_, manager_, wind_up_message{e.number, ms, e.why});
  }
  void end(running& e, const std::string& why, instant at) {
    if (e.why.empty()) e.why = why;
    e.kill_at = std::min(e.kill_at, at);
  }
  void drain() {
    draining_ = true;
    say("asked to end: running calls have " + std::to_string(o_.drain_limit / 1ms) +
        " ms; executors: " + std::to_string(executors_.size()));
    tell_state();
    for (running& e : executors_) wind_up(e, "the node drains", o_.drain_limit, net_.now());
  }

  /// Leases, limits and deaths.
  void look(instant now) {
    for (running& e : executors_) {
      if (!e.end && now >= e.lease_end) wind_up(e, "its lease ended", o_.grace, now);
      if (!e.end && now >= e.kill_at) e.child.kill();
      if (!e.end) e.end = e.child.ended();
    }
    const bool some = std::erase_if(executors_, [this](running& e) { return e.end && report(e); }) > 0;
    if (some && manager_ && !lost_) tell_state();
    if (entered_ && !lost_) tell_orphans();
  }
  /// The next manager bills what the last one cannot.
  void tell_orphans() {
    while (!orphans_.empty()) {
      orphan& o = orphans_.front();
      for (; o.told < o.journals.size(); ++o.told)
        if (!letters_.post(
                net_, manager_,
                orphan_message{o.client_secret, o.workers, static_cast<std::uint16_t>(o.told * journals_per_letter),
                               o.journals[o.told]}))
          return;  // no room: again in the next round
      orphans_.pop_front();
    }
  }
  orphan account_of(running& e) {
    orphan o{e.client_secret, e.workers, {}};
    for (auto all = e.child.journals(); !all.empty();) {
      const std::size_t some = std::min<std::size_t>(journals_per_letter, all.size());
      o.journals.push_back(packed(all.first(some)));
      all = all.subspan(some);
    }
    return o;
  }
  void keep(orphan account) {
    if (orphans_.size() == most_orphans) orphans_.pop_front();
    orphans_.push_back(std::move(account));
  }
  /// The journals, then the end. Returns false where messages wait for room. Without a manager the account is kept for
  /// the next one.
  bool report(running& e) {
    if (!manager_ || lost_) {
      keep(account_of(e));
      return count(e);
    }
    const std::span<worker_journal> all = e.child.journals();
    while (e.told < all.size()) {
      const std::size_t some = std::min<std::size_t>(journals_per_letter, all.size() - e.told);
      const std::string words = packed(all.subspan(e.told, some));
      if (!letters_.post(net_, manager_, journal_message{e.number, static_cast<std::uint16_t>(e.told), words}))
        return false;
      e.told += some;
    }
    const std::string sentence = e.end->sentence + (e.why.empty() || e.end->in_order ? "" : ": " + e.why);
    if (!letters_.post(net_, manager_,
                       ended_message{e.number, e.end->in_order, std::string_view(sentence).substr(0, largest_text)}))
      return false;
    // The manager may be dead, and nobody has noticed it yet.
    if (unnoted_.size() < most_orphans) unnoted_.insert_or_assign(e.number, account_of(e));
    return count(e);
  }
  bool count(const running& e) {
    ++(e.end->in_order ? in_order_ : died_);
    return true;
  }

  /// The last words of a drained node.
  result<void> leave() {
    (void)letters_.post(net_, manager_, left_message{});
    for (const instant end = net_.now() + 1s; !letters_.idle() && !lost_ && net_.now() < end;) (void)round();
    (void)net_.close(manager_, 1s, events{*this});
    return {};
  }
  /// The manager is gone: its executors see that and end. Late ones are killed.
  void abandon() {
    const instant end = net_.now() + o_.grace;
    lost_ = true;
    for (auto& [number, account] : unnoted_) keep(std::move(account));
    unnoted_.clear();
    while (!executors_.empty()) {
      for (running& e : executors_) this->end(e, "its manager is gone", end);
      rest(10ms);
    }
    if (manager_.alive()) (void)net_.close(manager_, 100ms, events{*this});
    letters_.forget(manager_);
    manager_ = {};
  }
  void say(const std::string& sentence) const { std::cout << printable(o_.name + ": " + sentence) << std::endl; }

  static constexpr std::uint64_t longest_lease_ms = 86'400'000;
  static constexpr std::size_t most_orphans = 1024;  ///< Then the oldest account goes.

  daemon_options o_;
  outbox<F> letters_;  ///< Before the transport: its memory outlives posts that are still under way.
  transport<F> net_;
  process_spawner spawn_;
  std::vector<running> executors_;
  std::map<std::uint64_t, orphan> unnoted_;  ///< Reported to the manager, which has not answered.
  std::deque<orphan> orphans_;               ///< For the next manager.
  peer manager_;
  std::string at_;    ///< The manager's address.
  std::string loss_;  ///< Why it was lost.
  bool entered_ = false;
  bool lost_ = false;
  bool dismissed_ = false;
  bool draining_ = false;
  std::uint64_t started_ = 0, in_order_ = 0, died_ = 0;
};

}  // namespace weft::invocation::nodes
