// SPDX-License-Identifier: Apache-2.0
//
// The yardstick: a ping-pong by hand against libfabric for the selected fabric, in two processes, without a transport
// of weft. Hot path: pingpong.hpp. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "contender.hpp"

namespace {
using namespace weft::bench;
using fabric = weft::selected;
using end = contender<fabric>;

int side(const channel& to, bool first, run_options o) {
  settle<fabric>(first, o);
  end raw(to, first, o.size);
  const auto nothing = [] {};
  using run = pingpong<ending::unsignalled, end, decltype(nothing)>;
  run rounds(raw, o.plan(o.count), nothing), warm_up(raw, o.plan(o.count / 10 + 1), nothing);
  samples taken(o.count), unused(o.count);
  if (first) {
    rounds.ask_checked(16);
    warm_up.ask(unused);
    rounds.ask(taken);
  } else {
    rounds.answer_checked(16);
    warm_up.answer();
    rounds.answer();
  }
  to.part(first, [&] { raw.poll(); });
  if (!first) return 0;
  const json report_json{{"fabric", fabric::name},
                         {"size", o.size},
                         {"count", o.count},
                         {"carrier", end::writes ? "write_immediate" : "send"},
                         {"round_trip_ns", taken.percentiles()}};
  if (o.json.empty())
    std::printf("%s, %zu bytes, %zu full round trips: %s ns\n", std::string(fabric::name).c_str(), o.size, o.count,
                taken.percentiles().dump().c_str());
  return write_json(report_json, o.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  if (const int wrong = o.parse(argc, argv, "A hand-written ping-pong between two processes on this machine");
      wrong >= 0)
    return wrong;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o); },
      [&](const channel& to) { return side(to, false, o); });
}
