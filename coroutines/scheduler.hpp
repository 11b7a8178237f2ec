// SPDX-License-Identifier: Apache-2.0
//
// Coroutines over one transport. A completion wakes the coroutine that waits for it, inside progress(). Other events go
// to the handler, so both styles work on one transport.
// The transport does not include this folder: programs without coroutines pay nothing.
// A coroutine must not call blocking functions (until, connect, close): inside progress() these return an error.
// Hot path: yes: no allocation, and one indirect call per wake-up, which resumes the coroutine. Threads: the
// transport's owner.
#pragma once

#include "../compose/transport.hpp"
#include "awaiters.hpp"
#include "runner.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <thread>

namespace weft::coroutines {

template <complete_fabric F>
class remote;

/// Default handler. Messages stay in the transport until a coroutine waits for them; all other events are counted.
struct unclaimed {
  std::uint64_t count = 0;
  bool operator()(const received& /*stays*/) noexcept { return false; }
  void operator()(const auto& /*event*/) noexcept { ++count; }
};

template <complete_fabric F>
class scheduler : public runner {
 public:
  /// Requires: the transport outlives the scheduler, does not move, and makes progress through the scheduler alone. Its
  /// own progress() and until() call another handler and wake no coroutine. Operations that are in_flight() at the end
  /// complete to the next handler.
  explicit scheduler(transport<F>& net, const runner_options& o = {})
      : runner(o), net_(net), notices_kept_(std::make_unique<notified[]>(o.kept_notices)), keeps_(o.kept_notices) {}
  ~scheduler() { stop(); }

  transport<F>& net() noexcept { return net_; }
  instant now() const noexcept { return net_.now(); }
  /// A peer, as coroutines use it.
  remote<F> with(peer p) noexcept { return remote<F>(*this, p); }

  // Awaitables.
  /// Any posting call of the transport: `co_await net.operation([&](void* context) { return net.net().put(peer, from,
  /// at, context); })`.
  template <class Value = status, class Post>
  auto operation(Post post) noexcept {
    return operation_awaiter<scheduler, Post, Value>(*this, std::move(post));
  }
  /// The next message of any peer. Errors: deadline.
  auto next_message(duration most) noexcept { return message_awaiter<scheduler>(*this, {}, most); }
  /// The next notice, or the next matching notice. Errors: deadline.
  auto next_notice(duration most) noexcept { return notice_awaiter<scheduler>(*this, {}, most); }
  auto next_notice(notice_match which, duration most) noexcept { return notice_awaiter<scheduler>(*this, which, most); }
  auto sleep(duration most) noexcept { return sleep_awaiter<scheduler>(*this, most); }

  // Progress.
  /// Calls the transport's progress() and wakes the coroutines that can continue. Other events go to `on`.
  template <class Handler>
  int progress(Handler&& on) {
    if (is_inside()) return 0;
    const resuming running(*this);
    const int found = net_.progress(router<std::remove_reference_t<Handler>>{*this, on});
    if (!waiting_to_post_.empty()) [[unlikely]]
      post_those_that_wait();
    if (--until_poll_ == 0 || found == 0) {
      until_poll_ = poll_interval;
      if (next_due() != no_deadline) expire(now());
    }
    return found;
  }
  int progress() { return progress(unclaimed_); }
  /// Makes progress until `done()` returns true. Sleeps where the transport was opened with `sleeps`. Errors: deadline;
  /// invalid inside a coroutine.
  template <class Done, class Handler>
  status until(Done&& done, duration most, Handler&& on) {
    if (is_inside()) return error(errc::invalid, "waiting inside a coroutine");
    const instant end = after(now(), most);
    for (std::uint32_t idle = 0; !done();) {
      idle = progress(on) > 0 ? 0 : idle + 1;
      if (done()) break;
      if (idle % 16 == 15 && now() >= end) return error(errc::deadline, "until");
      if (idle % 32 == 31) std::this_thread::yield();
      if (idle > 2000 && waiting_to_post_.empty())
        (void)net_.wait(std::max(duration(0), std::min(end, next_due()) - now()));
    }
    return {};
  }
  template <class Done>
  status until(Done&& done, duration most) {
    return until(done, most, unclaimed_);
  }
  /// Events that neither a coroutine nor a handler took.
  std::uint64_t unclaimed_events() const noexcept { return unclaimed_.count; }

