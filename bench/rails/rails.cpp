// SPDX-License-Identifier: Apache-2.0
//
// What more endpoints bring: pages written over 1 to N rails, driven by a thread for each, by one thread for all, or as
// rails<F>. Each rate is compared with that of one rail with one thread in the same turn. Each turn checks the number
// of notices and the bytes. Hot path: the loops. Threads: as the way says.
#include "../../compose/rails/rails.hpp"
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"

#include <algorithm>
#include <future>
#include <map>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;

enum class way : std::uint8_t { threads, one_thread, striped };
constexpr const char* name_of(way w) noexcept {
  return w == way::threads ? "a thread for each" : w == way::one_thread ? "one thread" : "rails, one thread";
}

struct settings {
  std::size_t size = 65536;
  std::uint32_t count = 1000;  ///< Pages of each rail in a turn.
  std::uint32_t window = 32;
  std::uint32_t rails = 4;
  std::size_t turns = 5;
  unsigned limit = 300;
  std::string json;
};

std::byte sample(std::size_t i, std::size_t turn) noexcept {
  return static_cast<std::byte>((i * 7 + turn * 13) ^ i >> 8);
}
void paint(bytes into, std::size_t turn) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = sample(i, turn);
}
void compare(const_bytes seen, std::size_t turn) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != sample(i, turn)) throw std::runtime_error("other bytes than were written");
}

/// Counts the events of a side with one or more rails.
struct tally {
  std::uint64_t ended = 0, notices = 0;
  void operator()(const completed&) { ++ended; }
  void operator()(const failed& e) { throw std::runtime_error("a put failed: " + std::to_string(int(e.why.code))); }
  void operator()(const notified&) { ++notices; }
  void operator()(const lost&) { throw std::runtime_error("the other process is gone"); }
  void operator()(auto&&) {}
};

/// Keeps `window` of `count` posts under way. `post` returns a status, `progress` a number.
template <class Post, class Progress>
struct pump {
  std::uint32_t count, window;
  Post post;
  Progress progress;
  tally seen{};
  std::uint64_t sent = 0;

  bool over() const { return seen.ended == count; }
  bool step() {
    while (sent < count && sent - seen.ended < window) {
      const status s = post(this);
      if (s.is_again()) break;
      if (!s) throw std::runtime_error("a put was refused");
      ++sent;
    }
    return progress(seen) > 0;
  }
};
template <class Post, class Progress>
pump(std::uint32_t, std::uint32_t, Post, Progress) -> pump<Post, Progress>;

/// The target of one rail: polls until all notices have arrived.
template <class Progress>
struct sink {
  std::uint64_t count;
  Progress progress;
  tally seen{};
  bool over() const { return seen.notices == count; }
  bool step() { return progress(seen) > 0; }
};
template <class Progress>
sink(std::uint64_t, Progress) -> sink<Progress>;

template <class Worker>
void drive(std::vector<Worker*> all) {
  spinner spin({fabric::facts.data_progress == data_progress::thread ? fruitless::nap : fruitless::yield, 16});
  for (bool over = false; !over;) {
    bool found = false;
    over = true;
    for (Worker* each : all) {
      if (each->over()) continue;
      found = each->step() || found;
      over = over && each->over();
    }
    spin.polled(found);
  }
}
template <class Worker>
void drive(std::vector<Worker>& all, way how) {
  std::vector<Worker*> everyone;
  for (Worker& each : all) everyone.push_back(&each);
  if (how != way::threads) return drive(everyone);
  std::vector<std::future<void>> threads;
  for (Worker* each : everyone) threads.push_back(std::async(std::launch::async, [each] { drive<Worker>({each}); }));
  for (auto& each : threads) each.get();
}

class side {
 public:
  side(const channel& to, bool first, const settings& s) : to_(to), first_(first), s_(s) {}

  /// Pages of all rails, over the seconds from the first post until the target has counted the last notice.
  double play(way how, std::uint32_t count, std::size_t turn) {
    return how == way::striped ? play_striped(count, turn) : play_apart(how, count, turn);
  }

 private:
  double play_apart(way how, std::uint32_t count, std::size_t turn) {
    std::vector<std::unique_ptr<weft_pair<fabric>>> pairs;
    for (std::uint32_t i = 0; i < count; ++i)
      pairs.push_back(std::make_unique<weft_pair<fabric>>(to_, first_, s_.size));
    const auto look = [&] {
      for (auto& each : pairs) each->net.progress([](auto&&) {});
    };
    const std::uint64_t begin = now_ns();
    if (first_) {
      for (auto& each : pairs) paint(each->source.memory().first(s_.size), turn);
      const auto make = [this](weft_pair<fabric>& p) {
        return pump{s_.count, s_.window,
                    [this, &p](void* context) {
                      return p.net.put_notify(p.other, p.source.first(s_.size), p.there.at(0), 1, context);
                    },
                    [&p](tally& seen) { return p.net.progress(seen); }};
      };
      std::vector<decltype(make(*pairs.front()))> all;
      for (auto& each : pairs) all.push_back(make(*each));
      drive(all, how);
    } else {
      const auto make = [this](weft_pair<fabric>& p) {
        return sink{std::uint64_t{s_.count}, [&p](tally& seen) { return p.net.progress(seen); }};
      };
      std::vector<decltype(make(*pairs.front()))> all;
      for (auto& each : pairs) all.push_back(make(*each));
      drive(all, how);
      for (auto& each : pairs) compare(each->landing.memory().first(s_.size), turn);
    }
    return finish(begin, count, look);
  }

