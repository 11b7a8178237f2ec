// SPDX-License-Identifier: Apache-2.0
//
// How peers of a set meet. The caller asks the listener's directory at host:service, chooses a fabric, and connects
// over that fabric; from there on the handshake is that of one fabric. Waiting calls make progress on all fabrics. Hot
// path: no. Threads: the owner's.
#pragma once

#include "../connecting/connect_calls.hpp"
#include "../progress/blocking_calls.hpp"
#include "set_planning.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace weft::detail {

/// Base of transport<fabric_set<F...>>.
template <class Transport, class... F>
class set_peer_calls {
  using state = set_state<F...>;
  using members = set_members<F...>;
  using planning = set_planning<F...>;
  using kind = fabric_verdict::kind;

 public:
  /// Where others connect to: "host:service" for connect() of a set on their side.
  std::string listen_address() const { return state_().listens_at; }
  /// Where programs of fabric G alone connect to. Empty: G is not open, or this transport does not listen.
  template <complete_fabric G>
  std::string listen_address() const {
    std::string found;
    static_assert(members::template has<G>, "weft: the set does not have this fabric [WEFT-C034]");
    if (state_().options.listens)
      self().members_.each([&](auto& net, auto index) {
        if (index() == members::template index_of<G>) found = net.listen_address();
      });
    return found;
  }

  /// Connects by the best fabric that both sides have, and returns when the other side has accepted. The first peer of
  /// a fabric opens it, which may load a library and take longer than the timeout by that. `where` is the host:service
  /// of a set, or fabric@host:service of a program of that fabric alone. Errors: those of one fabric, and incompatible
  /// (no fabric in common, or the best one cannot be used and options.fallback does not allow another).
  template <class Handler = refuse_events>
  result<peer> connect(std::string_view where, duration timeout, Handler&& on = {}) {
    return connect_best(where, {}, false, timeout, on);
  }
  template <class Handler = refuse_events>
  result<peer> connect(std::string_view where, const_bytes private_data, duration timeout, Handler&& on = {}) {
    return connect_best(where, private_data, true, timeout, on);
  }
  /// Begins to connect and returns; the end is `connected` or `lost`. The directory is asked at once. A fabric that
  /// fails later is not followed by another one.
  result<peer> start_connect(std::string_view where) { return start_best(where, {}, false); }
  result<peer> start_connect(std::string_view where, const_bytes private_data) {
    return start_best(where, private_data, true);
  }

  /// Waits for a request on any fabric and accepts it. Errors: invalid (this transport does not listen), deadline.
  template <class Handler = refuse_events>
  result<peer> accept_one(duration timeout, Handler&& on = {}) {
    if (!state_().options.listens)
      return {error(errc::invalid, "accept"),
              "accept_one() needs a transport that listens, and this one does not listen: open it with a service or "
              "with listens"};
    constexpr bool refuses = std::same_as<std::remove_cvref_t<Handler>, refuse_events>;
    peer asked;
    self().members_.each([&](auto& net, auto) { asked = asked ? asked : calls_of(net).oldest_kept(); });
    const auto is_kept = [&](peer p) {
      return self().to_member(p, [&](auto& net, auto) { return calls_of(net).is_kept(p); });
    };
    auto watch = overloaded{[&](const requested& r) {
                              if (refuses)
                                self().to_member(r.peer, [&](auto& net, auto) { calls_of(net).keep(r.peer); });
                              else if (asked) on(r);
                              if (!asked) asked = r.peer;
                            },
                            [&](const lost& l) {
                              if (!is_kept(l.peer)) on(l);
                            },
                            [&](const received& m) { return offer(on, m); }, [&](const auto& other) { on(other); }};
    const status waited = self().until([&] { return asked || interrupted(on) != nullptr; }, timeout, watch);
    if (const char* seen = interrupted(on)) return any_calls::passed_over("accept_one", seen);  // a request stays
    if (!asked) return {waited, "nobody asked to connect in time"};
    if (waited.code == errc::invalid) return {waited, "accept_one() waits and cannot be called inside a handler"};
    if (const status s = accept(asked); !s) return {s, "the request was withdrawn"};
    return asked;
  }
  /// Answers a `requested` event. Errors: those of one fabric, and those of registering this side's regions with a
  /// fabric that had no peer yet.
  status accept(peer p) {
    if (const status s = ready_for(p); !s) return s;
    return self().to_member(p, [&](auto& net, auto) { return net.accept(p); });
  }
  status accept(peer p, const_bytes private_data) {
    if (const status s = ready_for(p); !s) return s;
    return self().to_member(p, [&](auto& net, auto) { return net.accept(p, private_data); });
  }
  status reject(peer p, std::string_view reason) {
    return self().to_member(p, [&](auto& net, auto) { return net.reject(p, reason); });
  }
  template <class Handler = refuse_events>
  status close(peer p, duration timeout, Handler&& on = {}) {
    return self().to_member(p, [&](auto& net, auto) { return net.close(p, timeout, on); });
  }
  /// The sentence of the last `lost` event.
  const std::string& reason() const noexcept {
    static const std::string no_peer_was_lost;
    const std::string* const last = state_().signals.last_reason;
    return last == nullptr ? no_peer_was_lost : *last;
  }
  std::uint32_t largest_message(peer p) noexcept {
    return self().to_member(p, [&](auto& net, auto) { return net.largest_message(p); });
  }

