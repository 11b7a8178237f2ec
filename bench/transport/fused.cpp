// SPDX-License-Identifier: Apache-2.0
//
// Up to which size is a notice that carries its bytes cheaper than a write and a message? Both ends hold two transports
// of the same fabric with notices by message. One fuses and one does not; they take turns at a ping-pong of each size.
// The crossover is the fused_bytes of a row whose notices are messages. On fabrics with something better the program
// selects the answer by hand. Hot path: pingpong.hpp. Threads: one per process.
#include "../../wire/fused.hpp"
#include "../../compose/selected.hpp"
#include "../../compose/with.hpp"
#include "../command_line.hpp"
#include "weft_end.hpp"

namespace {
using namespace weft;
using namespace weft::bench;

/// F with messages as notices: the cheapest such answer that its row permits. The library's own atomics may remove the
/// order that the cheaper answer needs.
template <class F>
consteval auto by_message() {
  if constexpr (answer<F, notify_family>::notice_is_message) return F{};
  else if constexpr (can_answer<F, answers::notify::message_after_ordered_write> &&
                     answer<F, atomics_family>::executed_by_target)
    return with<F, answers::notify::message_after_ordered_write>{};
  else return with<F, answers::notify::message_after_delivery>{};
}
using row = decltype(by_message<weft::selected>());
using fusing = fused_up_to<row, wire::largest_fused>;
using apart = fused_up_to<row, 0>;
constexpr std::size_t room = 4096;

struct measured {
  std::size_t size;
  duel found;
  bool pays() const { return found.compared.report()["median"].get<double>() <= 1; }
};

class match {
 public:
  match(const channel& to, bool first, const run_options& o)
      : first_(first), o_(o), fused_(to, first, room), apart_(to, first, room) {}

  std::vector<measured> play() {
    std::vector<measured> all;
    for (std::size_t size = 8;; size = std::min<std::size_t>(size * 2, wire::largest_fused)) {
      all.push_back({size, between(size)});
      if (size == wire::largest_fused) return all;
    }
  }
  void poll_once() {
    fused_.net.progress([](auto&&) {});
    apart_.net.progress([](auto&&) {});
  }

 private:
  duel between(std::size_t size) {
    weft_end<fusing, carrier::put_notify> ours(fused_);
    weft_end<apart, carrier::put_notify> theirs(apart_);
    const round_plan plan{size, std::max<std::size_t>(1, o_.count / o_.turns), o_.waiting};
    const auto play = [&](auto& end, auto& other, samples* into) {
      const auto meanwhile = [&] { other.net.progress([](auto&&) {}); };
      pingpong<ending::unsignalled, std::remove_reference_t<decltype(end)>, decltype(meanwhile)> p(end, plan,
                                                                                                   meanwhile);
      if (into == nullptr) first_ ? p.ask_checked(8) : p.answer_checked(8);
      else first_ ? p.ask(*into) : p.answer();
    };
    play(ours, apart_, nullptr);
    play(theirs, fused_, nullptr);
    return alternate(
        o_.turns, [&](samples& s) { play(ours, apart_, &s); }, [&](samples& s) { play(theirs, fused_, &s); });
  }

  bool first_;
  const run_options& o_;
  weft_pair<fusing> fused_;
  weft_pair<apart> apart_;
};

/// The largest size up to which every size pays; 0: none does.
std::size_t crossover(const std::vector<measured>& all) {
  std::size_t found = 0;
  for (const measured& each : all) {
    if (!each.pays()) break;
    found = each.size;
  }
  return found;
}

int side(const channel& to, bool first, run_options o) {
  settle<row>(first, o);
  match m(to, first, o);
  const std::vector<measured> all = m.play();
  to.part(first, [&] { m.poll_once(); });
  if (!first) return 0;
  json lines = json::array();
  for (const measured& each : all) {
    const json ratio = each.found.compared.report();
    lines.push_back({{"size", each.size},
                     {"fused_ns", percentiles(each.found.ours)},
                     {"apart_ns", percentiles(each.found.theirs)},
                     {"ratio", ratio}});
    if (o.json.empty())
      std::printf("%-9s %4zu bytes   in the notice %8s ns   write and message %8s ns   ratio %s (%s to %s)\n",
                  std::string(row::name).c_str(), each.size, lines.back()["fused_ns"]["p50"].dump().c_str(),
                  lines.back()["apart_ns"]["p50"].dump().c_str(), ratio["median"].dump().c_str(),
                  ratio["low"].dump().c_str(), ratio["high"].dump().c_str());
  }
  if (o.json.empty())
    std::printf("%-9s %s: fused pays up to %zu bytes\n", std::string(row::name).c_str(),
                std::string(answer_name<answer<row, notify_family>>()).c_str(), crossover(all));
  return write_json({{"fabric", row::name}, {"crossover", crossover(all)}, {"sizes", lines}}, o.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  if (const int wrong =
          o.parse(argc, argv, "A notice with its bytes, compared with a write and a message, by size", true);
      wrong >= 0)
    return wrong;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o); },
      [&](const channel& to) { return side(to, false, o); });
}
