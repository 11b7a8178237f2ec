// SPDX-License-Identifier: Apache-2.0
//
// How the owner of a simulated port sleeps: until an event for it or its deadline, whichever comes first in virtual
// time.
// The check and the sleep are one step, so no wake-up is lost. Hot path: its warm side. Threads: one.
#pragma once

#include "world.hpp"

namespace weft::backends::loopback {

/// Sleeps until an event or `until`. Outside fibers it runs due events instead, and returns when there are none left.
/// Returns whether an event ended the sleep.
inline bool doze(simulation& sim, endpoint& at, std::int64_t until) {
  scheduler& time = sim.time;
  const std::uint32_t self = time.running();
  if (self == no_index) {
    while (!at.has_events() && time.next_due() <= until && time.next_due() != never) (void)time.step();
    if (!at.has_events() && until != never) time.sleep_until(until);
    return at.has_events();
  }
  const bool deaf = sim.wrong.bug == planted_bug::lost_wake_up && ++sim.sleeps == 50'000;
  if (!deaf) at.sleeper = self;
  if (until != never) time.post(until, due_kind::wake, self, time.tasks[self].ticket);
  else time.tasks[self].asleep_at = at.id;
  sim.note(trace_event::slept, at.id);
  time.leave();
  time.tasks[self].asleep_at = no_index;
  const bool woken = !deaf && at.sleeper != self;
  if (at.sleeper == self) at.sleeper = no_index;
  return woken;
}

}  // namespace weft::backends::loopback
