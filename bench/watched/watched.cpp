// SPDX-License-Identifier: Apache-2.0
//
// What is a notice without a queue entry worth? Five contenders take turns at a ping-pong of each size between the same
// two processes. By hand: a write whose target watches its memory (the floor), a tuned write with an immediate, and a
// first program's messages. By weft: put_notify with the row's own answer, and with notify::watched_word. The word is
// compared with each of the others, turn by turn. Hot path: pingpong.hpp. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../compose/with.hpp"
#include "../command_line.hpp"
#include "../peers/plain_end.hpp"
#include "../transport/weft_end.hpp"
#include "hand_watching_end.hpp"

namespace {
using namespace weft;
using namespace weft::bench;

using row = weft::selected;
using watched = with<row, answers::notify::watched_word>;
constexpr std::size_t sizes[] = {8, 1024, 4096, 16384, 65536};
constexpr std::size_t room = 65536;
constexpr const char* names[] = {"watched", "hand_watched", "hand_immediate", "hand_plain", "weft_own"};
constexpr std::size_t contenders = std::size(names);

struct measured {
  std::size_t size = 0;
  std::array<samples, contenders> all;
  std::array<comparison, contenders> against;  ///< The watched word compared with each; with itself the ratio is 1.
};

class match {
 public:
  match(const channel& to, bool first, const run_options& o)
      : first_(first),
        o_(o),
        watched_(to, first, room),
        own_(to, first, room),
        hand_(to, first, room),
        immediate_(to, first, room),
        plain_(to, first, room) {}

  measured at(std::size_t size) {
    measured found;
    found.size = size;
    hand_.prepare(size);
    play_all(size, 0, nullptr);
    for (std::size_t turn = 0; turn <= o_.turns; ++turn) {
      std::array<samples, contenders> these;
      play_all(size, turn, &these);
      if (turn == 0) continue;
      for (std::size_t i = 0; i < contenders; ++i) {
        found.against[i].turn(these[0], these[i]);
        found.all[i].add(these[i]);
      }
    }
    return found;
  }
  /// Keeps every end going except the plain one: nothing is under way to it, and its posted receive is cancelled when
  /// its peer closes first.
  void poll_once() {
    watched_.net.progress([](auto&&) {});
    own_.net.progress([](auto&&) {});
    hand_.poll();
    immediate_.poll();
  }

 private:
  void play_all(std::size_t size, std::size_t begins, std::array<samples, contenders>* into) {
    for (std::size_t i = 0; i < contenders; ++i) {
      const std::size_t which = (begins + i) % contenders;
      samples* here = into == nullptr ? nullptr : &(*into)[which];
      weft_end<watched, carrier::put_notify> word(watched_);
      weft_end<row, carrier::put_notify> own(own_);
      switch (which) {
        case 0:
          play(word, size, here, [&] { own_.net.progress([](auto&&) {}); });
          break;
        case 1:
          play(hand_, size, here, [&] { watched_.net.progress([](auto&&) {}); });
          break;
        case 2:
          play(immediate_, size, here, [] {});
          break;
        case 3:
          play(plain_, size, here, [] {});
          break;
        default:
          play(own, size, here, [] {});
      }
    }
  }
  template <class End, class Meanwhile>
  void play(End& end, std::size_t size, samples* into, Meanwhile meanwhile) {
    const round_plan plan{size, std::max<std::size_t>(1, o_.count / o_.turns), o_.waiting};
    pingpong<ending::unsignalled, End, Meanwhile> p(end, plan, meanwhile);
    if (into == nullptr) first_ ? p.ask_checked(4) : p.answer_checked(4);
    else first_ ? p.ask(*into) : p.answer();
  }

  bool first_;
  const run_options& o_;
  weft_pair<watched> watched_;
  weft_pair<row> own_;
  watching_end<row> hand_;
  raw_end<row> immediate_;
  plain_end<row> plain_;
};

json as_json(const measured& m) {
  json line{{"size", m.size}};
  for (std::size_t i = 0; i < contenders; ++i) {
    line[names[i]] = {{"round_trip_ns", percentiles(m.all[i])}};
    if (i > 0) line[names[i]]["watched_to_this"] = m.against[i].report();
  }
  return line;
}
void print(const measured& m) {
  std::printf("%-8s %6zu bytes  watched %7llu ns;  to", std::string(row::name).c_str(), m.size,
              static_cast<unsigned long long>(m.all[0].percentile(.5)));
  for (std::size_t i = 1; i < contenders; ++i) {
    const json r = m.against[i].report();
    std::printf("  %s %s (%s to %s)", names[i], r["median"].dump().c_str(), r["low"].dump().c_str(),
                r["high"].dump().c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

int side(const channel& to, bool first, run_options o) {
  settle<row>(first, o);
  match m(to, first, o);
  json lines = json::array();
  for (const std::size_t size : sizes) {
    const measured found = m.at(size);
    lines.push_back(as_json(found));
    if (first && o.json.empty()) print(found);
  }
  to.part(first, [&] { m.poll_once(); });
  return !first || write_json({{"fabric", row::name}, {"sizes", lines}}, o.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  if (const int wrong =
          o.parse(argc, argv, "Notices by a watched word, compared with those by entries of queues, by size", true);
      wrong >= 0)
    return wrong;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o); },
      [&](const channel& to) { return side(to, false, o); });
}
