// SPDX-License-Identifier: Apache-2.0
//
// One allocation as its manager sees it: the executor, its workers, the words of their accounts, and the state of its
// end. Hot path: no. Threads: the manager's.
#pragma once

#include "spawning.hpp"

#include <algorithm>

namespace weft::invocation {

enum class allocation_state : std::uint8_t {
  starting,   ///< Workers connect, or all are there: it serves.
  finishing,  ///< Released, or its client is gone: workers settle their account.
  over,       ///< The bill is written; the process is about to end.
  gone,
};

template <class Child>
struct allocation {
  struct worker_seen {
    peer link;
    bool gone = false;
    bool reported = false;
    amounts total;
  };

  allocation(executor_order o, Child c) : order(std::move(o)), child(std::move(c)), workers(order.workers) {}

  executor_order order;
  Child child;
  std::vector<worker_seen> workers;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;  ///< Of its slots and objects.
  peer client;
  owned_region words;
  allocation_state state = allocation_state::starting;
  std::optional<executor_end> end;
  std::string wound_up;  ///< Why its place asked for its end; empty: it did not.
  std::string lost;      ///< How the first worker was lost whose process still lived.
  std::string killed;    ///< Why the manager killed the executor; empty: it did not.
  instant due{};         ///< The limit of the present state.
  bool hurried = false;
  std::size_t place = 0;  ///< In the order of looks (admission/allocation_table.hpp).
  bool presses = false;   ///< It is looked at before others.

  bool all_reported() const noexcept {
    return std::ranges::all_of(workers, [](const worker_seen& w) { return w.reported; });
  }
  /// Serving: nothing is due.
  bool all_here() const noexcept {
    if (state != allocation_state::starting || hurried) return false;
    for (const worker_seen& w : workers)
      if (!w.link) return false;
    return true;
  }
  /// A worker's connection broke while its process lives: the process gets a moment to end, then it is killed.
  void hurry(instant until, const std::string& how) {
    if (hurried || end || state != allocation_state::starting) return;
    hurried = true;
    lost = how;
    due = until;
  }
  /// The process does not end by itself within its limit.
  void kill() {
    if (killed.empty())
      killed = hurried                               ? "the manager had lost its worker (" + lost + ")"
               : state == allocation_state::starting ? "its workers did not come in time"
                                                     : "it did not settle in time";
    child.kill();
  }
  /// The process has ended. A sentence about a signal says who sent it.
  void ended(executor_end how) {
    end = std::move(how);
    if (!killed.empty() && !end->in_order) end->sentence += ": " + killed;
  }

  amounts word_of(std::size_t worker) const noexcept {
    const auto read = [&](std::size_t i) {
      auto* at = reinterpret_cast<std::uint64_t*>(words.data() + worker * account_bytes) + i;
      return std::atomic_ref<std::uint64_t>(*at).load(std::memory_order_acquire);
    };
    return {read(0), read(1)};
  }

  /// The words, the workers' totals (of a dead worker: its journal), and whether all agree.
  bill_fields bill() {
    bill_fields b;
    b.allocation = number;
    b.exact = !end || !end->journal_lost;
    const std::span<worker_journal> journals = child.journals();
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const worker_seen& w = workers[i];
      const worker_journal& j = journals[i];
      const amounts word = word_of(i);
      b.exact = b.exact && (w.reported ? agrees(word, w.total, j) : agrees(word, j));
      b.hot_ns += word.hot;
      b.execution_ns += word.execution;
      b.worker_hot_ns += w.reported ? w.total.hot : j.earned[0].load(std::memory_order_acquire);
      b.worker_execution_ns += w.reported ? w.total.execution : j.earned[1].load(std::memory_order_acquire);
      b.invocations += j.invocations.load(std::memory_order_acquire);
    }
    return b;
  }
};

}  // namespace weft::invocation
