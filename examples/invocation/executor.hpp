// SPDX-License-Identifier: Apache-2.0
//
// An executor: a process with one worker per thread, each with a transport of its own. A watch ends the process when a
// function runs longer than its limit: nothing less stops such a function, and the manager reports the reason to the
// client. The process is confined (confinement/) between the last connection and the first code of the client.
// Hot path: no. Threads: workers share only the library of functions (a lock) and the watch (an atomic each).
#pragma once

#include "confinement/confinement.hpp"
#include "journal.hpp"
#include "spawning.hpp"
#include "worker.hpp"

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace weft::invocation {

/// A transport that is opened before there is an order, for the order that most clients give: a worker that polls, and
/// the usual limit of a function.
template <complete_fabric F>
struct opened_ahead {
  transport_options with;
  transport<F> net;

  static std::optional<opened_ahead> open(const std::string& node, const std::string& fabrics) {
    worker_settings usual;
    usual.node = node;
    usual.fabrics = fabrics;
    transport_options with = worker<F>::options(usual);
    auto net = weft::open<F>(with);
    if (!net) return std::nullopt;  // the order's own attempt says why
    return opened_ahead{std::move(with), std::move(net).value()};
  }
  /// Whether a worker can use it.
  bool serves(const worker_settings& s) const {
    const transport_options wanted = worker<F>::options(s);
    return wanted.node == with.node && wanted.fabrics == with.fabrics && wanted.sleeps == with.sleeps &&
           wanted.operation_timeout == with.operation_timeout && wanted.silence_limit == with.silence_limit;
  }
};

template <complete_fabric F>
class executor {
 public:
  executor(executor_order order, journal_memory& journal, function_library& library)
      : order_(std::move(order)),
        journal_(journal),
        library_(library),
        busy_(order_.workers),
        gates_{{order_.workers, [this] { return confine(order_.confined); },
                [this] { return close_other_processes(order_.confined); }},
               {order_.workers, [this] { return order_.confined.filter ? deny_files() : result<void>(); }}} {}

  /// Opens all workers, runs a thread for each, returns when all ended. Returns the first error.
  /// `ahead`: for the first worker, if it can use it.
  result<void> run(std::optional<opened_ahead<F>> ahead = {}) {
    order_.common.allocation = journal_.head().allocation;
    order_.common.client_secret = journal_.head().client;
    const bool ticks = kernel_counts_ticks();
    for (std::uint16_t i = 0; i < order_.workers; ++i) {  // one after the other: one thread sets libraries up
      worker_settings s = order_.common;
      s.index = i;
      s.counts_ticks = ticks;
      const bool opened = i == 0 && ahead && ahead->serves(s);
      auto made =
          opened ? worker<F>::open_with(std::move(ahead->net), s, journal_.workers()[i], library_, busy_[i], &gates_)
                 : worker<F>::open(s, journal_.workers()[i], library_, busy_[i], &gates_);
      ahead.reset();
      if (!made) return std::move(made).error();
      workers_.push_back(std::move(made).value());
    }
    std::vector<std::thread> threads;
    for (std::uint16_t i = 0; i < order_.workers; ++i) threads.emplace_back([this, i] { ended(workers_[i]->run()); });
    watch();
    for (std::thread& t : threads) t.join();
    workers_.clear();
    return outcome_;
  }

 private:
  void ended(const result<void>& how) {
    const std::lock_guard hold(lock_);
    if (!how && outcome_) outcome_ = how;
    ++over_;
    changed_.notify_all();
  }

  /// Until all workers ended. A function over its limit ends the process here.
  void watch() {
    std::unique_lock hold(lock_);
    while (over_ < order_.workers) {
      changed_.wait_for(hold, 20ms);
      const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      for (const busy_since& since : busy_) {
        const std::int64_t began = since.load(std::memory_order_relaxed);
        if (began == 0 || now - began <= order_.common.function_limit.count()) continue;
        std::fputs("invocation-executor: a function ran longer than its limit; this executor ends\n", stderr);
        std::_Exit(exit_function_limit);
      }
    }
  }

  executor_order order_;
  journal_memory& journal_;
  function_library& library_;
  std::vector<busy_since> busy_;
  start_gates gates_;
  std::vector<std::unique_ptr<worker<F>>> workers_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::uint16_t over_ = 0;
  result<void> outcome_;
};

}  // namespace weft::invocation
