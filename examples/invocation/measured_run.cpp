// SPDX-License-Identifier: Apache-2.0
#include "measured_run.hpp"

#include "functions.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace weft::invocation {
namespace {

/// The p-th part of sorted times, nearest rank; 0 where there are none.
double microseconds_at(const std::vector<std::uint32_t>& sorted, double p) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(p * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[std::min(rank, sorted.size() - 1)]) / 1000;
}
double us(duration d) { return static_cast<double>(d.count()) / 1000; }
double seconds(duration d) { return static_cast<double>(d.count()) / 1e9; }
unsigned long long wide(std::uint64_t n) { return n; }

void print_json(const run_report& r, const std::vector<std::uint32_t>& sorted, const cold_times& cold, const bill& cost,
                std::string_view fabric) {
  std::printf(
      "{\"fabric\":\"%.*s\",\"asked\":%llu,\"done\":%llu,\"wrong\":%llu,\"failed\":%llu,\"unended\":%llu,\"lost\":%llu,"
      "\"first_failure\":\"%s\",",
      static_cast<int>(fabric.size()), fabric.data(), wide(r.asked), wide(r.done), wide(r.wrong), wide(r.failed),
      wide(r.unended), wide(r.lost()), name_of(r.first_failure));
  std::printf("\"seconds\":%.6f,\"p50_us\":%.3f,\"p90_us\":%.3f,\"p99_us\":%.3f,\"p999_us\":%.3f,", seconds(r.took),
              microseconds_at(sorted, 0.5), microseconds_at(sorted, 0.9), microseconds_at(sorted, 0.99),
              microseconds_at(sorted, 0.999));
  std::printf(
      "\"cold_us\":{\"connect\":%.1f,\"submit\":%.1f,\"spawn_connect\":%.1f,\"initialize\":%.1f,\"execute\":%.1f},",
      us(cold.connect), us(cold.submit), us(cold.spawn_connect), us(cold.initialize), us(r.first_call));
  std::printf(
      "\"accounting\":{\"exact\":%s,\"hot_ns\":%lld,\"execution_ns\":%lld,\"worker_hot_ns\":%lld,\"worker_execution_"
      "ns\":%lld,\"invocations\":%llu}}"
      "\n",
      cost.exact ? "true" : "false", static_cast<long long>(cost.hot.count()),
      static_cast<long long>(cost.execution.count()), static_cast<long long>(cost.worker_hot.count()),
      static_cast<long long>(cost.worker_execution.count()), wide(cost.invocations));
}

}  // namespace

bool run_pattern::right(std::uint64_t number, const_bytes result) const noexcept {
  std::array<std::byte, sizeof number> first;
  std::memcpy(first.data(), &number, sizeof number);
  const const_bytes rest = const_bytes(input_).subspan(sizeof number);
  if (!checksum_)  // in blocks: on the fastest fabrics a check byte by byte takes longer than a reply
    return result.size() == input_.size() && std::memcmp(result.data(), first.data(), first.size()) == 0 &&
           std::memcmp(result.data() + first.size(), rest.data(), rest.size()) == 0;
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const const_bytes part : {const_bytes(first), rest})
    for (const std::byte b : part) sum = (sum ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3U;
  return result.size() == sizeof sum && std::memcmp(result.data(), &sum, sizeof sum) == 0;
}

void print(const run_report& r, const cold_times& cold, const bill& cost, std::string_view fabric, bool json) {
  std::vector<std::uint32_t> sorted = r.times;
  std::ranges::sort(sorted);
  if (json) return print_json(r, sorted, cold, cost, fabric);
  std::printf("invocations  %llu done, %llu lost (%llu wrong, %llu failed%s%s)\n", wide(r.done), wide(r.lost()),
              wide(r.wrong), wide(r.failed), r.first_failure == trouble::none ? "" : ": ",
              r.first_failure == trouble::none ? "" : name_of(r.first_failure));
  std::printf("time         %.3f s, %.0f per second\n", seconds(r.took),
              static_cast<double>(r.done) / std::max(seconds(r.took), 1e-9));
  std::printf("round trip   p50 %.1f us, p90 %.1f us, p99 %.1f us, p99.9 %.1f us\n", microseconds_at(sorted, 0.5),
              microseconds_at(sorted, 0.9), microseconds_at(sorted, 0.99), microseconds_at(sorted, 0.999));
  std::printf(
      "cold start   connect %.0f us, submit %.0f us, spawn and connect %.0f us, initialize %.0f us, first call %.0f "
      "us\n",
      us(cold.connect), us(cold.submit), us(cold.spawn_connect), us(cold.initialize), us(r.first_call));
  std::printf("accounting   %s: hot %lld ns, execution %lld ns, %llu invocations\n", cost.exact ? "exact" : "NOT exact",
              static_cast<long long>(cost.hot.count()), static_cast<long long>(cost.execution.count()),
              wide(cost.invocations));
}

}  // namespace weft::invocation