  double play_striped(std::uint32_t count, std::size_t turn) {
    rails_options o{.nodes = std::vector<std::string>(count, home()), .page_bytes = s_.size, .transfers = s_.window};
    o.each.listens = !first_;
    auto net = sure(rails<fabric>::open(o));
    auto memory = sure(net.allocate(count * s_.size, rights::all));
    if (!first_) to_.send_text(net.listen_address());
    const striped_peer other = first_ ? sure(net.connect(to_.receive_text(), 10s)) : sure(net.accept_one(10s));
    const auto mine = net.export_region(memory, owner_polls);
    const auto look = [&] { net.progress([](auto&&) {}); };
    const std::string theirs = to_.swap(first_, {reinterpret_cast<const char*>(mine.data()), mine.size()}, look);
    const auto there = sure(net.parse_region({reinterpret_cast<const std::byte*>(theirs.data()), theirs.size()}));
    const std::uint64_t begin = now_ns();
    const auto progress = [&net](tally& seen) { return net.progress(seen); };
    if (first_) {
      paint(memory.memory(), turn);
      std::vector all{pump{
          s_.count, s_.window,
          [&](void* context) { return net.put_notify(other, memory.first(memory.size()), there.at(0), 1, context); },
          progress}};
      drive(all, way::striped);
    } else {
      std::vector all{sink{s_.count * net.notices(0, memory.size()), progress}};
      drive(all, way::striped);
      compare(memory.memory(), turn);
    }
    return finish(begin, count, look);
  }

  template <class Look>
  double finish(std::uint64_t begin, std::uint32_t count, Look&& look) {
    to_.part(first_, look);
    return static_cast<double>(s_.size) * s_.count * count /
           static_cast<double>(now_ns() - begin);  // bytes per ns: GB/s
  }

  const channel& to_;
  bool first_;
  const settings& s_;
};

double middle(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all.empty() ? 0 : all[all.size() / 2];
}

int run(const channel& to, bool first, const settings& s) {
  struct found {
    std::vector<double> rates, ratios;
  };
  std::map<std::pair<way, std::uint32_t>, found> all;
  side mine(to, first, s);
  for (std::size_t turn = 0; turn <= s.turns; ++turn) {
    double base = 0;
    for (const way how : {way::one_thread, way::threads, way::striped})
      for (std::uint32_t count = how == way::threads ? 2 : 1; count <= s.rails; count *= 2) {
        const double rate = mine.play(how, count, turn);
        if (how == way::one_thread && count == 1) base = rate;
        if (turn == 0) continue;  // warms up
        all[{how, count}].rates.push_back(rate);
        all[{how, count}].ratios.push_back(rate / base);
      }
  }
  if (!first) return 0;
  json lines = json::array();
  for (const auto& [key, each] : all) {
    lines.push_back({{"way", name_of(key.first)},
                     {"rails", key.second},
                     {"gb_per_s", middle(each.rates)},
                     {"ratio", middle(each.ratios)}});
    if (s.json.empty())
      std::printf("%-9s %u rails, %-18s %7.3f GB/s   ratio to one rail %.2f\n", std::string(fabric::name).c_str(),
                  key.second, name_of(key.first), middle(each.rates), middle(each.ratios));
  }
  return write_json({{"fabric", fabric::name}, {"size", s.size}, {"count", s.count}, {"ways", lines}}, s.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Pages over 1 to N rails, compared with one rail in the same turn");
  app.add_option("--size", s.size, "Bytes of a page")->check(CLI::Range(1, 1 << 22))->capture_default_str();
  app.add_option("--count", s.count, "Pages of each rail in a turn")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--window", s.window, "Pages of a rail in flight")->check(CLI::Range(1, 128))->capture_default_str();
  app.add_option("--rails", s.rails, "Rails, at most")->check(CLI::Range(1, 32))->capture_default_str();
  app.add_option("--turns", s.turns, "Turns of each way")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--limit", s.limit, "Seconds after which the run is ended")->capture_default_str();
  app.add_option("--json", s.json, "Where the result goes: a file, or -");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return two_processes(
      s.limit, [&](const channel& to) { return run(to, true, s); },
      [&](const channel& to) { return run(to, false, s); });
}
