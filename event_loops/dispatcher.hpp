// SPDX-License-Identifier: Apache-2.0
//
// Hands each event of a transport to the wait that it ends. Asio (asio.hpp) and senders (senders.hpp) both stand on it.
// An event ends a wait inside progress(); deliver() calls the initiator, outside. So it may post, connect and destroy.
// Hot path: yes: lists without allocation, one indirect call per end. Threads: the transport's owner.
#pragma once

#include "../compose/transport.hpp"
#include "../core/describe.hpp"
#include "event_router.hpp"
#include "kept_memory.hpp"
#include "pending.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace weft::event_loops {

template <complete_fabric F>
class dispatcher {
  using places = coroutines::waiter_list<coroutines::queue_place, pending>;

 public:
  using fabric = F;
  /// Requires: the transport outlives the dispatcher, does not move, and makes progress through it alone. Operations
  /// that are in_flight() at the end complete to the next handler.
  explicit dispatcher(transport<F>& net, const dispatcher_options& o = {})
      : net_(net),
        tickets_(std::max(o.operations, 1U)),
        kept_(std::max(o.operations, 1U)),
        keeps_notices_(o.kept_notices),
        keeps_callers_(o.kept_callers) {
    notices_.reserve(o.kept_notices);
    callers_.reserve(o.kept_callers);
  }

  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;
  ~dispatcher() {
    for (stop(); !ready_.empty();) {
      pending& p = ready_.front();
      p.forget();
      if (p.dropped != nullptr) p.dropped(p);
    }
  }

  transport<F>& net() noexcept { return net_; }
  /// Called before each use of the transport that comes from outside progress(): an armed loop disarms, and polls soon.
  void on_use(void (*call)(void*), void* context) noexcept { used_ = call, used_context_ = context; }
  /// Called for each lost peer, inside progress().
  void on_lost(std::function<void(const lost&)> call) { lost_ = std::move(call); }

  // ---- what can be awaited
  void begin_post(pending& p) noexcept {
    if (!begins(p)) return;
    if (!to_post_.empty() || !try_to_post(p)) to_post_.add(p);
  }
  void begin_message(pending& p) noexcept {
    if (!begins(p)) return;
    if (p.from && !p.from.alive()) return end(p, {error(errc::peer_lost, "receive"), p.from});
    for_messages_.add(p);
  }
  void begin_notice(pending& p) noexcept {
    if (!begins(p)) return;
    const auto kept = std::ranges::find_if(notices_, [&](const notified& n) { return p.wants.takes(n.immediate); });
    if (kept == notices_.end()) return for_notices_.add(p);
    end(p, {{}, kept->peer, kept->immediate});
    notices_.erase(kept);
  }
  /// Resolves and dials at once, which may block where the row's addresses come by the side channel.
  void begin_connect(pending& p, const std::string& where) {
    if (!begins(p)) return;
    auto started = net_.start_connect(where);
    if (!started) {
      last_refusal_ = started.error().sentence;
      return end(p, {started.why()});
    }
    p.from = *started;
    for_connections_.add(p);
  }
  void begin_accept(pending& p) noexcept {
    if (!begins(p)) return;
    for_callers_.add(p);
    accept_callers();
  }
  /// Asks p.post now, and after each progress(), until it answers anything but `again`.
  void begin_watch(pending& p) noexcept {
    if (begins(p)) ask(p);
  }

  /// What a watch of a region asks. Errors: `again`, while no description has come.
  status ask_for_region(peer from, remote_region& found) noexcept {
    const auto came = net_.receive_region(from, duration(0), router{*this});
    if (came) found = *came;
    return came.why().code == errc::deadline ? again(waits_for::nothing, "receive_region") : came.why();
  }

