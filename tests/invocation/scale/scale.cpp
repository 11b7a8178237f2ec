// SPDX-License-Identifier: Apache-2.0
//
// invocation.scale: one run of function invocation at a scale, in virtual time; its counts as one line of JSON on
// standard output.
#include "scaled_system.hpp"

#include <weft/compose/selected.hpp>

#include <CLI/CLI.hpp>

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace {

using namespace weft;

using fabric = over<selected, backends::loopback::port>;

}  // namespace

int main(int argc, char** argv) try {
  test::scale_plan plan;
  CLI::App app("One run of function invocation at a scale, in virtual time.");
  app.add_option("--executors", plan.executors, "At a time")->check(CLI::Range(1, 20000));
  app.add_option("--clients", plan.clients, "In all")->check(CLI::Range(1, 1000000));
  app.add_option("--calls", plan.calls, "Of each client")->check(CLI::Range(1, 1000));
  app.add_option("--managers", plan.managers, "Which share executors and clients")->check(CLI::Range(1, 1000));
  std::int64_t poll = plan.poll.count();
  app.add_option("--poll", poll, "ns");
  CLI11_PARSE(app, argc, argv);
  plan.poll = duration(poll);
  const auto r = test::scaled_system<fabric>(plan).play();
  const std::pair<const char*, std::int64_t> all[] = {
      {"executors", static_cast<std::int64_t>(plan.executors)},
      {"clients", static_cast<std::int64_t>(plan.clients)},
      {"calls_each", static_cast<std::int64_t>(plan.calls)},
      {"managers", static_cast<std::int64_t>(plan.managers)},
      {"finished", static_cast<std::int64_t>(r.finished)},
      {"served", static_cast<std::int64_t>(r.served)},
      {"failed", static_cast<std::int64_t>(r.failed)},
      {"refused", static_cast<std::int64_t>(r.refused)},
      {"turned_away", static_cast<std::int64_t>(r.turned_away)},
      {"lost_executors", static_cast<std::int64_t>(r.lost_executors)},
      {"calls", static_cast<std::int64_t>(r.calls)},
      {"exact_bills", static_cast<std::int64_t>(r.exact_bills)},
      {"packets", static_cast<std::int64_t>(r.packets)},
      {"packet_bytes", static_cast<std::int64_t>(r.packet_bytes)},
      {"events", static_cast<std::int64_t>(r.events)},
      {"manager_packets", static_cast<std::int64_t>(r.manager_packets)},
      {"manager_bytes", static_cast<std::int64_t>(r.manager_bytes)},
      {"rounds", static_cast<std::int64_t>(r.rounds)},
      {"looks", static_cast<std::int64_t>(r.looks)},
      {"peak_ports", static_cast<std::int64_t>(r.peak_ports)},
      {"peak_bytes", static_cast<std::int64_t>(r.peak_bytes)},
      {"peak_resident", static_cast<std::int64_t>(r.peak_resident)},
      {"manager_processor_ns", static_cast<std::int64_t>(r.manager_processor_ns)},
      {"virtual_ns", static_cast<std::int64_t>(r.lasted.count())},
  };
  const char* before = "{";
  for (const auto& [name, value] : all) {
    std::printf("%s\"%s\": %" PRId64, before, name, value);
    before = ", ";
  }
  std::printf("}\n");
  if (!r.finished) std::fprintf(stderr, "invocation.scale: not finished: %s\n", r.why.c_str());
  return r.finished ? 0 : 1;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "invocation.scale: %s\n", e.what()), 1;
}
