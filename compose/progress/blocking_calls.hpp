// SPDX-License-Identifier: Apache-2.0
//
// One step of progress, and the calls that wait: each is a loop of steps with a deadline, asleep between them where the
// transport was opened for it. Waiting calls refuse to run inside a handler: they would tell events out of order. Hot
// path: step(). Threads: the owner's.
#pragma once

#include "../connecting/host_and_service.hpp"
#include "../events.hpp"
#include "../receiving/cq_poller.hpp"
#include "timers.hpp"

#include <optional>
#include <string>
#include <thread>

namespace weft::detail {

/// The handler of waiting calls that were given none: messages stay for later, whatever else arrives ends the wait with
/// an error, so that nothing is lost unseen.
struct refuse_events {
  const char* seen = nullptr;
  void operator()(const completed&) { seen = "an operation's end"; }
  void operator()(const failed&) { seen = "an operation's failure"; }
  bool operator()(const received&) { return false; }
  void operator()(const notified&) { seen = "a notice"; }
  void operator()(const requested&) { seen = "a request to connect"; }
  void operator()(const connected&) { seen = "a connection"; }
  void operator()(const lost&) { seen = "the loss of a peer"; }
};

/// The user's handler, given events as const lvalues: an rvalue would prefer a catch-all `[](auto&&) {}` to the
/// overload
/// `[](const notified&) {}` beside it.
template <class Handler>
struct told_to {
  Handler* on;
  template <class Event>
  decltype(auto) operator()(const Event& event) const {
    return (*on)(event);
  }
};

template <class Engine>
class blocking_calls {
 public:
  using record = typename Engine::record;

  explicit blocking_calls(Engine& e) noexcept : e_(e) {}

  template <class Handler>
  [[gnu::always_inline]] int step(Handler& on) {
    if (!e_.poll_budget.quick_poll()) [[unlikely]]
      return attentive_step(e_, on);
    return cq_poller<Engine, told_to<Handler>>::template poll<true>(e_, on);
  }

  template <class Done, class Handler>
  status until(Done&& done, duration timeout, Handler& on) {
    if (e_.handling()) return error(errc::invalid, "waiting inside a handler");
    const instant end = e_.port->now() + timeout;
    for (std::uint32_t idle = 0; !done();) {
      idle = step(on) > 0 ? 0 : idle + 1;
      if (done()) return {};
      if (idle % 16 == 15 && e_.port->now() >= end) return error(errc::deadline, "until");
      if (idle % 32 == 31) std::this_thread::yield();  // the peer may need this processor
      if (idle > 2000 && e_.options.sleeps) (void)sleep(end - e_.port->now());
    }
    return {};
  }

  template <class Post, class Handler>
  status retry(Post&& post, duration timeout, Handler& on) {
    status answered = post();
    if (!answered.is_again()) return answered;
    const auto settled = [&] {
      answered = post();
      return !answered.is_again();
    };
    const status waited = until(settled, timeout, on);
    return answered.is_again() ? waited : answered;
  }

  status sleep(duration at_most) noexcept {
    e_.poll_budget.timers_after(0);
    if constexpr (Engine::coalesces) {
      coalescing<Engine>(e_).poll(false);
      if (!e_.gathering.empty()) return {};  // the queue was full, and what was gathered must go
    }
    if constexpr (Engine::ends_at_return)
      if (!e_.ended.empty()) return {};
    if (!e_.options.sleeps || e_.draining)
      return {};  // the event that a link ended has been read: nothing would wake us for it
    const auto none = [](auto&&) {};
    duration due = timers<Engine, const decltype(none)>(e_, none).until_due();
    // Arming may take the bytes of a cell or of a message from the stream, and no entry of a queue would say so.
    if constexpr (Engine::watches_cells || Engine::watches_messages) due = std::min<duration>(due, 1ms);
    const status s = e_.port->wait(e_.port->now() + std::min(at_most, due));
    return s.code == errc::deadline ? status{} : s;
  }

  // ---- meeting
  result<peer> start(std::string_view where, const_bytes private_data, bool has, duration timeout = 5s) {
    auto place = host_and_service::parse(where);
    if (!place) return std::move(place).error();
    auto address = [&] {
      if constexpr (answer<typename Engine::fabric, bootstrap_family>::side_channel)
        return Engine::oob_exchange::fetch(place->host, place->service, timeout);
      else return e_.port->resolve(place->host, place->service);
    }();
    if (!address) return std::move(address).error();
    return connection_manager<Engine>(e_).start(*address, private_data, has);
  }

  template <class Handler>
  result<peer> connect(std::string_view where, const_bytes private_data, bool has, duration timeout, Handler& on) {
    if (e_.handling())
      return {error(errc::invalid, "connect"),
              "connect() waits and cannot be called inside a handler; use start_connect()"};
    const instant end = e_.port->now() + timeout;
    auto started = start(where, private_data, has, timeout);
    if (!started) return started;
    const peer wanted = *started;
    status ended = again(waits_for::connection, "connect");
    std::string reason;
    auto watch = overloaded{[&](const connected& c) {
                              if (c.peer == wanted) ended = {};
                              else on(c);
                            },
                            [&](const lost& l) {
                              if (l.peer == wanted) {
                                ended = l.why;
                                reason = e_.last_reason;
                              } else {
                                on(l);
                              }
                            },
                            [&](const received& m) { return offer(on, m); }, [&](const auto& other) { on(other); }};
    const status waited =
        until([&] { return !ended.is_again() || interrupted(on); }, std::max(duration(0), end - e_.port->now()), watch);
    if (ended) return wanted;
    if (ended.is_again()) {
      teardown<Engine>(e_).forget(*static_cast<record*>(peer_access::record(wanted)));
      if (const char* seen = interrupted(on))
        return {error(errc::broken, "connect"),
                std::string(seen) + " arrived while connect() waited; pass a handler for events"};
      return {waited, "nobody answered at " + std::string(where) + " within " + seconds(timeout) +
                          ": start the listener first; it must be built for fabric " +
                          std::string(Engine::fabric::name) + " and call progress()"};
    }
    return {ended, explain(where, ended, reason)};
  }

