// SPDX-License-Identifier: Apache-2.0
//
// The link of a connection, from the port's dial or arrival to its hang-up. On connected fabrics without a shared pool,
// each link has its own receives, posted before the peer can send. After the hang-up the library may still report
// operations of the link, so its receives are freed only after a poll found the queue empty. Hot path: no. Threads: the
// owner's.
#pragma once

#include "../engine/engine.hpp"
#include "../engine/receives.hpp"
#include "transitions.hpp"

namespace weft::detail {

template <class Engine>
class links {
 public:
  using record = typename Engine::record;

  explicit links(Engine& e) noexcept : e_(e) {}

  /// Gives the record its link and posts the link's receives.
  void attach(record& r, typename Engine::link link) {
    r.link = link;
    advance_link(r, link_event::made);
    if constexpr (Engine::notices_name_links) e_.port->belongs_to(r.link, &r);
    if constexpr (Engine::links_have_receives) receives<Engine>(e_).provide(r);
  }
  /// Ends the link on this side. Does nothing without one.
  void hang_up(record& r) {
    if (r.link_is == link_state::none) return;
    advance_link(r, link_event::hung_up);
    e_.peers.link_hung_up(r);
    e_.port->hang_up(r.link);
    r.link = {};
    if (Engine::connected) drain();
    if constexpr (Engine::links_have_receives) receives<Engine>(e_).retire(r);
  }
  /// The library reported the end of the link; its last messages may be unread.
  void ended(record& r) noexcept {
    advance_link(r, link_event::ends);
    e_.peers.link_ended(r);
    drain();
  }

 private:
  void drain() noexcept {
    e_.draining = true;
    e_.quiet = false;
    e_.put_off();
  }

  Engine& e_;
};

}  // namespace weft::detail