  // Called by awaiters.
  /// Posts the operation. False: it ended at once, with status `why`.
  template <class Awaiter, class Post>
  bool begin(Awaiter& w, Post& /*post*/) noexcept {
    w.attempt = [](operation_waiter& each) noexcept { return try_to_post(as<Awaiter>(each)); };
    if (w.due != no_deadline) limit(w, w.due);
    if (!waiting_to_post_.empty() || !try_to_post(w)) waiting_to_post_.add(w);
    else if (w.held == nullptr) return w.forget(), false;
    return true;
  }
  bool expect(message_waiter& w) noexcept {
    if (w.from && !w.from.alive()) return w.why = error(errc::peer_lost, "message"), false;
    limit(w, w.due);
    for_messages_.add(w);
    return true;
  }
  bool expect(notice_waiter& w) noexcept {
    for (std::uint32_t i = 0; i < kept_; ++i) {
      const notified n = notices_kept_[i];
      if (!w.wants.takes(n.immediate)) continue;
      std::copy(notices_kept_.get() + i + 1, notices_kept_.get() + kept_, notices_kept_.get() + i);
      --kept_;
      w.got = n;
      return w.why = {}, false;
    }
    limit(w, w.due);
    for_notices_.add(w);
    return true;
  }
  void expect(waiter& sleeper) noexcept { limit(sleeper, sleeper.due); }

 private:
  static constexpr std::uint32_t poll_interval = 64;

  /// Each list holds waiters of one kind; each ticket belongs to an operation's waiter.
  template <class Kind>
  static Kind& as(waiter& w) noexcept {
    return static_cast<Kind&>(w);  // NOLINT(cppcoreguidelines-pro-type-static-cast-downcast)
  }

  /// False: no ticket, or the transport answered `again`. True: posted (the waiter holds a ticket) or failed (it holds
  /// none).
  template <class Awaiter>
  static bool try_to_post(Awaiter& w) noexcept {
    ticket_pool& tickets = w.scheduler_.tickets();
    ticket* t = tickets.take(w);
    if (t == nullptr) return false;
    const status s = w.post_(static_cast<void*>(t));
    if (s) return true;
    w.held = nullptr;
    tickets.give(*t);
    w.why = s;
    return !s.is_again();
  }
  void post_those_that_wait() noexcept {
    while (!waiting_to_post_.empty()) {
      auto& w = as<operation_waiter>(waiting_to_post_.front());
      if (!w.attempt(w)) return;
      if (w.held != nullptr) static_cast<queue_place&>(w).leave();
      else w.wake(w.why);
    }
  }

  /// True when the completion belongs to an operation of a coroutine.
  bool end(void* context, const status& how, std::uint64_t old) noexcept {
    if (!tickets().holds(context)) return false;
    if (waiter* w = tickets().redeem(context)) {
      as<operation_waiter>(*w).old = old;
      w->wake(how);
    }
    return true;
  }
  bool deliver(const received& m) noexcept {
    waiter* found = for_messages_.find([&](waiter& w) {
      const peer wanted = as<message_waiter>(w).from;
      return !wanted || wanted == m.peer;
    });
    if (found == nullptr) return false;
    as<message_waiter>(*found).got = m;
    found->wake({});
    return true;
  }
  bool deliver(const notified& n) noexcept {
    if (waiter* found = for_notices_.find([&](waiter& w) { return as<notice_waiter>(w).wants.takes(n.immediate); })) {
      as<notice_waiter>(*found).got = n;
      found->wake({});
      return true;
    }
    if (kept_ == keeps_) return false;
    notices_kept_[kept_++] = n;
    return true;
  }
  void lose(const lost& l) noexcept {
    waiter_list<queue_place> theirs;
    for_messages_.move_to(theirs, [&](waiter& w) { return as<message_waiter>(w).from == l.peer; });
    while (!theirs.empty()) theirs.front().wake(l.why);
  }

  template <class On>
  struct router {
    scheduler& s;
    On& on;
    void operator()(const completed& e) const {
      if (!s.end(e.context, {}, e.old)) on(e);
    }
    void operator()(const failed& e) const {
      if (!s.end(e.context, e.why, 0)) on(e);
    }
    bool operator()(const received& e) const { return s.deliver(e) || offer(on, e); }
    void operator()(const notified& e) const {
      if (!s.deliver(e)) on(e);
    }
    void operator()(const lost& e) const {
      s.lose(e);
      on(e);
    }
    void operator()(const auto& e) const { on(e); }
  };

  transport<F>& net_;
  waiter_list<queue_place> waiting_to_post_;
  waiter_list<queue_place> for_messages_;
  waiter_list<queue_place> for_notices_;
  std::unique_ptr<notified[]> notices_kept_;
  std::uint32_t keeps_;
  std::uint32_t kept_ = 0;
  std::uint32_t until_poll_ = poll_interval;
  unclaimed unclaimed_;
};

}  // namespace weft::coroutines

#include "remote.hpp"  // IWYU pragma: export