  template <class Handler>
  result<peer> accept_one(duration timeout, Handler& on) {
    if (!e_.options.listens)
      return {
          error(errc::invalid, "accept"),
          "accept_one() waits for ever here: this transport does not listen; open it with a service or with listens"};
    std::optional<peer> asked;
    auto watch = overloaded{[&](const requested& r) {
                              if (!asked) asked = r.peer;
                              else on(r);
                            },
                            [&](const received& m) { return offer(on, m); }, [&](const auto& other) { on(other); }};
    const status waited = until([&] { return asked.has_value() || interrupted(on); }, timeout, watch);
    if (!asked) {
      if (const char* seen = interrupted(on))
        return {error(errc::broken, "accept"),
                std::string(seen) + " arrived while accept_one() waited; pass a handler for events"};
      return {waited, "nobody asked to connect in time"};
    }
    if (const status s = answer_request(*asked, {}, false); !s) return {s, "the request was withdrawn"};
    return *asked;
  }

  status send_region(peer to, const region_bytes& description) noexcept {
    if (!to.alive()) return error(errc::peer_lost, "send_region");
    return e_.tell(record_of(to), wire::message_kind::region, description);
  }
  template <class Handler>
  result<remote_region> receive_region(peer from, duration timeout, Handler& on) {
    const auto came = [&] {
      return from.alive() && record_of(from).words != nullptr && !record_of(from).words->regions.empty();
    };
    const status waited = until([&] { return came() || !from.alive() || interrupted(on); }, timeout, on);
    if (came()) {
      auto& kept = record_of(from).words->regions;
      const region_bytes description = kept.front();
      kept.erase(kept.begin());
      return remote_region::parse(description, Engine::fabric::fingerprint, usual_atomicity<typename Engine::fabric>);
    }
    if (!from.alive())
      return {error(errc::peer_lost, "receive region"), "the peer was lost before it described its region"};
    if (const char* seen = interrupted(on))
      return {error(errc::broken, "receive region"),
              std::string(seen) + " arrived while receive_region() waited; pass a handler for events"};
    return {waited, "the peer did not describe its region in time"};
  }

  status answer_request(peer p, const_bytes private_data, bool has) noexcept {
    record* r = request(p);
    if (r == nullptr) return error(errc::peer_lost, "accept");
    if (private_data.size() > wire::largest_private_data) return error(errc::invalid, "accept");
    return connection_manager<Engine>(e_).accept(*r, private_data, has);
  }
  status refuse_request(peer p, std::string_view reason) {
    record* r = request(p);
    if (r == nullptr) return error(errc::peer_lost, "reject");
    connection_manager<Engine>(e_).reject(*r, errc::rejected, std::string(reason.substr(0, wire::largest_reason)));
    return {};
  }

 private:
  /// A step while something is put off, or with timers due, or from inside a handler, which finds nothing.
  template <class Handler>
  [[gnu::noinline]] static int attentive_step(Engine& e, Handler& on) {
    e.poll_budget.not_quick();
    if (e.handling()) return 0;
    using looks = cq_poller<Engine, told_to<Handler>>;
    const bool timers_are_due =
        e.poll_budget
            .are_timers_due();  // counts this look: whoever puts something off before each, as a group, has timers too
    const int found =
        e.poll_budget.is_put_off() ? looks::poll_and_run_deferred(e, {&on}) : looks::template poll<false>(e, on);
    if (timers_are_due) keep_up(e, on);
    return found;
  }
  template <class Handler>
  [[gnu::noinline]] static void keep_up(Engine& e, Handler& on) {
    e.poll_budget.begin_handling();
    told_to<Handler> told{&on};
    timers<Engine, told_to<Handler>>(e, told).run();
    (void)e.poll_budget.end_handling();
  }

  /// Requires: alive.
  static record& record_of(peer p) noexcept { return *static_cast<record*>(peer_access::living(p)); }
  record* request(peer p) noexcept {
    auto* r = static_cast<record*>(peer_access::record(p));
    return r != nullptr && r->number == peer_access::number(p) && r->state == peer_state::requested ? r : nullptr;
  }

  template <class Handler>
  static const char* interrupted(const Handler& on) noexcept {
    if constexpr (requires { on.seen; }) return on.seen;
    else return nullptr;
  }

  /// "10 s", or "250 ms".
  static std::string seconds(duration d) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
  }
  static std::string explain(std::string_view where, status why, const std::string& reason) {
    std::string text(where);
    switch (why.code) {
      case errc::rejected:
        text += " refused the connection";
        break;
      case errc::incompatible:
        text += " cannot talk to this build";
        break;
      case errc::unreachable:
        text += " is not reachable: nobody listens there with fabric " + std::string(Engine::fabric::name) +
                "; start the listener first";
        break;
      default:
        text += " was lost while connecting";
        break;
    }
    return reason.empty() ? text : text + ": " + reason;
  }

  Engine& e_;
};

}  // namespace weft::detail
