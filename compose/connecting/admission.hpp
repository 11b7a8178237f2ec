// SPDX-License-Identifier: Apache-2.0
//
// Which callers get a record. Anybody who reaches the listener can dial it, so strangers must not keep places that
// honest callers need. Three limits hold: transport_options::pending for unanswered callers, peers_per_host for one
// host, and handshake_limit for the time of a silent caller (progress/timers.hpp). Without room, the caller that is
// silent for longest gives its place to the new one. The limits come before a dial: a hello over an addressed fabric
// costs no entry of the address table. Hot path: no. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "teardown.hpp"

#include <cstdint>
#include <string>

namespace weft::detail {

template <class Engine>
class admission {
 public:
  using record = typename Engine::record;

  explicit admission(Engine& e) noexcept : e_(e) {}

  /// Whether one more caller from this host gets a record, for which an older silent caller may have to leave. `host`:
  /// host_of(), 0 if unknown.
  bool make_room(std::uint64_t host) {
    const auto any = [](const record&) { return true; };
    if (held_by(host, any) > e_.options.peers_per_host && !drop_a_silent_caller(host)) return turn_away();
    if (e_.half_open >= e_.options.pending + refusals() && !drop_a_silent_caller(0)) return turn_away();
    if (e_.peers.full() && !drop_a_silent_caller(0)) return turn_away();
    return true;
  }
  /// Notes where the caller of this record is. Requires: make_room() granted the record.
  void note(const record& r, std::uint64_t host) {
    if (e_.options.peers_per_host == 0) return;
    e_.hosts.resize(e_.peers.capacity());
    e_.hosts[e_.peers.index_of(r)] = host;
  }
  /// The caller said hello. Empty, or why it is refused.
  std::string refusal(const record& r) const {
    if (e_.half_open > e_.options.pending)
      return "busy, try later: too many requests are waiting for an answer (transport_options::pending)";
    const auto said_hello = [](const record& each) {
      return each.state != peer_state::arrived && each.state != peer_state::refusing;
    };
    if (const std::uint64_t host = host_of(r); host != 0 && held_by(host, said_hello) >= e_.options.peers_per_host)
      return "busy, try later: this host has all of its " + std::to_string(e_.options.peers_per_host) +
             " places (transport_options::peers_per_host)";
    return {};
  }
  /// This side dials and finds no free record. A silent caller leaves, even a young one. False: there is none.
  bool make_room_for_own() {
    // The tick itself stays: only the timers may change it, which know then that the owner was away.
    return !e_.peers.full() || drop(0, 0, e_.tick_now());
  }

  /// The host of a link, or of an address that a hello names. 0: unknown; such callers have no share.
  template <class Place>
  std::uint64_t host_of_place(const Place&) const noexcept {
    return 0;
  }
  template <class Place>
  requires requires(const typename Engine::port_type& port, const Place& at) { port.host_of(at); }
  std::uint64_t host_of_place(const Place& at) const { return e_.port->host_of(at); }

 private:
  /// A caller younger than this keeps its place: its hello may be on the way.
  static constexpr std::uint32_t grace_ms = 100;
  /// Places beyond `pending` for refusals with a sentence. Connected fabrics count a caller before its hello.
  static constexpr std::uint32_t refusals() noexcept { return Engine::connected ? 0 : 4; }

  bool turn_away() noexcept {
    ++e_.turned_away;
    return false;
  }
  std::uint64_t host_of(const record& r) const noexcept {
    const std::uint32_t index = e_.peers.index_of(r);
    return index < e_.hosts.size() ? e_.hosts[index] : 0;
  }
  /// Records of this host that count. A host may have one more than its share: for the refusal that says why.
  template <class Counts>
  std::uint32_t held_by(std::uint64_t host, Counts&& counts) const noexcept {
    std::uint32_t has = 0;
    if (host == 0 || e_.options.peers_per_host == 0) return has;
    for (const record& r : e_.peers)
      has += std::uint32_t{r.state != peer_state::free && host_of(r) == host && counts(r)};
    return has;
  }
  bool drop_a_silent_caller(std::uint64_t host) { return drop(host, grace_ms, e_.tick); }

  /// Ends the oldest caller that has said nothing, or whose refusal is out, and frees its record. `host`: 0 means any.
  bool drop(std::uint64_t host, std::uint32_t least_age, std::uint32_t now) {
    record* oldest = nullptr;
    e_.peers.each_unfinished([&](record& r) {
      const bool leaves = r.state == peer_state::arrived || (r.state == peer_state::refusing && !r.handshake_pending);
      if (!leaves || now - r.since < least_age || (host != 0 && host_of(r) != host)) return;
      if (oldest == nullptr || now - r.since > now - oldest->since) oldest = &r;
    });
    if (oldest == nullptr) return false;
    ++e_.turned_away;
    const auto unheard = [](const auto&) {};  // the owner does not know this caller
    teardown<Engine>(e_).end(*oldest, peer_event::patience_over, {}, erased_handler::of(unheard));
    return true;
  }

  Engine& e_;
};

}  // namespace weft::detail
