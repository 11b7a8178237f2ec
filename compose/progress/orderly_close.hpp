// SPDX-License-Identifier: Apache-2.0
//
// Orderly ends: what is outstanding completes within the time given or is cancelled, then a goodbye, so that the peer
// is told `closed` at once instead of finding out by silence. Everything registered is withdrawn. Hot path: no.
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

  template <class Handler>
  status close(peer p, duration timeout, Handler& on) {
    auto* r = static_cast<record*>(peer_access::record(p));
    if (r == nullptr) return error(errc::invalid, "close");
    if (!r_is(p, r)) return {};  // it left before: nothing to close
    const instant end = e_.port->now() + timeout;
    const auto left = [&] { return std::max(duration(0), end - e_.port->now()); };
    status drained{};
    if (!e_.handling())
      drained = blocking_calls<Engine>(e_).until([&] { return !r_is(p, r) || outstanding(*r) == 0; }, left(), on);
    if (!r_is(p, r)) return {};
    if (r->state == peer_state::established) {
      status said = e_.say_goodbye(*r);
      if (!e_.handling() && said.is_again())
        (void)blocking_calls<Engine>(e_).until([&] { return !says_again(p, r, said); }, left(), on);
      if (!r_is(p, r)) return {};
      e_.set_state(*r, peer_state::refusing);  // the link may end before we do: that is no loss to tell
      if (said && !e_.handling())
        (void)blocking_calls<Engine>(e_).until([&] { return !r_is(p, r) || outstanding(*r) == 0; },
                                               std::min(left(), duration(100ms)), on);
      linger(on);
    }
    if (r_is(p, r)) teardown<Engine>(e_).forget(*r);
    return drained.code == errc::deadline ? drained : status{};
  }

  /// For the destructor: nobody is told of anything any more.
  void close_all(duration at_most) {
    const auto ignore = [](auto&&) {};
    const instant end = e_.port->now() + at_most;
    bool any = false;
    for (record& r : e_.peers) any = any || r.state == peer_state::established || r.handshake_pending;
    if (any) {
      (void)blocking_calls<Engine>(e_).until([&] { return outstanding() == 0; }, at_most / 2, ignore);
      (void)blocking_calls<Engine>(e_).until([&] { return all_were_told(); }, at_most / 4, ignore);
      (void)blocking_calls<Engine>(e_).until([&] { return outstanding() == 0; },
                                             std::max(duration(0), end - e_.port->now()), ignore);
      linger(ignore);
    }
    for (record& r : e_.peers) teardown<Engine>(e_).forget(r);
    receives<Engine>(e_).free_retired_receives();
    deregister_all();
  }

 private:
  bool r_is(peer p, const record* r) const noexcept {
    return r->number == peer_access::number(p) && r->state != peer_state::free;
  }

  /// Whether the goodbye must be tried once more: the queue was full.
  bool says_again(peer p, record* r, status& said) noexcept {
    if (r_is(p, r) && r->state == peer_state::established) said = e_.say_goodbye(*r);
    return r_is(p, r) && r->state == peer_state::established && said.is_again();
  }
  /// Says goodbye to those who stand, and to each once.
  bool all_were_told() noexcept {
    bool all = true;
    for (record& r : e_.peers) {
      if (r.state != peer_state::established) continue;
      if (e_.say_goodbye(r).is_again()) all = false;
      else e_.set_state(r, peer_state::refusing);  // its link may end before ours does
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

  /// An injected goodbye has no completion, yet many providers send it only while polled: a few polls carry it out.
  /// Other peers' events arrive meanwhile: they are `on`'s.
  template <class Handler>
  void linger(Handler& on) {
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
