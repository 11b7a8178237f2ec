// SPDX-License-Identifier: Apache-2.0
//
// simulate.<row>: whole systems over a simulated fabric, in virtual time, one run for each seed. A failing run is one
// command, and its shortest form is another.
#include "command.hpp"
#include "shrinking.hpp"
#include "transport_system.hpp"
#include "watch.hpp"

#include "../../compose/selected.hpp"

#if defined(WEFT_SIMULATE_PAGES)
#include "pages_system.hpp"
#endif
#if defined(WEFT_SIMULATE_INVOCATION)
#include "invocation_system.hpp"
#endif

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace {
using namespace weft::simulation;

#if defined(WEFT_OVER_LOOPBACK)
using fabric = weft::over<weft::selected, weft::backends::loopback::port>;
#else
using fabric = weft::selected;
#endif

/// Whether this program has the system: the examples are left out where their libraries are absent.
bool has_system(const std::string& name) {
#if defined(WEFT_SIMULATE_PAGES)
  if (name == "paged_writer") return true;
#endif
#if defined(WEFT_SIMULATE_INVOCATION)
  if (name == "invocation") return true;
#endif
  return name == "transport";
}

outcome play(const std::string& system, const plan& p, const run_settings& s) {
#if defined(WEFT_SIMULATE_PAGES)
  if (system == "paged_writer") return pages_system<fabric>(p, s).play();
#endif
#if defined(WEFT_SIMULATE_INVOCATION)
  if (system == "invocation") return invocation_system<fabric>(p, s).play();
#endif
  (void)system;
  return transport_system<fabric>(p, s).play();
}

std::string command_of(const command& c, const plan& p) {
  std::string bug;
  for (const auto& [name, planted] : planted_bugs())
    if (planted == c.settings.bug) bug = " --bug " + name;
  return "simulate." + std::string(fabric::name) + " --system " + c.system + " " + options_of(p) + bug;
}

void report(const command& c, const plan& p, const outcome& o) {
  std::printf("failed %" PRIu64 " %s: %s\n", p.seed, o.findings.front().name.c_str(),
              o.findings.front().sentence.c_str());
  std::printf("  repeat: %s\n", command_of(c, p).c_str());
  if (!c.shrinks) return;
  const std::string name = o.findings.front().name;
  shrinker shrink([&](const plan& smaller) {
    begin_run(p.seed);
    return play(c.system, smaller, c.settings).names(name);
  });
  const plan least = shrink.shortest(p.seed, c.kept);
  std::printf("  shortest: %s\n", command_of(c, least).c_str());
  for (const step& s : least.steps)
    std::printf("    step %u: node %u, %s to node %u, %u bytes\n", s.number, unsigned{s.node},
                std::string(name_of(s.what)).c_str(), unsigned{s.other}, s.size);
  for (const disturbance& d : least.disturbances)
    std::printf("    disturbance %u: %s of node %u (to %u) at %.3f ms for %.3f ms\n", d.number,
                std::string(name_of(d.what)).c_str(), unsigned{d.node}, unsigned{d.other},
                static_cast<double>(d.at.count()) / 1e6, static_cast<double>(d.lasts.count()) / 1e6);
  for (const finding& each : play(c.system, least, c.settings).findings)
    std::printf("    %s: %s\n", each.name.c_str(), each.sentence.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--bugs") {
    for (const auto& [name, bug] : planted_bugs()) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--help") return std::fputs(usage, stdout) < 0 ? 1 : 0;
  command c;
  if (!parse(argc, argv, c)) return 2;
  if (!has_system(c.system)) {
    std::fprintf(stderr, "%s: this build has no system %s, because its example is left out\n", argv[0],
                 c.system.c_str());
    return 77;
  }
  watch_for_crashes();
  c.settings.keep_trace = !c.trace.empty();
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::uint64_t ran = 0;
  std::uint64_t failed = 0;
  std::uint64_t operations = 0;
  std::uint64_t all = 0;
  double virtual_seconds = 0;
  std::string trace;
  for (std::uint64_t seed = c.first; c.seconds > 0 ? spent() < c.seconds : seed <= c.last; ++seed) {
    begin_run(seed);
    const plan p = make_plan(seed, c.kept);
    outcome o = play(c.system, p, c.settings);
    ++ran;
    operations += o.operations;
    virtual_seconds += std::chrono::duration<double>(o.lasted).count();
    all = (all ^ o.hash) * 0x9e3779b97f4a7c15U;
    trace = std::move(o.trace);
    if (c.hashes) std::printf("hash %" PRIu64 " %016" PRIx64 "\n", seed, o.hash);
    if (!c.expected.empty()) {
      if (!o.names(c.expected)) continue;
      std::printf("found %s with seed %" PRIu64 " after %" PRIu64 " seeds\n", c.expected.c_str(), seed, ran);
      return 0;
    }
    if (o.findings.empty()) continue;
    ++failed;
    report(c, p, o);
    (void)std::fflush(stdout);
  }
  if (!c.trace.empty()) std::ofstream(c.trace) << trace;
  std::printf("{\"row\": \"%s\", \"system\": \"%s\", \"first\": %" PRIu64 ", \"ran\": %" PRIu64 ", \"failed\": %" PRIu64
              ", \"operations\": %" PRIu64 ", \"seconds\": %.3f, \"virtual_seconds\": %.3f, \"hash\": \"%016" PRIx64
              "\"}\n",
              std::string(fabric::name).c_str(), c.system.c_str(), c.first, ran, failed, operations, spent(),
              virtual_seconds, all);
  if (!c.expected.empty()) std::printf("no seed has the finding %s\n", c.expected.c_str());
  return failed != 0 || !c.expected.empty() ? 1 : 0;
}
