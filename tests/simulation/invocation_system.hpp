// SPDX-License-Identifier: Apache-2.0
//
// The system `invocation`: the example's manager, executors and client as nodes of one world. Executors are nodes
// instead of processes, and workers are fibers instead of threads; everything else is the example's code.
// Hot path: no. Threads: one.
#pragma once

#include "disturbing.hpp"

#include "../invocation/simulated.hpp"

#include <algorithm>

namespace weft::simulation {

template <complete_fabric F>
class invocation_system {
 public:
  invocation_system(const plan& p, const run_settings& s) : planned_(p), settings_(s) {}

  outcome play() {
    loopback::chance draw(planned_.seed);
    test::run_plan run;
    run.calls = 2 + planned_.steps.size();
    run.workers = static_cast<std::uint16_t>(1 + draw.below(3));
    run.slots = static_cast<std::uint16_t>(2 + draw.below(5));
    run.batches = 1 + draw.below(2);
    run.deadline = 5s;
    if (draw.below(2) == 0) run.polling = {invocation::polling_mode::hot_then_warm, 1ms};
    if (crashes()) run.crash_after = 1 + draw.below(run.calls);
    loopback::faults wrong = planned_.wrong;
    wrong.no_memory = 0;  // a worker without memory is an allocation that fails, and the client stops after eight
    wrong.bug = settings_.bug;
    const auto prepare = [this](loopback::world& w) {
      if (settings_.keep_trace) w.keep_trace();
      disturb(w, planned_, {"client", "manager"});
      world_ = &w;
    };
    outcome result;
    try {
      judge(test::play<F>(planned_.seed, wrong, run, prepare), run, result);
    } catch (const std::exception& e) {
      result.add("exception", e.what());
    }
    return result;
  }

 private:
  bool crashes() const {
    return std::ranges::any_of(planned_.disturbances, [](const disturbance& d) { return d.what == fault::crash; });
  }
  /// Whether the fabric alone may have ended a call: a broken path or a stop may last longer than a silence limit.
  bool quiet() const { return planned_.disturbances.empty(); }

  void judge(const test::run_result& r, const test::run_plan& run, outcome& result) const {
    result.hash = r.trace;
    result.operations = r.log.calls.size();
    result.lasted = r.how.at - instant(1s);
    if (!r.how) result.add("hung", r.how.sentence);
    if (!r.log.finished && quiet()) result.add("unended_calls", std::to_string(r.log.calls.size()) + " calls ended");
    if (r.left != 0) result.add("leaked_allocation", std::to_string(r.left) + " allocations were never released");
    if (r.exact != r.bills)
      result.add("inexact_bill", std::to_string(r.exact) + " of " + std::to_string(r.bills) + " bills are exact");
    for (const auto& [number, e] : r.log.calls) {
      const std::string call = "call " + std::to_string(number);
      if (e.ends != 1) result.add("double_end", call + " ended " + std::to_string(e.ends) + " times");
      if (e.why == invocation::trouble::none && !e.right) result.add("wrong_result", call + " has a wrong result");
      if (e.why == invocation::trouble::none && test::record().times[number] != 1)
        result.add("unexecuted_call", call + " has a result and was not executed once");
      if (e.why != invocation::trouble::none && quiet())
        result.add("false_alarm", call + " ended in " + invocation::name_of(e.why));
    }
    for (const auto& [number, times] : test::record().times)
      if (times > 1) result.add("double_execution", "call " + std::to_string(number) + " was executed twice");
    (void)run;
  }

  const plan& planned_;
  const run_settings& settings_;
  loopback::world* world_ = nullptr;
};

}  // namespace weft::simulation
