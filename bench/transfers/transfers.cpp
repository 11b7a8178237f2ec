// SPDX-License-Identifier: Apache-2.0
//
// Lists of pages, in the sizes that NIXL's own bench takes: 4 KiB to 4 MiB, 1 to 64 in flight. The transfer engine
// takes turns with a put_notify for each page (examples/paged_writer), with the library by hand, with UCX, and with
// itself. A turn's time goes from the first post until the target has answered that the whole list is there. Each
// turn's bytes are compared, outside of the measured time. Hot path: the ends' loops. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../compose/with.hpp"
#include "../command_line.hpp"
#include "ends.hpp"
#ifdef WEFT_BENCH_MAPPED
#include "copy_end.hpp"
#else
#include "hand_end.hpp"
#endif
#ifdef WEFT_BENCH_UCX
#include "ucx_end.hpp"
#endif

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;

#ifdef WEFT_BENCH_MAPPED
using hand = copy_end;
constexpr bool confirms = false;
#else
using hand = hand_end<fabric>;
/// Whether weft's puts ask for more than the floor's do.
constexpr bool confirms = answer<fabric, write_fault_family>::signalled_write == post_mode::delivered;
#endif

struct settings {
  std::vector<std::size_t> sizes{4096, 65536, 1 << 20, 4 << 20};
  std::vector<std::uint32_t> in_flight{1, 4, 16, 64};
  std::size_t list_bytes = std::size_t{1} << 26;
  std::uint32_t most_pages = 4096;
  std::size_t turns = 5;
  unsigned limit = 600;
  bool spin = false;
  std::vector<std::string> ucx;  ///< Its settings that are tried: UCX's own defaults suit some machines only.
  std::string json;
};

struct contender {
  std::string name;
  std::function<void()> write, await, look;
  bytes source;
  const_bytes landing;
};
template <class End>
contender contender_of(std::string name, End& end, std::function<void()> write) {
  return {std::move(name),        std::move(write), [&end] { end.await(); },
          [&end] { end.look(); }, end.source(),     end.landing()};
}
template <class End>
contender contender_of(std::string name, End& end) {
  return contender_of(std::move(name), end, [&end] { end.write(); });
}

class side {
 public:
  side(const channel& to, bool first, const settings& s, std::size_t largest)
      : to_(to),
        first_(first),
        waiting_{s.spin                                                 ? fruitless::never
                 : fabric::facts.data_progress == data_progress::thread ? fruitless::nap
                                                                        : fruitless::yield,
                 16},
        pair_(to, first, largest, false, 4096, 300s),  // other contenders run meanwhile
        hand_(to, first, largest),
        settings_(s) {}

  json play(const list_plan& p) {
    engine_end<fabric> engine(pair_, p, waiting_), again(pair_, p, waiting_);
    page_end<fabric> page(pair_, p, waiting_);
    hand_.plan(p, waiting_);
    std::vector<contender> all{contender_of("engine", engine), contender_of("notice_a_page", page)};
#ifdef WEFT_BENCH_MAPPED
    all.push_back(contender_of("hand", hand_));
#else
    all.push_back(contender_of("hand", hand_, [this] { hand_.write(confirmed::last); }));
    if (confirms) all.push_back(contender_of("hand_confirmed", hand_, [this] { hand_.write(confirmed::each); }));
#endif
    json line{{"page", p.size}, {"pages", p.pages}, {"in_flight", p.in_flight}};
#ifdef WEFT_BENCH_UCX
    std::unique_ptr<ucx_end> ucx;
    if (!settings_.ucx.empty()) {
      line["ucx_setting"] = best_of_ucx(p);
      ucx = ucx_of(p, line["ucx_setting"]);
      all.push_back(contender_of("ucx", *ucx));
    }
#endif
    all.push_back(contender_of("engine_again", again));
    compare(all, p, line);
#ifdef WEFT_BENCH_UCX
    if (ucx) ucx->part(to_);
#endif
    return line;
  }
  void part() {
    to_.part(first_, [this] { look(); });
  }