  /// Gives up the wait. An operation that was posted goes on, and uses its memory until in_flight() counts it no more.
  void cancel(pending& p) noexcept {
    if (!p.waits()) return;
    uses();
    drop_connection(p);
    end(p, {error(errc::closed, "cancelled"), p.from, 0, true});
  }
  /// Closes a peer as transport::close() does, which waits for the peer's operations, at most `timeout`. What waits for
  /// the peer ends with `closed`.
  status close(peer p, duration timeout) {
    uses();
    const status how = net_.close(p, timeout, router{*this});
    end_all_of(p, error(errc::closed, "close"));
    return how;
  }
  /// Ends every wait with `closed`, which deliver() reports. What begins later ends so too. Connections that are not
  /// established are closed.
  void stop() noexcept {
    const status why = error(errc::closed, "stop");
    stopped_ = true;
    while (!for_connections_.empty()) {
      pending& p = for_connections_.front();
      drop_connection(p);
      end(p, {why});
    }
    for (places* each : {&to_post_, &for_messages_, &for_notices_, &for_callers_, &watched_})
      while (!each->empty()) end(each->front(), {why});
    tickets_.each_waiter([&](pending& p) { end(p, {why}); });
  }

  // ---- progress
  /// One step of the transport. Ended waits are ready for deliver(). Returns what the transport's progress() returned.
  int progress() {
    const int found = net_.progress(router{*this});
    for (bool more = true; more;) more = !to_post_.empty() && try_to_post(to_post_.front());
    if (!watched_.empty()) ask_all();
    if (next_due_ != coroutines::no_deadline) expire(net_.now());
    return found;
  }
  /// Tells the initiators of ended waits. They may begin others; those end in a later call.
  void deliver() noexcept {
    kept_.release();
    places now;
    ready_.move_to(now, [](const pending&) { return true; });
    while (!now.empty()) {
      pending& p = now.front();
      p.forget();
      p.ended(p);
    }
  }
  bool has_ready() noexcept { return !ready_.empty(); }
  /// How long the owner may sleep, for the waits.
  duration longest_sleep() noexcept {
    if (!ready_.empty()) return duration(0);
    duration most = to_post_.empty() ? duration(1h) : duration(1ms);  // what a post waits for may come without an event
    if (next_due_ != coroutines::no_deadline) most = std::min(most, std::max(duration(0), next_due_ - net_.now()));
    return most;
  }
  /// Makes progress until `done()`, for programs without a loop. Errors: deadline.
  template <class Done>
  status until(Done&& done, duration timeout) {
    const instant end = after(net_.now(), timeout);
    for (std::uint32_t idle = 0; !done(); deliver()) {
      idle = progress() > 0 || has_ready() ? 0 : idle + 1;
      if (idle % 16 == 15 && net_.now() >= end) return error(errc::deadline, "until");
      if (idle % 32 == 31) std::this_thread::yield();
      if (idle > 200) (void)net_.wait(std::min(longest_sleep(), end - net_.now()));
    }
    return {};
  }

  /// Operations in flight, with those that were given up: the library still uses their memory.
  std::uint32_t in_flight() const noexcept { return tickets_.out(); }
  /// Notices that were dropped, and ends of operations that were posted elsewhere.
  std::uint64_t unclaimed_events() const noexcept { return unclaimed_; }
  /// Why the last peer was lost, or could not be connected.
  const std::string& last_refusal() const noexcept { return last_refusal_; }

 private:
  void uses() noexcept { used_ == nullptr ? void() : used_(used_context_); }
  bool begins(pending& p) noexcept {
    uses();
    p.got = {}, p.is_ready = false;
    if (stopped_) return end(p, {error(errc::closed, "stop")}), false;
    if (p.due == coroutines::no_deadline) return true;
    timed_.add(p);
    next_due_ = std::min(next_due_, p.due);
    return true;
  }
  void end(pending& p, const outcome& how) noexcept {
    if (p.held != nullptr && p.keeps.use_count() > 0) kept_.keep(tickets_.index_of(p.held), std::move(p.keeps));
    p.forget();
    p.got = how, p.is_ready = true;
    ready_.add(p);
  }

