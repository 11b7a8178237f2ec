// SPDX-License-Identifier: Apache-2.0
//
// A manager, executors and a client as nodes of one simulated world: the same templates as in the programs, with
// simulated nodes instead of processes and fibers instead of threads. Executions and results are recorded for the
// checks below. Hot path: no. Threads: one.
#pragma once

#include "../../backends/loopback/port.hpp"
#include "../../compose/fabric.hpp"

#include <invocation/awaited_calls.hpp>
#include <invocation/client.hpp>
#include <invocation/manager.hpp>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::test {

namespace loopback = backends::loopback;
using namespace invocation;

/// Functions of the simulation. They have no context, so the record belongs to the thread.
struct execution_record {
  std::map<std::uint64_t, int> times;  ///< Executions of each call.
  duration work{100'000};
};
inline execution_record& record() {
  thread_local execution_record one;
  return one;
}
/// Takes the call's number, works for a while, returns three times the number.
inline std::int64_t triple(const std::byte* in, std::uint32_t in_bytes, std::byte* out, std::uint32_t out_capacity) {
  std::uint64_t number = 0;
  if (in_bytes != sizeof number || out_capacity < sizeof number) return input_malformed;
  std::memcpy(&number, in, sizeof number);
  ++record().times[number];
  loopback::sleep_for(record().work);
  number *= 3;
  std::memcpy(out, &number, sizeof number);
  return sizeof number;
}
inline function_table simulated_functions() {
  function_table table;
  (void)table.add("triple", &triple);
  return table;
}

/// An executor as a node: a fiber per worker.
struct simulated_executor {
  explicit simulated_executor(const executor_order& o) : order(o), journals(o.workers), busy(o.workers) {}
  executor_order order;
  std::vector<worker_journal> journals;
  std::vector<busy_since> busy;
  std::uint16_t over = 0;
  bool in_order = true;
};

template <complete_fabric F>
class simulated_spawner {
 public:
  class child {
   public:
    child(loopback::world& world, std::string node, std::uint64_t number, std::shared_ptr<simulated_executor> what)
        : world_(&world), node_(std::move(node)), number_(number), what_(std::move(what)) {}
    std::optional<executor_end> ended() {
      if (reported_) return std::nullopt;
      if (killed() || what_->over == what_->order.workers) {
        reported_ = true;
        return executor_end{!killed() && what_->in_order, node_ + (killed() ? " was killed" : " ended")};
      }
      return std::nullopt;
    }
    void kill() {
      if (killed() || what_->over == what_->order.workers) return;
      world_->crash(node_);
    }
    std::span<worker_journal> journals() noexcept { return what_->journals; }
    std::uint64_t number() const noexcept { return number_; }

   private:
    /// After a crash: no fiber of the node is left, though some did not end.
    bool killed() const noexcept {
      if (what_->over == what_->order.workers) return false;
      auto& sim = world_->inside();
      const std::uint32_t node = sim.node_named(node_);
      std::uint16_t alive = 0;
      for (const auto& t : sim.time.tasks)
        alive = static_cast<std::uint16_t>(alive + (t.node == node && t.thread && !t.thread->done() && !t.condemned));
      return alive == 0;
    }
    loopback::world* world_;
    std::string node_;
    std::uint64_t number_;
    std::shared_ptr<simulated_executor> what_;
    bool reported_ = false;
  };

  simulated_spawner(loopback::world& world, function_library& library) : world_(&world), library_(&library) {}

  void tend() noexcept {}
  result<child> start(const executor_order& order) {
    auto what = std::make_shared<simulated_executor>(order);
    const std::uint64_t number = ++numbers_;
    const std::string node = "executor" + std::to_string(number);
    for (std::uint16_t i = 0; i < order.workers; ++i)
      world_->serve(node, [what, i, library = library_] {
        worker_settings s = what->order.common;
        s.index = i;
        auto made = worker<F>::open(s, what->journals[i], *library, what->busy[i]);
        const bool good = made && (*made)->run();
        made = error_value();
        what->in_order = what->in_order && good;
        ++what->over;
      });
    return child(*world_, node, number, std::move(what));
  }

 private:
  static result<std::unique_ptr<worker<F>>> error_value() { return std::unique_ptr<worker<F>>(); }
  loopback::world* world_;
  function_library* library_;
  std::uint64_t numbers_ = 0;
};

/// Results of the calls of one run.
struct call_log {
  struct entry {
    int ends = 0;
    trouble why = trouble::none;
    bool right = false;
  };
  std::map<std::uint64_t, entry> calls;
  std::vector<bill> bills;
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  bool finished = false;
  instant disturbed{};     ///< When the plan's node died or was disturbed.
  instant manager_lost{};  ///< The first call that ended so.

