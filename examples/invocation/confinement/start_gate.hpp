// SPDX-License-Identifier: Apache-2.0
//
// Where the workers of an executor meet during their start. The last one runs a step for the whole process; no worker
// continues before that step. A worker waits by polling its transport, so its connections stay alive. Hot path: no.
// Threads: any.
#pragma once

#include <weft/core/error.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace weft::invocation {

class start_gate {
 public:
  using step = std::function<result<void>()>;

  /// `each` runs in each worker's thread as it arrives, `last` once for the process.
  start_gate(std::uint16_t workers, step last, step each = {})
      : missing_(workers), last_(std::move(last)), each_(std::move(each)) {}

  /// Says that a worker is there; once per worker. Errors: those of `each`; the others wait in vain then.
  result<void> arrive() {
    if (each_)
      if (auto own = each_(); !own) return own;
    pass_if_last();
    return {};
  }
  /// All workers are there, and the step ran.
  bool passed() const noexcept { return passed_.load(std::memory_order_acquire); }
  /// How the step ended. Requires: passed().
  const result<void>& outcome() const noexcept { return outcome_; }

 private:
  void pass_if_last() {
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    outcome_ = last_();
    passed_.store(true, std::memory_order_release);
  }

  std::atomic<std::uint16_t> missing_;
  step last_;
  step each_;
  std::atomic<bool> passed_ = false;
  result<void> outcome_;
};

/// The gates of an executor, in the order in which its workers pass them.
struct start_gates {
  start_gate before_objects;  ///< All connections are there; no code of a client was loaded.
  start_gate before_calls;    ///< All objects are loaded.
};

}  // namespace weft::invocation
