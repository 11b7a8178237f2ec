// SPDX-License-Identifier: Apache-2.0
//
// Lists of pages, in the sizes that NIXL's own bench takes: 4 KiB to 4 MiB, 1 to 64 in flight. The transfer engine
// takes turns with libfabric by hand and with a put_notify for each page (examples/paged_writer). A turn's time goes
// from the first post until the target has answered that the whole list is there. Each turn's bytes are compared,
// outside of the measured time. Hot path: the ends' loops. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "ends.hpp"

#include <algorithm>
#include <cstring>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;

struct settings {
  std::vector<std::size_t> sizes{4096, 65536, 1 << 20, 4 << 20};
  std::vector<std::uint32_t> in_flight{1, 4, 16, 64};
  std::size_t list_bytes = std::size_t{1} << 26;
  std::uint32_t most_pages = 4096;
  std::size_t turns = 5;
  unsigned limit = 600;
  bool spin = false;
  std::string json;
};

class side {
 public:
  side(const channel& to, bool first, const settings& s, std::size_t largest)
      : to_(to),
        first_(first),
        waiting_{s.spin                                                 ? fruitless::never
                 : fabric::facts.data_progress == data_progress::thread ? fruitless::nap
                                                                        : fruitless::yield,
                 16},
        pair_(to, first, largest),
        hand_(to, first, largest),
        turns_(s.turns) {}

  json play(const list_plan& p) {
    engine_end<fabric> engine(pair_, p, waiting_);
    page_end<fabric> page(pair_, p, waiting_);
    hand_.plan(p, waiting_);
    std::vector<double> rates;
    comparison to_hand, to_pages;
    for (std::size_t turn = 0; turn <= turns_; ++turn) {
      double gb[3] = {};
      for (std::size_t i = 0; i < 3; ++i) {  // who begins alternates
        const std::size_t who = (turn + i) % 3;
        gb[who] = who == 0 ? once(engine, p, turn) : who == 1 ? once(hand_, p, turn) : once(page, p, turn);
      }
      if (turn == 0) continue;  // warms up
      rates.push_back(gb[0]);
      to_hand.add(gb[0] / gb[1]);
      to_pages.add(gb[0] / gb[2]);
    }
    std::sort(rates.begin(), rates.end());
    return {{"page", p.size},
            {"pages", p.pages},
            {"in_flight", p.in_flight},
            {"gb_per_s", rates[rates.size() / 2]},
            {"to_hand", to_hand.report()},
            {"to_pages", to_pages.report()}};
  }
  void part() {
    to_.part(first_, [this] { look(); });
  }

 private:
  void look() {
    hand_.look();
    pair_.net.progress([](auto&&) {});
  }
  /// One list, in bytes per nanosecond (GB/s).
  template <class End>
  double once(End& end, const list_plan& p, std::size_t turn) {
    const std::size_t all = p.size * p.pages;
    const auto sample = [&](std::uint32_t page, std::size_t i) {
      return static_cast<std::byte>((i >> 4) * 7 + page * 31 + turn * 13 + p.in_flight);
    };
    if (first_)
      for (std::uint32_t page = 0; page < p.pages; ++page)
        for (std::size_t i = 0; i < p.size; i += 16)
          std::memset(end.source().data() + page * p.size + i, static_cast<int>(sample(page, i)), 16);
    to_.swap(first_, "ready", [&] { end.look(); });
    const std::uint64_t begin = now_ns();
    if (first_) {
      end.write();
      (void)to_.receive_text([&] { end.look(); });
    } else {
      end.await();
      to_.send_text("whole");
    }
    const double rate = static_cast<double>(all) / static_cast<double>(now_ns() - begin);
    to_.part(first_, [&] { end.look(); });  // the writer's ends come with the polls of both
    if (!first_)
      for (std::uint32_t page = 0; page < p.pages; ++page)
        for (std::size_t i = 0; i < p.size; i += 16)
          if (end.landing()[place_of(p, page) * p.size + i] != sample(page, i))
            throw std::runtime_error("page " + std::to_string(page) + " has other bytes than were written");
    to_.part(first_, [&] { end.look(); });
    return rate;
  }

  const channel& to_;
  bool first_;
  patience waiting_;
  weft_pair<fabric> pair_;
  hand_end<fabric> hand_;
  std::size_t turns_;
};

int run(const channel& to, bool first, const settings& s) {
  std::vector<list_plan> plans;
  for (const std::size_t size : s.sizes)
    for (const std::uint32_t window : s.in_flight)
      plans.push_back(
          {size, static_cast<std::uint32_t>(std::clamp<std::size_t>(s.list_bytes / size, 1, s.most_pages)), window});
  std::size_t largest = 0;
  for (const list_plan& each : plans) largest = std::max(largest, each.size * each.pages);
  side mine(to, first, s, largest);
  json lines = json::array();
  for (const list_plan& each : plans) {
    const json line = mine.play(each);
    lines.push_back(line);
    if (!first || !s.json.empty()) continue;
    std::printf(
        "%-8s %8zu bytes x %5u, %3u in flight %7.3f GB/s   to libfabric by hand %5.3f   to a notice a page %5.3f\n",
        std::string(fabric::name).c_str(), each.size, each.pages, each.in_flight, line["gb_per_s"].get<double>(),
        line["to_hand"]["median"].get<double>(), line["to_pages"]["median"].get<double>());
    (void)std::fflush(stdout);
  }
  mine.part();
  if (!first) return 0;
  return write_json({{"fabric", fabric::name}, {"turns", s.turns}, {"lists", lines}}, s.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Lists of pages by the transfer engine, beside libfabric by hand and a put_notify for each page");
  app.add_option("--sizes", s.sizes, "Bytes of a page: multiples of 16")
      ->delimiter(',')
      ->check(CLI::Range(16, 1 << 26))
      ->capture_default_str();
  app.add_option("--in-flight", s.in_flight, "Pages in flight")
      ->delimiter(',')
      ->check(CLI::Range(1, 128))
      ->capture_default_str();
  app.add_option("--bytes", s.list_bytes, "Bytes of a list")
      ->check(CLI::Range(std::size_t{16}, std::size_t{1} << 32))
      ->capture_default_str();
  app.add_option("--pages", s.most_pages, "Pages of a list, at most")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--turns", s.turns, "Turns of each contender")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--limit", s.limit, "Seconds after which the run is ended")->capture_default_str();
  app.add_flag("--spin", s.spin, "Keep the processor after empty polls");
  app.add_option("--json", s.json, "Where the result goes: a file, or -");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  for (const std::size_t each : s.sizes)
    if (each % 16 != 0) {
      std::fprintf(stderr, "bench-transfers: --sizes has %zu; a page has a multiple of 16 bytes\n", each);
      return 2;
    }
  return two_processes(
      s.limit, [&](const channel& to) { return run(to, true, s); },
      [&](const channel& to) { return run(to, false, s); });
}
