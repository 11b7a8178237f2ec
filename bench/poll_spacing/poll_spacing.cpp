// SPDX-License-Identifier: Apache-2.0
//
// How far apart should empty polls be? A flag in memory of two processes, and libfabric's queue in such memory, each by
// hand with polls at several distances, and with polls when an answer is due. All run between the same two processes
// and take turns. Flags are compared with the flag polled in a tight loop, which also shows how far apart the
// processors are. Transfers through the library are compared with plain messages (plain_end.hpp). Hot path: ladder.hpp.
// Threads: one per process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../peers/floor_ends.hpp"
#include "../peers/plain_end.hpp"
#include "../peers/raw_watching_end.hpp"
#include "other_polls.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <functional>
#include <memory>
#include <new>

namespace {
using namespace weft;
using namespace weft::bench;
using row = weft::selected;
constexpr std::size_t size = 8, most_flags = 8;

template <std::uint32_t Counts, class Use = tuned_use>
struct apart : Use {
  static constexpr std::uint32_t room = Counts;
};
template <std::uint32_t Counts>
using flag = put_end<breather<Counts>>;
template <std::uint32_t Counts>
using put = raw_watching_end<row, apart<Counts>>;
template <std::uint32_t Counts>
using write_immediate = raw_end<row, false, apart<Counts>>;
template <std::uint32_t Counts>
using message = raw_end<by_messages<row>, false, apart<Counts, message_use>>;

/// One contender: a way to poll, measured as often as requested.
struct entrant {
  const char* what;
  std::string looks;
  std::function<double()> half_round_trip;  ///< Nanoseconds.
  std::vector<double> taken;
  comparison compared;
};

class field {
 public:
  field(const channel& to, bool first, const run_options& o, both_ways* shared)
      : to_(to), first_(first), plan_{{size}, std::max<std::size_t>(o.count / o.turns, 1), o.waiting}, shared_(shared) {
    of_flag<flag<no_room>>("no room");
    of_flag<put_end<two_pauses>>("two pauses");
    of_flag<flag<30>>("30 counts");
    of_flag<flag<60>>("60 counts");
    of_flag<flag<90>>("90 counts");
    of_flag<flag<250>>("250 counts");
    of_library<plain_end<row>>("plain message", "no room");
    at_distances<write_immediate>("write with immediate");
    at_distances<message>("message");
    at_distances<put>("put, watched");
    of_library<expecting<put<room_at_queue>>>("put, watched", "expected, 250");
    of_library<expecting<put<100>>>("put, watched", "expected, 100");
  }

  /// Each entrant once, beginning with another one each time.
  void turn(std::size_t number) {
    std::vector<double> these(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::size_t which = (number + i) % all_.size();
      these[which] = all_[which].half_round_trip();
    }
    if (number == 0) return;  // it warms up
    for (std::size_t i = 0; i < all_.size(); ++i) {
      all_[i].taken.push_back(these[i]);
      if (const double base = these[i < flags_ ? 0 : flags_]; base > 0) all_[i].compared.add(these[i] / base);
    }
  }
  json as_json() const {
    json lines = json::array();
    for (const entrant& each : all_) {
      std::vector<double> sorted = each.taken;
      std::sort(sorted.begin(), sorted.end());
      lines.push_back({{"what", each.what},
                       {"looks", each.looks},
                       {"half_round_trip_ns", sorted[sorted.size() / 2]},
                       {"ratio", each.compared.report()}});
    }
    return lines;
  }

 private:
  template <class End>
  void of_flag(const char* looks) {
    if (flags_ == most_flags) throw std::logic_error("bench: no memory for so many flags");
    enter("flag", looks, std::make_shared<End>(shared_[flags_++], first_));
  }
  template <class End>
  void of_library(const char* what, const char* looks) {
    enter(what, looks, std::make_shared<End>(to_, first_, size));
  }
  template <template <std::uint32_t> class End>
  void at_distances(const char* what) {
    of_library<End<no_room>>(what, "no room");
    of_library<End<100>>(what, "100 counts");
    of_library<End<room_at_queue>>(what, "250 counts");
    of_library<End<500>>(what, "500 counts");
    of_library<End<700>>(what, "700 counts");
    of_library<End<900>>(what, "900 counts");
  }
  template <class End>
  void enter(const char* what, const char* looks, std::shared_ptr<End> end) {
    all_.push_back({what, looks, [this, end] { return climb<End>(*end, plan_, first_).latency(size); }, {}, {}});
  }

  const channel& to_;
  bool first_;
  ladder plan_;
  both_ways* shared_;  ///< One per flag; it counts that flag's numbers.
  std::vector<entrant> all_;
  std::size_t flags_ = 0;
};

void show(const json& lines) {
  std::printf("%-22s %-14s %10s   ratio to the first flag, or to plain messages (10th to 90th percentile of turns)\n",
              "", "looks", "ns");
  for (const json& l : lines)
    std::printf("%-22s %-14s %10.1f   %s (%s to %s)\n", l["what"].get<std::string>().c_str(),
                l["looks"].get<std::string>().c_str(), l["half_round_trip_ns"].get<double>(),
                l["ratio"]["median"].dump().c_str(), l["ratio"]["low"].dump().c_str(),
                l["ratio"]["high"].dump().c_str());
}

int side(const channel& to, bool first, run_options o, both_ways* shared) {
  settle<row>(first, o);
  field all(to, first, o, shared);
  for (std::size_t i = 0; i <= o.turns; ++i) all.turn(i);
  to.part(first, [] {});
  if (!first) return 0;
  const json lines = all.as_json();
  if (o.json.empty()) show(lines);
  return write_json({{"fabric", row::name}, {"count", o.count}, {"turns", o.turns}, {"entrants", lines}}, o.json) ? 0
                                                                                                                  : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  o.count = 40000;
  o.turns = 40;
  o.yield_after = 2000;
  if (const int wrong = o.parse(
          argc, argv,
          "Looks at several distances at memory of one host, by hand; times are half round trips of 8 bytes", true);
      wrong >= 0)
    return wrong;
  void* const memory =
      ::mmap(nullptr, most_flags * sizeof(both_ways), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* const shared = new (memory) both_ways[most_flags];
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o, shared); },
      [&](const channel& to) { return side(to, false, o, shared); });
}
