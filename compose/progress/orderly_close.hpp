// SPDX-License-Identifier: Apache-2.0
//
// Orderly ends. Outstanding operations complete within the given time or fail. Then the peer gets a goodbye,
// so that its handler gets `closed` at once instead of waiting for silence. Last, close_all() deregisters all memory. A
// pending accept goes out before the goodbye. Hot path: no. Threads: the owner's.
#pragma once

#include "../connecting/teardown.hpp"
#include "blocking_calls.hpp"

namespace weft::detail {

template <class Engine>
class orderly_close {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;

  explicit orderly_close(Engine& e) noexcept : e_(e) {}

  status close(peer p, duration timeout, erased_handler on) {
    auto* r = static_cast<record*>(peer_access::record(p));
    if (r == nullptr) return error(errc::invalid, "close");
    if (!is_open(p, *r)) return {};  // the peer left before
    e_.tagged.receives_end(*r, errc::closed);
    if (!e_.handling()) e_.tagged.report_ends(on);
    const instant end = after(e_.port->now(), timeout);
    const auto left = [&] { return std::max(duration(0), end - e_.port->now()); };
    const auto wait = [&](auto&& done, duration at_most) {
      if (e_.handling()) return status{};
      return blocking_calls<Engine>(e_).until([&] { return !is_open(p, *r) || done(); }, at_most, on);
    };
    const status drained = wait([&] { return is_drained(*r) && !has_unsent_answer(*r); }, left());
    if (is_open(p, *r) && r->state == peer_state::established) {
      status said = say_goodbye(*r);
      const auto is_said = [&] { return r->state != peer_state::established || !(said = say_goodbye(*r)).is_again(); };
      if (said.is_again()) (void)wait(is_said, left());
      if (is_open(p, *r)) teardown<Engine>(e_).end(*r, peer_event::owner_closes, {}, on);
      if (said) (void)wait([&] { return outstanding(*r) == 0; }, std::min(left(), duration(100ms)));
      linger(on);
    }
    if (is_open(p, *r) && !e_.handling()) teardown<Engine>(e_).fail_all(*r, error(errc::closed, "close"), on);
    if (is_open(p, *r)) teardown<Engine>(e_).forget(*r);
    return drained.code == errc::deadline ? drained : status{};
  }

  /// For the destructor: no handler gets an event any more.
  void close_all(duration at_most) {
    const auto nothing = [](const auto&) {};
    const erased_handler ignore = erased_handler::of(nothing);
    const instant end = e_.port->now() + at_most;
    bool any = false;
    for (record& r : e_.peers) any = any || r.state == peer_state::established || r.handshake_pending;
    if (any) {
      read_last_words(ignore);
      (void)blocking_calls<Engine>(e_).until([&] { return are_drained(); }, at_most / 2, ignore);
      (void)blocking_calls<Engine>(e_).until([&] { return said_all_goodbyes(); }, at_most / 4, ignore);
      (void)blocking_calls<Engine>(e_).until([&] { return outstanding() == 0; },
                                             std::max(duration(0), end - e_.port->now()), ignore);
      linger(ignore);
    }
    for (record& r : e_.peers) teardown<Engine>(e_).forget(r);
    receives<Engine>(e_).free_retired_receives();
    deregister_all();
  }

 private:
  /// Whether the handle's connection exists and its end is not being reported.
  static bool is_open(peer p, const record& r) noexcept {
    return r.number == peer_access::number(p) && r.state != peer_state::free && r.state != peer_state::lost;
  }
  /// Whether an accept or a reject to this peer is still to be sent.
  static bool has_unsent_answer(const record& r) noexcept {
    return r.handshake_pending && (r.state == peer_state::established || r.state == peer_state::refusing);
  }
  /// Sends the pending accept, then the goodbye. `again`: the library did not take one of them.
  status say_goodbye(record& r) noexcept {
    if (r.handshake_pending) handshake<Engine>(e_).send_pending(r);
    return r.handshake_pending ? again(waits_for::queue, "accept") : e_.say_goodbye(r);
  }
  /// Says goodbye to each established peer, once. False: a goodbye or an answer is still to be sent.
  bool said_all_goodbyes() noexcept {
    bool all = true;
    for (record& r : e_.peers) {
      if (r.state == peer_state::refusing && r.handshake_pending) handshake<Engine>(e_).send_pending(r);
      if (r.state == peer_state::established && !say_goodbye(r).is_again())
        (void)advance(e_, r, peer_event::owner_closes);
      all = all && r.state != peer_state::established && !has_unsent_answer(r);
    }
    return all;
  }

  static bool unended(const slot& s) noexcept {
    return s.use == slot_use::user || s.use == slot_use::silent || s.use == slot_use::control;
  }
  std::uint32_t outstanding(const record& r) const {
    return e_.operations.count([&r](const slot& s) { return s.record == &r && unended(s); });
  }
  std::uint32_t outstanding() const { return e_.operations.count(unended); }
  /// Nothing of this side's is outstanding, and the peer has copied what was lent to it.
  bool is_drained(const record& r) const { return outstanding(r) == 0 && !lends_to(*e_.port, r.link); }
  bool are_drained() const {
    if (outstanding() != 0) return false;
    if constexpr (lends_sources<typename Engine::port_type>)
      for (const record& r : e_.peers)
        if (r.state != peer_state::free && lends_to(*e_.port, r.link)) return false;
    return true;
  }

  /// Goodbyes that wait in the queue are read first. A peer that left in this process took its memory along, and
  /// libfabric's shm would write a goodbye to where that memory was. A full poll may leave entries, so a few are made.
  void read_last_words(erased_handler on) {
    for (int polls = 0; polls < 64 && blocking_calls<Engine>(e_).step(on) > 0; ++polls) {
    }
  }
  /// Polls for 2 ms: an injected goodbye has no completion, and many providers send it only while they are polled.
  /// Events of other peers go to `on`.
  void linger(erased_handler on) {
    if (e_.handling()) return;
    const instant end = e_.port->now() + 2ms;
    while (e_.port->now() < end) blocking_calls<Engine>(e_).step(on);
  }

  void deregister_all() {
    for (region_entry& r : e_.regions) e_.port->deregister(r.registered);
    e_.regions.clear();
    for (registration& r : e_.own_memory) e_.port->deregister(r);
    e_.own_memory.clear();
    if constexpr (Engine::watches_cells)
      if (e_.cells.registered.native != nullptr) e_.port->deregister(e_.cells.registered);
    if (e_.ring_registration.native != nullptr) e_.port->deregister(e_.ring_registration);
    if (e_.shared_receives.registered.native != nullptr) e_.port->deregister(e_.shared_receives.registered);
  }

  Engine& e_;
};

}  // namespace weft::detail