  /// False: no ticket, or the transport answered `again`.
  bool try_to_post(pending& p) noexcept {
    ticket* const t = tickets_.take(p);
    if (t == nullptr) return false;
    const status s = p.post(p.request, t);
    if (s) return p.queue_place::leave(), true;
    p.held = nullptr;
    tickets_.give(*t);
    if (s.is_again()) return false;
    return end(p, {s}), true;
  }
  void ask(pending& p) noexcept {
    watched_.add(p);
    if (const status s = p.post(p.request, nullptr); !s.is_again()) end(p, {s, p.from});
  }
  void ask_all() noexcept {
    places all;
    watched_.move_to(all, [](const pending&) { return true; });
    while (!all.empty()) ask(all.front());
  }
  void expire(instant now) noexcept {
    if (now < next_due_) return;
    coroutines::waiter_list<coroutines::timed_place, pending> over;
    next_due_ = coroutines::no_deadline;
    timed_.move_to(over, [&](const pending& p) {
      if (p.due <= now) return true;
      next_due_ = std::min(next_due_, p.due);
      return false;
    });
    while (!over.empty()) {
      pending& p = over.front();
      drop_connection(p);
      end(p, {error(errc::deadline, "wait"), p.from});
    }
  }
  /// A connection that nobody waits for any more must not stand later. It is not alive yet, and has a record.
  void drop_connection(pending& p) noexcept {
    const peer wanted = p.from;
    if (for_connections_.find([&](const pending& each) { return &each == &p; }) == nullptr) return;
    p.queue_place::leave();
    if (wanted) (void)net_.close(wanted, duration(0), router{*this});
  }
  void end_all_of(peer gone, const status& why) noexcept {
    for (places* each : {&for_messages_, &for_connections_, &watched_}) {
      places theirs;
      each->move_to(theirs, [&](const pending& p) { return p.from == gone; });
      while (!theirs.empty()) end(theirs.front(), {why, gone});
    }
  }
  void accept_callers() noexcept {
    while (!for_callers_.empty() && !callers_.empty()) {
      if (net_.accept(callers_.front())) end(for_callers_.front(), {{}, callers_.front()});
      callers_.erase(callers_.begin());
    }
  }

  friend detail::event_router<dispatcher>;
  using router = detail::event_router<dispatcher>;
  void ends(void* context, const outcome& how) noexcept {
    if (!tickets_.holds(context)) return (void)++unclaimed_;
    kept_.let_go(tickets_.index_of(context));
    if (pending* p = tickets_.redeem(context)) end(*p, how);
  }
  bool takes(const received& e) noexcept {
    pending* const p = for_messages_.find([&](const pending& each) { return !each.from || each.from == e.peer; });
    if (p == nullptr) return false;  // it stays in the transport
    const bool fits = e.message.size() <= p->into.size();
    if (fits && !e.message.empty()) std::memcpy(p->into.data(), e.message.data(), e.message.size());
    end(*p, {fits ? status{} : error(errc::truncated, "receive"), e.peer, e.message.size()});
    return true;
  }
  void takes(const notified& e) noexcept {
    if (pending* p = for_notices_.find([&](const pending& each) { return each.wants.takes(e.immediate); }))
      end(*p, {{}, e.peer, e.immediate});
    else if (notices_.size() < keeps_notices_) notices_.push_back(e);
    else ++unclaimed_;
  }
  void takes(const requested& e) {
    if (for_callers_.empty() && callers_.size() == keeps_callers_)
      return (void)net_.reject(e.peer, "nobody accepts here now");
    callers_.push_back(e.peer);
    accept_callers();
  }

  transport<F>& net_;
  coroutines::ticket_pool_of<pending> tickets_;
  kept_memory kept_;
  places to_post_, for_messages_, for_notices_, for_connections_, for_callers_, watched_, ready_;
  coroutines::waiter_list<coroutines::timed_place, pending> timed_;
  instant next_due_ = coroutines::no_deadline;
  std::vector<notified> notices_;
  std::vector<peer> callers_;
  std::size_t keeps_notices_, keeps_callers_;
  std::function<void(const lost&)> lost_;
  void (*used_)(void*) = nullptr;
  void* used_context_ = nullptr;
  std::string last_refusal_;
  std::uint64_t unclaimed_ = 0;
  bool stopped_ = false;
};

}  // namespace weft::event_loops
