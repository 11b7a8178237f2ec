// SPDX-License-Identifier: Apache-2.0
//
// How an invocation ends at its caller: with a result, or with one of a few typed troubles. Each ends exactly once.
// Hot path: plain values. Threads: values.
#pragma once

#include "messages.hpp"

#include <string>

namespace weft::invocation {

enum class trouble : std::uint8_t {
  none,
  deadline,       ///< No reply in time. It may have been executed, or be executed still.
  executor_lost,  ///< The executor died. It may have been executed.
  manager_lost,   ///< The manager is gone, and with it whoever watches over the executor.
  no_such_function,
  too_large,        ///< The input, or the result, is larger than the slots.
  function_failed,  ///< `detail` is what the function returned.
  busy,             ///< No slot is free: make progress, then try again.
  refused,          ///< The worker found the call malformed, or the transport would not post it.
};
constexpr const char* name_of(trouble t) noexcept {
  constexpr const char* names[] = {"none",      "deadline",        "executor_lost", "manager_lost", "no_such_function",
                                   "too_large", "function_failed", "busy",          "refused"};
  return names[static_cast<std::size_t>(t)];
}

/// An invocation ended. The output lies in the client's memory: copy what must outlive the handler.
struct finished {
  void* context = nullptr;  ///< As given to submit().
  std::uint64_t id = 0;
  std::uint16_t worker = 0;
  trouble why = trouble::none;
  std::int64_t detail = 0;
  const_bytes output;
  duration execution{};  ///< Inside the function.
};

constexpr finished ended_with(trouble why) noexcept {
  finished f;
  f.why = why;
  return f;
}

/// The answer of a blocking invocation.
struct outcome {
  trouble why = trouble::none;
  std::int64_t detail = 0;
  std::size_t bytes = 0;  ///< Of output written.
  duration execution{};
  explicit operator bool() const noexcept { return why == trouble::none; }
};

constexpr outcome answer_with(trouble why) noexcept {
  outcome o;
  o.why = why;
  return o;
}

/// What a client asks for.
struct allocation_request {
  std::uint16_t workers = 1;
  std::uint16_t slots = 4;  ///< Per worker: calls in flight at once; at least 2.
  std::uint32_t input_bytes = 4096;
  std::uint32_t output_bytes = 4096;
  invocation::polling polling;  ///< Of the workers.
  const_bytes object;           ///< A shared object of functions; empty: the built-ins.
};

/// What an allocation cost, as the manager's words say, and whether the workers' own totals agree to the nanosecond.
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

/// How long the steps of a cold start took.
struct cold_times {
  duration connect{};        ///< To the manager.
  duration submit{};         ///< Until the manager answered the request.
  duration spawn_connect{};  ///< Until all workers were connected.
  duration initialize{};     ///< Until all had their functions and memory.
};

}  // namespace weft::invocation
