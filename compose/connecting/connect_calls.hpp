// SPDX-License-Identifier: Apache-2.0
//
// The calls by which an application meets peers: connect, start_connect, accept, reject. connect() comes first, and
// start() below it calls the port. `Waits` is the class of progress/blocking_calls.hpp: a parameter, because that room
// comes later. Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/if_memory.hpp"
#include "connection_manager.hpp"
#include "host_and_service.hpp"
#include "refuse_events.hpp"

#include <optional>
#include <string>

namespace weft::detail {

template <class Engine, class Waits>
class connect_calls {
 public:
  using record = typename Engine::record;

  explicit connect_calls(Engine& e) noexcept : e_(e) {}

  /// Connects, and returns when the peer has accepted or refused. Events of other peers go to `on`.
  result<peer> connect(std::string_view where, const_bytes private_data, bool has, duration timeout,
                       waiting_handler waits) {
    if (e_.handling())
      return {error(errc::invalid, "connect"),
              "connect() waits and cannot be called inside a handler; use start_connect()"};
    const instant end = after(e_.port->now(), timeout);
    auto started = start(where, private_data, has, timeout);
    if (!started) return started;
    const peer wanted = *started;
    status ended = again(waits_for::connection, "connect");
    std::string reason;
    const erased_handler on = waits.events();
    auto watch = overloaded{[&](const connected& c) {
                              if (c.peer == wanted) ended = {};
                              else on(c);
                            },
                            [&](const lost& l) {
                              if (l.peer == wanted) ended = l.why, reason = e_.last_reason;
                              else on(l);
                            },
                            [&](const received& m) { return on(m); }, [&](const auto& other) { on(other); }};
    const erased_handler watching = erased_handler::of(watch);
    const status waited = Waits(e_).until([&] { return !ended.is_again() || waits.interrupted() != nullptr; },
                                          std::max(duration(0), end - e_.port->now()), watching);
    if (ended && waits.interrupted() == nullptr) return wanted;
    if (!ended && !ended.is_again()) return {ended, explain(where, ended, reason)};
    auto& to = *static_cast<record*>(peer_access::record(wanted));
    if (ended) (void)e_.say_goodbye(to);  // the same poll found an event that nobody takes
    teardown<Engine>(e_).forget(to);
    if (const char* seen = waits.interrupted()) return passed_over("connect", seen);
    return {waited, "nobody answered at " + std::string(where) + " within " + seconds(timeout) +
                        ": start the listener first; it must be built for fabric " + std::string(Engine::fabric::name) +
                        " and call progress()"};
  }
  /// Begins to connect; `connected` or `lost` reports the end.
  result<peer> start(std::string_view where, const_bytes private_data, bool has, duration timeout = 5s) {
    std::optional<result<peer>> made;
    record* begun = nullptr;
    if (if_memory([&] { made.emplace(start(where, private_data, has, timeout, begun)); })) return *std::move(made);
    if (begun != nullptr) teardown<Engine>(e_).forget(*begun);
    return {error(errc::no_memory, "connect"), "no memory for another connection"};
  }
  /// The same, where no memory is an exception. `begun`: the record, which the caller gives back then.
  result<peer> start(std::string_view where, const_bytes private_data, bool has, duration timeout, record*& begun) {
    if (private_data.size() > wire::largest_private_data)
      return {error(errc::invalid, "connect"),
              "private data has " + std::to_string(private_data.size()) + " bytes; at most 64 travel with a request"};
    if (e_.entropy() == 0) return without_random_numbers();
    auto place = host_and_service::parse(where);
    if (!place) return std::move(place).error();
    auto address = side_channel
                       ? Engine::oob_exchange::fetch(place->host, place->service, timeout, e_.side_channel.get())
                       : e_.port->resolve(place->host, place->service);
    if (!address) return std::move(address).error();
    record* const r = begun =
        admission<Engine>(e_).make_room_for_own() ? handshakes().begin(peer_event::owner_connects) : nullptr;
    if (r == nullptr)
      return {error(errc::no_memory, "connect"), "all " + std::to_string(e_.peers.capacity()) +
                                                     " peer records are in use (transport_options::peers) [WEFT-O012]"};
    if (!typename Engine::template authentication<Engine>(e_).begin(*r)) {
      teardown<Engine>(e_).forget(*r);
      return without_random_numbers();
    }
    if (!handshakes().keep_private(*r, private_data, has)) {
      teardown<Engine>(e_).forget(*r);
      return {error(errc::no_memory, "connect"), "no memory for the private data of a request"};
    }
    r->handshake_pending = true;
    auto link = e_.port->dial(*address, r->number);
    if (!link) {
      teardown<Engine>(e_).forget(*r);
      return std::move(link).error();
    }
    links<Engine>(e_).attach(*r, *link);
    if (!Engine::connected) connection_manager<Engine>(e_).link_stands(*r);  // an address carries messages at once
    return e_.handle(*r);
  }

