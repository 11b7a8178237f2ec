// SPDX-License-Identifier: Apache-2.0
//
// Disturbances for the systems that are examples: broken paths and stopped nodes. Clocks and crashes are left out,
// because these programs end at the loss of a process.
// Hot path: no. Threads: one.
#pragma once

#include "outcome.hpp"

#include "../../backends/loopback/port.hpp"

namespace weft::simulation {

/// Schedules the plan's disturbances between the named nodes.
inline void disturb(loopback::world& w, const plan& planned, const std::vector<std::string>& nodes) {
  slow_polls(w);
  for (const disturbance& d : planned.disturbances) {
    const std::string name = nodes[d.node % nodes.size()];
    const std::string other = nodes[(d.node + 1U) % nodes.size()];
    if (d.what == fault::one_way || d.what == fault::partition) {
      const bool both = d.what == fault::partition;
      w.after(d.at, [&w, name, other, both] { both ? w.cut(name, other) : w.cut_one_way(name, other); });
      w.after(d.at + d.lasts, [&w, name, other] { w.heal(name, other); });
    } else if (d.what == fault::pause) {
      w.after(d.at, [&w, name, d] { w.pause(name, d.lasts); });
    } else if (d.what == fault::slow) {
      for (duration at{}; at < d.lasts; at += d.lasts / 20)
        w.after(d.at + at, [&w, name, d] { w.pause(name, d.lasts / 40); });
    }
  }
}

inline void take_trace(loopback::world& w, const run_settings& settings, outcome& result) {
  result.hash = w.log().hash();
  result.events = w.log().count();
  result.lasted = w.now() - instant(1s);
  if (settings.keep_trace) result.trace = w.log().text(1'000'000);
}

}  // namespace weft::simulation