  /// Which fabric reaches the peer, and why not the others: one line for each fabric of the set, the best first. Of a
  /// peer that called this side, only the fabric is known, because the caller chose.
  std::vector<fabric_verdict> explain(peer p) const {
    const peer_header* const record = peer_access::record(p);
    const auto found = state_().choices.find(record);
    if (found != state_().choices.end() && found->second.number == peer_access::number(p))
      return found->second.verdicts;
    if (record == nullptr) return {};
    return {{state::profiles[record->member].name, kind::taken, "the peer called by this fabric"}};
  }
  /// The devices of each open fabric (transport<F>::explain()).
  std::vector<device_verdict> explain() const {
    std::vector<device_verdict> all;
    state_().engines.each_open([&]<std::size_t I>(auto& engine) {
      for (device_verdict& each : devices_of(*engine.port)) all.push_back(std::move(each));
    });
    return all;
  }
  /// The name of the fabric that reaches the peer; empty for nobody.
  static std::string_view fabric_of(peer p) noexcept {
    return p ? state::profiles[peer_access::member(p)].name : std::string_view();
  }
  /// Connections that took another fabric than the best one (fallback::allowed).
  std::uint64_t fallbacks() const noexcept { return state_().fallbacks; }

 protected:
  using any_calls = connect_calls<engine<std::tuple_element_t<0, std::tuple<F...>>>,
                                  blocking_calls<engine<std::tuple_element_t<0, std::tuple<F...>>>>>;
  template <class Net>
  static auto calls_of(Net& net) noexcept {
    auto& e = transport_parts::engine_of(net);
    using engine_type = std::remove_reference_t<decltype(e)>;
    return connect_calls<engine_type, blocking_calls<engine_type>>(e);
  }
  static const char* interrupted(const refuse_events& on) noexcept { return on.seen; }
  template <class Handler>
  static const char* interrupted(const Handler& /*on*/) noexcept {
    return nullptr;
  }

 private:
  Transport& self() noexcept { return static_cast<Transport&>(*this); }
  const Transport& self() const noexcept { return static_cast<const Transport&>(*this); }
  state& state_() noexcept { return *self().state_; }
  const state& state_() const noexcept { return *self().state_; }

  /// Registers this side's regions with the fabric of a peer that asks.
  status ready_for(peer p) {
    if (!p) return error(errc::peer_lost, "accept");
    status why;
    if (!if_memory([&] { why = state_().memory.use(state_().engines, peer_access::member(p)).why(); }))
      return error(errc::no_memory, "accept");
    return why;
  }

