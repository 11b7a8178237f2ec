// SPDX-License-Identifier: Apache-2.0
//
// Results of an invocation at its caller: success, or one of a few typed errors. Each invocation ends exactly once.
// Hot path: plain values. Threads: values.
#pragma once

#include "messages.hpp"

#include <string>

namespace weft::invocation {

enum class trouble : std::uint8_t {
  none,
  deadline,       ///< No reply in time. The call may have been executed, or may still be executed.
  executor_lost,  ///< The executor died. The call may have been executed.
  manager_lost,   ///< The manager is gone, so nothing watches the executor.
  no_such_function,
  too_large,        ///< The input or the result is larger than a slot.
  function_failed,  ///< `detail` is the function's return value.
  busy,             ///< No slot is free: make progress, then try again.
  refused,          ///< The worker found the call malformed, or the transport refused the post.
};
constexpr const char* name_of(trouble t) noexcept {
  constexpr const char* names[] = {"none",      "deadline",        "executor_lost", "manager_lost", "no_such_function",
                                   "too_large", "function_failed", "busy",          "refused"};
  return names[static_cast<std::size_t>(t)];
}

/// An invocation ended. The output is in the client's memory: copy it before the handler returns.
struct finished {
  void* context = nullptr;  ///< The context from submit().
  std::uint64_t id = 0;
  std::uint16_t worker = 0;
  trouble why = trouble::none;
  std::int64_t detail = 0;
  const_bytes output;
  duration execution{};  ///< Time inside the function.
};

constexpr finished ended_with(trouble why) noexcept {
  finished f;
  f.why = why;
  return f;
}

/// The result of a blocking invocation.
struct outcome {
  trouble why = trouble::none;
  std::int64_t detail = 0;
  std::size_t bytes = 0;  ///< Bytes of output.
  duration execution{};
  explicit operator bool() const noexcept { return why == trouble::none; }
};

constexpr outcome answer_with(trouble why) noexcept {
  outcome o;
  o.why = why;
  return o;
}

/// A request for workers.
struct allocation_request {
  std::uint16_t workers = 1;
  std::uint16_t slots = 4;  ///< Per worker: calls in flight at once; at least 2.
  std::uint32_t input_bytes = 4096;
  std::uint32_t output_bytes = 4096;
  invocation::polling polling;  ///< How the workers wait.
  const_bytes object;           ///< A shared object of functions; empty: the built-ins.
};

/// The cost of an allocation by the manager's words, and whether the workers' own totals agree to the nanosecond.
struct bill {
  bool exact = false;
  duration hot{};
  duration execution{};
  duration worker_hot{};
  duration worker_execution{};
  std::uint64_t invocations = 0;

  static bill of(const bill_fields& f) noexcept {
    const auto ns = [](std::uint64_t n) { return duration(static_cast<std::int64_t>(n)); };
    return {f.exact, ns(f.hot_ns), ns(f.execution_ns), ns(f.worker_hot_ns), ns(f.worker_execution_ns), f.invocations};
  }
};

/// Durations of the steps of a cold start.
struct cold_times {
  duration connect{};        ///< To the manager.
  duration submit{};         ///< Until the manager answered the request.
  duration spawn_connect{};  ///< Until all workers were connected.
  duration initialize{};     ///< Until all had their functions and memory.
};

}  // namespace weft::invocation
