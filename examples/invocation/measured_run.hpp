// SPDX-License-Identifier: Apache-2.0
//
// Many invocations, each result checked: blocking one by one, or several in flight per worker. Results that are wrong,
// missing or errors are counted. Nothing is retried, so "lost" means lost. Hot path: yes. Threads: one.
#pragma once

#include "client.hpp"
#include "commands.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::invocation {

/// Results of a measured run. Times in nanoseconds, of one timed invocation each, or the mean of a batch.
struct run_report {
  std::uint64_t asked = 0;
  std::uint64_t done = 0;     ///< Succeeded, with the right result.
  std::uint64_t wrong = 0;    ///< Succeeded, with a wrong result.
  std::uint64_t failed = 0;   ///< Ended in a typed error.
  std::uint64_t unended = 0;  ///< Without an end: must be 0; otherwise a defect.
  trouble first_failure = trouble::none;
  duration first_call{};             ///< The first invocation after the allocation.
  duration took{};                   ///< All timed invocations together.
  std::vector<std::uint32_t> times;  ///< One per batch of calls.

  std::uint64_t lost() const noexcept { return wrong + failed + unended; }
};

void print(const run_report& report, const cold_times& cold, const bill& cost, std::string_view fabric, bool json);

/// Inputs and expected results that differ from call to call.
class run_pattern {
 public:
  run_pattern(std::size_t size, bool checksum) : input_(size), checksum_(checksum) {
    for (std::size_t i = 0; i < size; ++i) input_[i] = std::byte(i * 31 + 7);
  }
  /// The input of call `number`, valid until the next one is requested.
  const_bytes input(std::uint64_t number) noexcept {
    std::memcpy(input_.data(), &number, sizeof number);
    return input_;
  }
  /// Whether this is the result of call `number`.
  bool right(std::uint64_t number, const_bytes result) const noexcept;

 private:
  std::vector<std::byte> input_;
  bool checksum_;
};

namespace detail {

/// One call in flight of a pipelined run.
struct flight {
  std::uint64_t number = 0;
  instant posted{};
  std::uint16_t worker = 0;  ///< It always uses this worker.
  bool used = false;
};

template <complete_fabric F>
class pipelined_run {
 public:
  pipelined_run(client<F>& c, const client_command& command, std::uint32_t function, run_report& report)
      : c_(c),
        command_(command),
        function_(function),
        report_(report),
        pattern_(command.size, command.function == "checksum"),
        flights_(std::size_t{c.workers()} * std::min<std::uint32_t>(command.depth, command.request.slots)) {
    for (std::size_t i = 0; i < flights_.size(); ++i) flights_[i].worker = static_cast<std::uint16_t>(i % c.workers());
  }

  void go(std::uint64_t count, bool timed) {
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
    std::uint32_t left = command_.batch;
    left_out_ = true;
    next_ = pattern_.input(begun);
    now_ = c_.net().now();
    auto on = [&](const finished& f) {
      auto& flight_of = *static_cast<flight*>(f.context);
      flight_of.used = false;
      ++ended;
      const bool clock_read = --left == 0;
      if (clock_read) {
        left = command_.batch;
        now_ = c_.net().now();
      }
      if (timed) note(flight_of, f, clock_read);
      if (begun < count) begin(flight_of, begun);  // here: after the handler the client polls other links first
    };
    while (ended < count && c_.allocated()) {
      if (std::exchange(left_out_, false))
        for (flight& each : flights_)
          if (!each.used && begun < count) begin(each, begun);
      if (c_.progress(on) == 0) c_.rest();
    }
    if (timed) report_.unended += begun - ended;
    if (timed) report_.failed += count - begun;
  }

 private:
  void begin(flight& each, std::uint64_t& begun) {
    each.number = begun;
    each.posted = now_;
    each.used = c_.submit_until(each.worker, function_, next_, &each, now_ + command_.deadline) == trouble::none;
    if (each.used) next_ = pattern_.input(++begun);  // while this call is in flight
    else left_out_ = true;
  }
  /// `clock_read`: the clock was read, for the calls since the last reading.
  void note(const flight& call, const finished& f, bool clock_read) {
    if (f.why != trouble::none) {
      ++report_.failed;
      if (report_.first_failure == trouble::none) report_.first_failure = f.why;
      return;
    }
    ++(pattern_.right(call.number, f.output) ? report_.done : report_.wrong);
    if (clock_read)
      report_.times.push_back(static_cast<std::uint32_t>(
          std::min<std::int64_t>((now_ - call.posted).count() / command_.batch, ~std::uint32_t{0})));
  }

  client<F>& c_;
  const client_command& command_;
  std::uint32_t function_;
  run_report& report_;
  run_pattern pattern_;
  std::vector<flight> flights_;
  const_bytes next_;      ///< The input of the next call.
  bool left_out_ = true;  ///< A call could not be submitted.
  instant now_{};  ///< When the last call (or batch) ended. The next one begins then, so each costs one reading of the
                   ///< clock, like a round trip.
};

}  // namespace detail

/// Returns true when every invocation succeeded with the right result.
template <complete_fabric F>
bool measured_run(client<F>& c, const client_command& command, run_report& report) {
  report.asked = command.count;
  report.times.reserve(command.count);
  const auto function = c.find(command.function);
  if (!function) {
    report.failed = command.count;
    report.first_failure = trouble::no_such_function;
    return false;
  }
  run_pattern pattern(command.size, command.function == "checksum");
  std::vector<std::byte> output(std::max<std::size_t>(command.size, 64));
  const instant cold = c.net().now();
  const outcome first = c.invoke(*function, pattern.input(0), output, command.deadline);
  report.first_call = c.net().now() - cold;
  if (!first || !pattern.right(0, {output.data(), first.bytes})) report.first_failure = first.why;
  detail::pipelined_run<F> all(c, command, *function, report);
  all.go(command.warm_up, false);
  const instant begin = c.net().now();
  all.go(command.count, true);
  report.took = c.net().now() - begin;
  return report.done == report.asked && report.first_failure == trouble::none;
}

}  // namespace weft::invocation
