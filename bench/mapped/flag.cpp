// SPDX-License-Identifier: Apache-2.0
//
// weft over mapped memory compared with what a processor can do with shared lines. Two pinned processes set a word for
// each other, send each other a message, add to a word, and copy a megabyte. Reading the clock takes as long as half a
// round trip, so a sample is several round trips. Hot path: turns. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "ends.hpp"

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;
constexpr std::size_t small = 8;
constexpr std::size_t trips_per_sample = 16;

class match {
 public:
  match(const channel& to, bool first, const run_options& o)
      : first_(first), o_(o), rounds_(std::max<std::size_t>(trips_per_sample, o.count / o.turns)), pair_(to, first) {
    o_.waiting = {o.spin_only ? fruitless::never : fruitless::yield, o.yield_after};
  }

  json play(const channel& to, bool word_alone) {
    by_flag<fabric, false> flag{pair_};
    by_put<fabric> put{pair_};
    trips("put", small, "flag", put, flag);
    if (!word_alone) {
      by_flag<fabric, true> with_room{pair_};
      trips("put", small, "flag with room", put, with_room);
      play_others(flag);
    }
    to.part(first_, [&] { pair_.weft.net.progress([](auto&&) {}); });
    return all_;
  }

 private:
  void play_others(by_flag<fabric, false>& flag) {
    by_event<fabric, carrier::put_notify> notice{pair_};
    by_ring<fabric, carrier::put_notify> hand_notice{pair_};
    by_event<fabric, carrier::send> message{pair_};
    by_ring<fabric, carrier::send> hand_message{pair_};
    trips("put_notify", small, "flag", notice, flag);
    trips("put_notify", small, "store and ring", notice, hand_notice);
    trips("send", small, "flag", message, flag);
    trips("send", small, "ring", message, hand_message);
    for (const std::size_t size : {std::size_t{4096}, std::size_t{65536}, megabyte}) {
      by_large_put<fabric> ours{pair_, size};
      by_copy<fabric> theirs{pair_, size};
      trips("put", size, "memcpy and flag", ours, theirs);
    }
    if (first_) additions();
  }
  template <class Ours, class Theirs>
  void trips(const char* what, std::size_t size, const char* contender, Ours& ours, Theirs& theirs) {
    const std::size_t rounds = size == small ? rounds_ : std::max<std::size_t>(4, rounds_ * 512 / size);
    const duel found = alternate(
        o_.turns, [&](samples& s) { turn(ours, rounds, s); }, [&](samples& s) { turn(theirs, rounds, s); });
    note(what, size, contender, 2, found);
  }
  template <class End>
  void turn(End& end, std::size_t rounds, samples& into) {
    spinner spin(o_.waiting);
    const std::size_t together = std::min(rounds, trips_per_sample);
    const auto wait = [&] {
      while (!end.seen(value_)) spin.polled(false);
      spin.polled(true);
    };
    for (std::size_t i = 0; i < rounds / together; ++i) {
      const std::uint64_t before = now_ns();
      for (std::size_t k = 0; k < together; ++k) {
        ++value_;
        if (!first_) wait();
        end.post(value_);
        if (first_) wait();
      }
      into.add((now_ns() - before) * 10 / together);
    }
  }
  /// The other process is idle meanwhile.
  void additions() {
    const auto hundreds = [this](samples& into, auto&& call) {
      for (std::size_t i = 0; i < rounds_ / 100 + 1; ++i) {
        const std::uint64_t before = now_ns();
        for (std::uint64_t k = 0; k < 100; ++k) call(k);
        into.add((now_ns() - before) / 10);
      }
    };
    const duel found = alternate(
        o_.turns, [&](samples& s) { hundreds(s, [this](std::uint64_t k) { add(k); }); },
        [&](samples& s) {
          hundreds(s, [this](std::uint64_t k) { word_at(pair_.there + 64).fetch_add(k, std::memory_order_acq_rel); });
        });
    note("fetch_add", small, "instruction", 1, found);
  }
  void add(std::uint64_t operand) {
    weft_pair<fabric>& p = pair_.weft;
    bool ended = false;
    while (!p.net.fetch_add(p.other, p.there.at(64), operand, &ended)) p.net.progress([](auto&&) {});
    while (!ended) p.net.progress(overloaded{[&](const completed&) { ended = true; }, [](auto&&) {}});
  }
  /// Samples are tenths of nanoseconds; the report has times per way.
  void note(const char* what, std::size_t size, const char* contender, int ways, const duel& found) {
    const auto per_way = [ways](const samples& s) { return static_cast<double>(s.percentile(.5)) / 10 / ways; };
    all_.push_back({{"operation", what},
                    {"bytes", size},
                    {"contender", contender},
                    {"one_way_ns", per_way(found.ours)},
                    {"contender_one_way_ns", per_way(found.theirs)},
                    {"ratio", found.compared.report()}});
  }

  bool first_;
  run_options o_;
  std::size_t rounds_;
  mapped_pair<fabric> pair_;
  std::uint64_t value_ = 0;
  json all_ = json::array();
};

void show(const json& all) {
  std::printf("%-11s %8s %10s   %-16s %10s   ratio of medians (10th to 90th percentile of turns)\n", "operation",
              "bytes", "ns", "beside", "ns");
  for (const json& s : all)
    std::printf("%-11s %8zu %10.1f   %-16s %10.1f   %s (%s to %s)\n", s["operation"].get<std::string>().c_str(),
                s["bytes"].get<std::size_t>(), s["one_way_ns"].get<double>(), s["contender"].get<std::string>().c_str(),
                s["contender_one_way_ns"].get<double>(), s["ratio"]["median"].dump().c_str(),
                s["ratio"]["low"].dump().c_str(), s["ratio"]["high"].dump().c_str());
}

int side(const channel& to, bool first, const run_options& o, bool word_alone) {
  if (o.pinned) pin_to(first ? 1 : 0);
  match m(to, first, o);
  const json all = m.play(to, word_alone);
  if (!first) return 0;
  if (o.json.empty()) show(all);
  return write_json({{"fabric", fabric::name}, {"count", o.count}, {"turns", o.turns}, {"scenarios", all}}, o.json) ? 0
                                                                                                                    : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  o.yield_after = 4096;  // a poll takes a few nanoseconds, a yield some hundred
  bool word_alone = false;
  const auto more = [&](CLI::App& app) {
    app.add_flag("--word-alone", word_alone, "Nothing but the word: the put compared with the flag");
  };
  if (const int wrong = o.parse(
          argc, argv, "weft over mapped memory and the same lines by hand, taking turns; times are half round trips",
          true, more);
      wrong >= 0)
    return wrong;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o, word_alone); },
      [&](const channel& to) { return side(to, false, o, word_alone); });
}