 private:
  void look() {
    hand_.look();
    pair_.net.progress([](auto&&) {});
  }
  void compare(const std::vector<contender>& all, const list_plan& p, json& line) {
    std::vector<std::vector<double>> rates(all.size());
    std::vector<comparison> ratios(all.size());  // of the engine to each
    for (std::size_t turn = 0; turn <= settings_.turns; ++turn) {
      std::vector<double> now(all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {  // who begins alternates
        const std::size_t who = (turn + i) % all.size();
        now[who] = once(all[who], p);
      }
      if (turn == 0) continue;  // warms up
      for (std::size_t i = 0; i < all.size(); ++i) rates[i].push_back(now[i]), ratios[i].add(now[0] / now[i]);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      line["gb_per_s"][all[i].name] = median(rates[i]);
      if (i > 0) line["engine_to"][all[i].name] = ratios[i].report();
    }
  }
  static double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  /// One list, in bytes per nanosecond (GB/s).
  double once(const contender& end, const list_plan& p) {
    const std::size_t all = p.size * p.pages;
    ++lists_;
    const auto sample = [&](std::uint32_t page, std::size_t i) {
      return static_cast<std::byte>((i >> 4) * 7 + page * 31 + lists_ * 13 + p.in_flight);
    };
    if (first_)
      for (std::uint32_t page = 0; page < p.pages; ++page)
        for (std::size_t i = 0; i < p.size; i += 16)
          std::memset(end.source.data() + page * p.size + i, static_cast<int>(sample(page, i)), 16);
    to_.swap(first_, "ready", end.look);
    const std::uint64_t begin = now_ns();
    if (first_) {
      end.write();
      (void)to_.receive_text(end.look);
    } else {
      end.await();
      to_.send_text("whole");
    }
    const double rate = static_cast<double>(all) / static_cast<double>(now_ns() - begin);
    to_.part(first_, end.look);  // the writer's ends come with the polls of both
    if (!first_)
      for (std::uint32_t page = 0; page < p.pages; ++page)
        for (std::size_t i = 0; i < p.size; i += 16)
          if (end.landing[place_of(p, page) * p.size + i] != sample(page, i))
            throw std::runtime_error(end.name + ": page " + std::to_string(page) +
                                     " has other bytes than were written");
    to_.part(first_, end.look);
    return rate;
  }

#ifdef WEFT_BENCH_UCX
  std::unique_ptr<ucx_end> ucx_of(const list_plan& p, const std::string& setting) {
    auto made = std::make_unique<ucx_end>(to_, first_, p.size * p.pages, setting);
    made->plan(p, waiting_);
    return made;
  }
  /// The setting with the highest rate of three lists, after one that warms up. The first side decides.
  std::string best_of_ucx(const list_plan& p) {
    std::string best;
    double highest = 0;
    for (const std::string& each : settings_.ucx) {
      const auto end = ucx_of(p, each);
      const contender one = contender_of("ucx, " + each, *end);
      std::vector<double> rates;
      for (int turn = 0; turn < 4; ++turn) rates.push_back(once(one, p));
      rates.erase(rates.begin());
      if (median(rates) > highest) highest = median(rates), best = each;
      end->part(to_);
    }
    const std::string theirs = to_.swap(first_, best, [this] { look(); });
    return first_ ? best : theirs;
  }
#endif

  const channel& to_;
  bool first_;
  patience waiting_;
  weft_pair<fabric> pair_;
  hand hand_;
  const settings& settings_;
  std::uint64_t lists_ = 0;
};

/// How the run had UCX, or why it had none.
std::string about_ucx(const settings& s) {
#ifdef WEFT_BENCH_UCX
  return s.ucx.empty() ? "none: --ucx names no setting" : ucx_end::version();
#else
  (void)s;
  return "none: UCX was not found when this program was configured (Debian: libucx-dev)";
#endif
}

int run(const channel& to, bool first, const settings& s) {
  std::vector<list_plan> plans;
  for (const std::size_t size : s.sizes)
    for (const std::uint32_t window : s.in_flight)
      plans.push_back(
          {size, static_cast<std::uint32_t>(std::clamp<std::size_t>(s.list_bytes / size, 1, s.most_pages)), window});
  std::size_t largest = 0;
  for (const list_plan& each : plans) largest = std::max(largest, each.size * each.pages);
  side mine(to, first, s, largest);
  const bool prints = first && s.json != "-";
  if (prints) std::printf("UCX: %s\n", about_ucx(s).c_str());
  json lines = json::array();
  for (const list_plan& each : plans) {
    const json line = mine.play(each);
    lines.push_back(line);
    if (!prints) continue;
    std::printf("%s %zu bytes x %u, %u in flight: %.3f GB/s; the engine to", std::string(fabric::name).c_str(),
                each.size, each.pages, each.in_flight, line["gb_per_s"]["engine"].get<double>());
    for (const auto& [name, ratio] : line["engine_to"].items())
      std::printf(" %s %.3f (%.3f to %.3f)", name.c_str(), ratio["median"].get<double>(), ratio["low"].get<double>(),
                  ratio["high"].get<double>());
    std::printf("\n");
    (void)std::fflush(stdout);
  }
  mine.part();
  if (!first) return 0;
  return write_json({{"fabric", fabric::name}, {"turns", s.turns}, {"ucx", about_ucx(s)}, {"lists", lines}}, s.json)
             ? 0
             : 1;
}
}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app(
      "Lists of pages by the transfer engine, beside a notice a page, the library by hand, UCX, and the engine again");
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
  app.add_option("--ucx", s.ucx,
                 "A setting of UCX, as \"UCX_TLS=tcp UCX_TCP_TX_SEG_SIZE=64k\"; with several, each list has its best")
      ->check([](const std::string& text) {
        return text.starts_with("UCX_") && text.find('=') != std::string::npos ? "" : "a setting is UCX_NAME=VALUE";
      });
  app.add_option("--limit", s.limit, "Seconds after which the run is ended")->capture_default_str();
  app.add_flag("--spin", s.spin, "Keep the processor after empty polls");
  app.add_option("--json", s.json, "Where the result goes: a file, or -");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
#ifndef WEFT_BENCH_UCX
  if (!s.ucx.empty()) return std::fprintf(stderr, "bench-transfers: --ucx: %s\n", about_ucx(s).c_str()), 2;
#endif
  for (const std::size_t each : s.sizes)
    if (each % 16 != 0) {
      std::fprintf(stderr, "bench-transfers: --sizes has %zu; a page has a multiple of 16 bytes\n", each);
      return 2;
    }
  return two_processes(
      s.limit, [&](const channel& to) { return run(to, true, s); },
      [&](const channel& to) { return run(to, false, s); });
}