  /// Tries fabrics in their order. `begin(number, address)` returns result<peer>.
  template <class Begin>
  result<peer> best(std::string_view where, duration timeout, Begin&& begin) {
    std::optional<result<peer>> made;
    if (if_memory([&] { made.emplace(best_in_memory(where, timeout, begin)); })) return *std::move(made);
    return {error(errc::no_memory, "connect"), "no memory for another connection"};
  }
  /// Whether a fabric from this place on would serve the pair too.
  static bool has_next(const connection_plan& p, std::size_t from) {
    return std::any_of(p.verdicts.begin() + static_cast<std::ptrdiff_t>(from), p.verdicts.end(),
                       [](const fabric_verdict& each) { return each.is == kind::next; });
  }
  /// Begins over this place of the plan, after its fabric has the regions.
  template <class Begin>
  result<peer> with_memory(const connection_plan& p, std::size_t place, Begin& begin) {
    if (auto registered = state_().memory.use(state_().engines, p.order[place]); !registered)
      return std::move(registered).error();
    return begin(p.order[place], p.addresses[place]);
  }
  template <class Begin>
  result<peer> best_in_memory(std::string_view where, duration timeout, Begin& begin) {
    const planning plans(state_());
    if (const std::size_t named = planning::named_in(where); named < state::count) (void)self().open_late(named);
    auto planned = plans.make(where, timeout);
    if (!planned) return std::move(planned).error();
    connection_plan& p = *planned;
    for (std::size_t i = 0; i < p.verdicts.size(); ++i) {
      if (p.verdicts[i].is == kind::next && !self().open_late(p.order[i])) plans.found_closed(p, i);
      if (p.verdicts[i].is == kind::unusable) {
        if (!plans.may_fall_back(p, i, p.verdicts[i].reason))
          return plans.refused(where, p, i, error(errc::incompatible, "connect"));
        continue;
      }
      if (p.verdicts[i].is != kind::next) continue;
      result<peer> made = with_memory(p, i, begin);
      if (made) {
        plans.chose(where, p, i, *made);
        return made;
      }
      // The application's own answer, or an event that nobody took, says nothing about the fabric.
      if (made.why().code == errc::rejected || made.why().code == errc::broken) return made;
      if (!plans.may_fall_back(p, i, made.error().sentence))
        return has_next(p, i + 1) ? plans.refused(where, p, i, made.why()) : made;
    }
    return plans.nothing_in_common(where, p);
  }

  result<peer> begin_on(std::size_t member, std::string_view address, const_bytes private_data, bool has) {
    auto begun = self().members_.at(member, [&](auto& net, auto) {
      return has ? net.start_connect(address, private_data) : net.start_connect(address);
    });
    if (begun) self().now_active(member);
    return begun;
  }
  result<peer> start_best(std::string_view where, const_bytes private_data, bool has) {
    return best(where, 5s, [&](std::size_t member, const std::string& address) {
      return begin_on(member, address, private_data, has);
    });
  }
  template <class Handler>
  result<peer> connect_best(std::string_view where, const_bytes private_data, bool has, duration timeout, Handler& on) {
    if (self().is_handling())
      return {error(errc::invalid, "connect"),
              "connect() waits and cannot be called inside a handler; use start_connect()"};
    const instant end = after(self().now(), timeout);
    return best(where, timeout, [&](std::size_t member, const std::string& address) {
      return connect_on(member, address, private_data, has, end, on);
    });
  }

  /// Connects over one fabric, and makes progress on all.
  template <class Handler>
  result<peer> connect_on(std::size_t member, const std::string& address, const_bytes private_data, bool has,
                          instant end, Handler& on) {
    auto begun = begin_on(member, address, private_data, has);
    if (!begun) return begun;
    const peer wanted = *begun;
    status ended = again(waits_for::connection, "connect");
    std::string why;
    auto watch = overloaded{[&](const connected& c) {
                              if (c.peer == wanted) ended = {};
                              else on(c);
                            },
                            [&](const lost& l) {
                              if (l.peer == wanted) ended = l.why, why = reason();
                              else on(l);
                            },
                            [&](const received& m) { return offer(on, m); }, [&](const auto& other) { on(other); }};
    const status waited = self().until([&] { return !ended.is_again() || interrupted(on) != nullptr; },
                                       std::max(duration(0), end - self().now()), watch);
    if (ended && interrupted(on) == nullptr) return wanted;
    return self().members_.at(member, [&](auto& net, auto) -> result<peer> {
      auto& e = transport_parts::engine_of(net);
      using engine_type = std::remove_reference_t<decltype(e)>;
      using calls = connect_calls<engine_type, blocking_calls<engine_type>>;
      if (!ended && !ended.is_again()) return {ended, calls::explain(address, ended, why)};
      auto& to = *static_cast<typename engine_type::record*>(peer_access::record(wanted));
      if (ended) (void)e.say_goodbye(to);  // the same poll found an event that nobody takes
      teardown<engine_type>(e).forget(to);
      if (const char* seen = interrupted(on)) return calls::passed_over("connect", seen);
      return {waited, "nobody answered at " + address + " by fabric " + std::string(engine_type::fabric::name) +
                          ": the listener must call progress()"};
    });
  }
};

}  // namespace weft::detail