  /// Waits for one request and accepts it. Without a handler, further requests of the same poll stay for the next call.
  result<peer> accept_one(duration timeout, waiting_handler waits) {
    if (!e_.options.listens)
      return {error(errc::invalid, "accept"),
              "accept_one() needs a transport that listens, and this one does not listen: open it with a service or "
              "with listens"};
    peer asked = oldest_kept();
    const erased_handler on = waits.events();
    auto watch = overloaded{[&](const requested& r) {
                              if (waits.refuses()) keep(r.peer);
                              else if (asked) on(r);
                              if (!asked) asked = r.peer;
                            },
                            [&](const lost& l) {
                              if (!is_kept(l.peer)) on(l);
                            },
                            [&](const received& m) { return on(m); }, [&](const auto& other) { on(other); }};
    const erased_handler watching = erased_handler::of(watch);
    const status waited = Waits(e_).until([&] { return asked || waits.interrupted() != nullptr; }, timeout, watching);
    if (const char* seen = waits.interrupted()) return passed_over("accept_one", seen);  // a request stays
    if (!asked) return {waited, "nobody asked to connect in time"};
    if (waited.code == errc::invalid) return {waited, "accept_one() waits and cannot be called inside a handler"};
    if (const status s = accept(asked, {}, false); !s) return {s, "the request was withdrawn"};
    return asked;
  }
  /// Keeps a request that no handler gets, for the next accept_one().
  void keep(peer p) noexcept {
    if (record* const r = record_of(p)) r->request_kept = true;
  }
  bool is_kept(peer p) const noexcept {
    const record* const r = record_of(p);
    return r != nullptr && r->request_kept;
  }
  /// Nobody, where no request was kept.
  peer oldest_kept() noexcept {
    record* oldest = nullptr;
    e_.peers.each_unfinished([&](record& r) {
      const bool waits = r.request_kept && r.state == peer_state::requested;
      if (waits && (oldest == nullptr || e_.tick - r.since > e_.tick - oldest->since)) oldest = &r;
    });
    return oldest == nullptr ? peer() : e_.handle(*oldest);
  }
  /// Accepts a request. Errors: peer_lost, when there is no request of this peer any more; invalid; no_memory.
  status accept(peer p, const_bytes private_data, bool has) noexcept {
    record* const r = record_of(p);
    if (r == nullptr) return error(errc::peer_lost, "accept");
    if (private_data.size() > wire::largest_private_data) return error(errc::invalid, "accept");
    if (step_of(r->state, peer_event::owner_accepts).does == peer_action::refuse_call)
      return error(errc::peer_lost, "accept");
    if (!handshakes().keep_private(*r, private_data, has)) return error(errc::no_memory, "accept");
    (void)advance(e_, *r, peer_event::owner_accepts);
    r->request_kept = false;
    r->last_sent = e_.tick;
    handshakes().send(*r);
    return {};
  }
  /// Refuses a request. The first wire::largest_reason bytes of the reason travel. Errors: peer_lost.
  status reject(peer p, std::string_view reason) {
    record* const r = record_of(p);
    if (r == nullptr || advance(e_, *r, peer_event::owner_rejects) == peer_action::refuse_call)
      return error(errc::peer_lost, "reject");
    handshakes().keep_reason(*r, errc::rejected, std::string(reason.substr(0, wire::largest_reason)));
    handshakes().send(*r);
    return {};
  }

  // ---- sentences
  static failure passed_over(const char* call, const char* seen) {
    return {error(errc::broken, call),
            std::string(seen) + " arrived while " + call + "() waited; pass a handler for events [WEFT-O009]"};
  }
  /// "10 s", or "250 ms".
  static std::string seconds(duration d) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
  }
  static std::string explain(std::string_view where, status why, const std::string& reason) {
    std::string text(where);
    std::string_view id;
    switch (why.code) {
      case errc::rejected:
        text += " refused the connection";
        id = " [WEFT-O007]";
        break;
      case errc::incompatible:
        text += " cannot talk to this build";
        id = " [WEFT-O008]";
        break;
      case errc::unreachable:
        text += " is not reachable: nobody listens there with fabric " + std::string(Engine::fabric::name) +
                "; start the listener first. A listener whose places are all taken refuses too: try later";
        id = " [WEFT-O006]";
        break;
      default:
        text += " was lost while connecting";
        break;
    }
    return (reason.empty() ? text : text + ": " + reason).append(id);
  }

 private:
  static constexpr bool side_channel = answer<typename Engine::fabric, bootstrap_family>::side_channel;

  handshake<Engine> handshakes() const noexcept { return handshake<Engine>(e_); }
  static record* record_of(peer p) noexcept {
    auto* const r = static_cast<record*>(peer_access::record(p));
    return r != nullptr && r->number == peer_access::number(p) ? r : nullptr;
  }

  static failure without_random_numbers() {
    return {error(errc::native, "getrandom"), "the kernel gives no random numbers (getrandom(2))"};
  }

  Engine& e_;
};

}  // namespace weft::detail