  std::uint64_t count(trouble why) const {
    std::uint64_t n = 0;
    for (const auto& [number, e] : calls) n += std::uint64_t{e.why == why};
    return n;
  }
};

struct run_plan {
  std::uint64_t calls = 200;
  std::uint16_t workers = 2;
  std::uint16_t slots = 4;
  invocation::polling polling{polling_mode::warm, 0ms};
  duration deadline = 500ms;
  std::uint64_t crash_after = 0;  ///< A node dies after so many results; 0: never.
  bool manager_dies = false;      ///< That node is the manager's, not the executor's.
  /// Instead of a death.
  std::function<void(loopback::world&)> disturbs{};
  duration manager_every{};       ///< How often the client asks its manager; zero: never.
  duration manager_silence = 2s;  ///< With manager_every: a manager that is silent for so long is lost.
  std::uint64_t batches = 1;      ///< Number of allocations that the calls are spread over.
  bool awaited = false;           ///< By coroutines, more than there are slots.
};

/// One of several coroutines that share the calls.
template <complete_fabric F>
coroutines::task<> share_of_calls(awaited_calls<F>& calls, std::uint32_t function, std::uint64_t& begun,
                                  std::uint64_t until, duration deadline, call_log& log, std::uint64_t& ended) {
  while (begun < until) {
    const std::uint64_t number = ++begun;
    std::uint64_t got = 0;
    const outcome o = co_await calls.invoke(function, std::as_bytes(std::span(&number, 1)),
                                            std::as_writable_bytes(std::span(&got, 1)), deadline);
    auto& e = log.calls[number];
    ++e.ends;
    ++ended;
    e.why = o.why;
    e.right = o && o.bytes == sizeof got && got == number * 3;
    if (o.why == trouble::executor_lost || o.why == trouble::manager_lost) break;
  }
  co_return status{};
}

/// The client's body: allocates (again, after a loss), keeps every slot busy, logs each result.
template <complete_fabric F>
void client_body(loopback::world& world, const std::string& manager_at, const run_plan& plan, call_log& log) {
  client_options o;
  o.node = "client";
  o.polling = plan.polling;
  o.function_limit = 2s;
  o.manager_every = plan.manager_every;
  o.manager_silence = plan.manager_silence;
  auto made = client<F>::connect(manager_at, o, 20s);
  if (!made) return;
  client<F>& c = **made;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  bool crash = plan.crash_after > 0;
  auto on = [&](const finished& f) {
    const auto number = reinterpret_cast<std::uintptr_t>(f.context);
    auto& e = log.calls[number];
    ++e.ends;
    ++ended;
    e.why = f.why;
    if (f.why == trouble::manager_lost && log.manager_lost == instant{}) log.manager_lost = world.now();
    std::uint64_t got = 0;
    if (f.output.size() == sizeof got) std::memcpy(&got, f.output.data(), sizeof got);
    e.right = f.why == trouble::none && got == number * 3;
  };
  for (std::uint64_t batch = 0; ended < plan.calls && log.failed_allocations < 8;) {
    allocation_request request;
    request.workers = plan.workers;
    request.slots = plan.slots;
    request.input_bytes = request.output_bytes = 64;
    request.polling = plan.polling;
    if (!c.allocate(request, 15s)) {
      ++log.failed_allocations;
      continue;
    }
    ++log.allocations;
    const auto function = c.find("triple");
    const std::uint64_t until = ++batch >= plan.batches ? plan.calls : plan.calls * batch / plan.batches;
    if (plan.awaited) {
      awaited_calls<F> calls(c, {.frames = 12, .frame_bytes = 8192});
      for (int i = 0; i < 12; ++i)
        (void)calls.spawn(share_of_calls<F>(calls, *function, begun, until, plan.deadline, log, ended));
      (void)calls.run(100s);
    }
    while ((begun < until || c.outstanding() > 0) && (c.allocated() || c.outstanding() > 0)) {
      bool posted = false;
      for (std::uint16_t w = 0; w < c.workers() && begun < until && c.allocated(); ++w) {
        const std::uint64_t number = begun + 1;
        const auto input = std::as_bytes(std::span(&number, 1));
        if (!c.has_room(w) ||
            c.submit(w, *function, input, reinterpret_cast<void*>(number), plan.deadline) != trouble::none)
          continue;
        ++begun;
        posted = true;
      }
      if (c.progress(on) == 0 && !posted) c.rest();
      if (crash && ended >= plan.crash_after) {
        crash = false;
        log.disturbed = world.now();
        if (plan.disturbs) plan.disturbs(world);
        else world.crash(plan.manager_dies ? "manager" : "executor" + std::to_string(c.executor_number()));
      }
    }
    if (c.allocated()) {
      if (const auto cost = c.release(15s)) log.bills.push_back(*cost);
    } else if (c.last_bill()) {
      log.bills.push_back(*c.last_bill());
    }
  }
  log.finished = ended == plan.calls && begun == plan.calls;
}

struct run_result {
  loopback::run_outcome how;
  call_log log;
  std::uint64_t bills = 0;
  std::uint64_t exact = 0;
  std::uint64_t trace = 0;  ///< Hash of all events.
  std::uint64_t left = 0;   ///< Allocations that the manager still had at the end.
};

/// One whole system, from one seed.
template <complete_fabric F>
run_result play(std::uint64_t seed, const loopback::faults& trouble, const run_plan& plan,
                const std::function<void(loopback::world&)>& disturb = {}) {
  record() = {};
  run_result r;
  function_library library(simulated_functions());
  {
    loopback::world world(seed, trouble);
    std::string manager_at;
    bool client_over = false;
    if (disturb) disturb(world);
    world.spawn("manager", [&] {
      manager_options o;
      o.node = "manager";
      o.start_limit = 5s;
      o.longest_function = 2s;
      auto made = manager<F, simulated_spawner<F>>::open(o, simulated_spawner<F>(world, library));
      if (!made) return;
      manager_at = (*made)->listen_address();
      const instant limit = world.now() + 300s;
      (*made)->serve([&] { return (client_over && (*made)->allocations() == 0) || world.now() > limit; });
      r.bills = (*made)->bills();
      r.exact = (*made)->exact_bills();
      r.left = (*made)->allocations();
    });
    world.spawn("client", [&] {
      while (manager_at.empty()) loopback::sleep_for(1ms);
      client_body<F>(world, manager_at, plan, r.log);
      client_over = true;
    });
    r.how = world.run(600s);
    r.trace = world.log().hash();
  }
  return r;
}

}  // namespace weft::test
