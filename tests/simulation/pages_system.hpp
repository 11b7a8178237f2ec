// SPDX-License-Identifier: Apache-2.0
//
// The system `paged_writer`: the example of that name, which verifies every word of every page.
// Hot path: no. Threads: one.
#pragma once

#include "disturbing.hpp"

#include <paged_writer/simulation.hpp>

namespace weft::simulation {

template <complete_fabric F>
class pages_system {
 public:
  pages_system(const plan& p, const run_settings& s) : planned_(p), settings_(s) {}

  outcome play() {
    loopback::chance draw(planned_.seed);
    paged::plan run;
    run.seed = planned_.seed;
    run.rails = static_cast<std::uint32_t>(1 + draw.below(3));
    run.page_bytes = 8 * (1 + draw.below(256));
    run.pages = static_cast<std::uint32_t>(run.rails + draw.below(16));
    run.total = run.round_bytes() * (2 + planned_.steps.size() / 8);
    run.window = static_cast<std::uint32_t>(2 + draw.below(24));
    run.batch = static_cast<std::uint32_t>(1 + draw.below(8));
    run.operations = static_cast<std::uint32_t>(16 + draw.below(32));
    run.eager = draw.below(2) == 0;
    run.report = duration::zero();
    loopback::faults wrong = planned_.wrong;
    wrong.no_memory = 0;  // the example gives up then
    wrong.bug = settings_.bug;
    outcome result;
    paged::simulation_run<F> example(run, wrong);
    if (settings_.keep_trace) example.world().keep_trace();
    disturb(example.world(), planned_, {"writer", "reader"});
    try {
      result.operations = example.play().done.pages;
    } catch (const std::exception& e) {
      result.add("broken_off", e.what());
    }
    take_trace(example.world(), settings_, result);
    return result;
  }

 private:
  const plan& planned_;
  const run_settings& settings_;
};

}  // namespace weft::simulation
