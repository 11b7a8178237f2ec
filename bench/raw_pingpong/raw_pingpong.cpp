// SPDX-License-Identifier: Apache-2.0
//
// The yardstick: a ping-pong by hand against libfabric for the selected fabric, in two processes, without a transport
// of weft. Hot path: pingpong.hpp. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../run_settings.hpp"
#include "contender.hpp"
#include "words.hpp"

namespace {
using namespace weft::bench;
using fabric = weft::selected;
using end = contender<fabric>;

int side(const channel& to, bool first, run_settings o) {
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
  return report(o, fabric::name, end::writes ? "write_immediate" : "send", taken) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_settings o;
  if (const int code = parse_words(o, argc, argv); code >= 0) return code;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o); },
      [&](const channel& to) { return side(to, false, o); });
}
