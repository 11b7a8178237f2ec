// SPDX-License-Identifier: Apache-2.0
//
// What threads bring, and what they cost: puts of 64 bytes a second of one thread with a transport, of two threads with
// a transport each, and of two threads that use one transport: by a submission_queue, and by a mutex around it. A put
// counts when it has ended. The ways take turns in one run. Hot path: the loops. Threads: as each way says.
#include "../../compose/selected.hpp"
#include "../../threads/submission_queue.hpp"
#include "../command_line.hpp"
#include "pair.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace {
using namespace weft;
using namespace weft::bench;
using pair_of = connected_pair<weft::selected>;

struct settings {
  std::uint64_t ms = 100;        ///< of each way in a turn
  std::uint64_t in_flight = 32;  ///< of each thread
  std::size_t turns = 7;
  std::string json;
};

enum class way : std::uint8_t { alone, two_transports, queue, mutex };
constexpr std::array<const char*, 4> names{"one thread, one transport", "two threads, a transport each",
                                           "two threads, one transport by a queue",
                                           "two threads, one transport by a mutex"};

/// Counts of one thread's operations; its own cache line.
struct alignas(64) counts {
  std::atomic<std::uint64_t> ended{0};
};
struct ends_into {
  void operator()(const completed& c) const {
    auto& ended = static_cast<counts*>(c.context)->ended;  // one writer: the thread that polls
    ended.store(ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void operator()(const failed& f) const { throw std::runtime_error("a put failed: " + describe(f.why)); }
  void operator()(const lost&) const { throw std::runtime_error("a peer was lost"); }
  void operator()(auto&&) const {}
};

/// Puts of one thread by `post(counts&)`, which returns false for "later", until the end of the turn. `poll()` passes
/// the time, and brings ends of operations. Then waits for what is in flight. Returns the puts that ended in time.
template <class Post, class Poll>
std::uint64_t put_until(std::uint64_t end, const settings& s, counts& mine, Post&& post, Poll&& poll) {
  const auto ended = [&mine] { return mine.ended.load(std::memory_order_acquire); };
  std::uint64_t posted = 0;
  while (now_ns() < end) {
    for (int i = 0; i < 16; ++i) {
      while (posted - ended() < s.in_flight && post(mine)) ++posted;
      poll();
    }
  }
  const std::uint64_t in_time = ended();
  while (ended() < posted) poll();
  return in_time;
}

bool taken(const status& how) {
  if (!how && !how.is_again()) throw std::runtime_error(describe(how));
  return static_cast<bool>(how);
}

std::uint64_t alone(pair_of& on, std::uint64_t end, const settings& s) {
  counts mine;
  ends_into handler;
  return put_until(
      end, s, mine, [&](counts& m) { return taken(on.near().put(on.to_far(), on.source(), on.place(), &m)); },
      [&] { on.poll(handler); });
}

std::uint64_t by_two_transports(std::array<pair_of, 2>& on, std::uint64_t end, const settings& s) {
  std::uint64_t others = 0;
  std::jthread other([&] { others = alone(on[1], end, s); });
  const std::uint64_t mine = alone(on[0], end, s);
  other.join();
  return mine + others;
}

/// The first thread owns the transport, and posts its own puts directly.
std::uint64_t by_queue(pair_of& on, std::uint64_t end, const settings& s) {
  submission_queue queue(1024);
  std::array<counts, 2> all;
  std::atomic<bool> over = false;
  std::uint64_t others = 0;
  std::jthread other([&] {
    others = put_until(
        end, s, all[1], [&](counts& m) { return queue.put(on.to_far(), on.source(), on.place(), &m); }, [] {});
    over = true;
  });
  ends_into handler;
  const auto step = [&] {
    (void)queue.progress(on.near(), handler);
    on.poll_far();
  };
  const std::uint64_t mine = put_until(
      end, s, all[0], [&](counts& m) { return taken(on.near().put(on.to_far(), on.source(), on.place(), &m)); }, step);
  while (!over) step();
  other.join();
  return mine + others;
}

std::uint64_t by_mutex(pair_of& on, std::uint64_t end, const settings& s) {
  std::mutex one_at_a_time;
  std::array<counts, 2> all;
  const auto work = [&](counts& mine) {
    ends_into handler;
    return put_until(
        end, s, mine,
        [&](counts& m) {
          const std::scoped_lock held(one_at_a_time);
          return taken(on.near().put(on.to_far(), on.source(), on.place(), &m));
        },
        [&] {
          const std::scoped_lock held(one_at_a_time);
          on.poll(handler);
        });
  };
  std::uint64_t others = 0;
  std::jthread other([&] { others = work(all[1]); });
  const std::uint64_t mine = work(all[0]);
  other.join();
  return mine + others;
}

/// Puts a second.
double measure(way how, std::array<pair_of, 2>& on, const settings& s) {
  const std::uint64_t began = now_ns(), end = began + s.ms * 1'000'000U;
  const auto puts = [&]() -> std::uint64_t {
    switch (how) {
      case way::alone:
        return alone(on[0], end, s);
      case way::two_transports:
        return by_two_transports(on, end, s);
      case way::queue:
        return by_queue(on[0], end, s);
      case way::mutex:
        return by_mutex(on[0], end, s);
    }
    return 0;
  }();
  return static_cast<double>(puts) * 1e3 / static_cast<double>(s.ms);
}

double median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
  return of[of.size() / 2];
}
}  // namespace

int main(int argc, char** argv) try {
  settings s;
  CLI::App app{
      "Puts of 64 bytes a second: of one thread, of two with a transport each, and of two with one transport."};
  app.add_option("--ms", s.ms, "Time of each way in a turn")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--in-flight", s.in_flight, "Puts of a thread at one time")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--turns", s.turns, "Turns of each way; the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", s.json, "Where the result goes as JSON: a file; - is standard output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  std::array<pair_of, 2> pairs;
  std::array<std::vector<double>, names.size()> rates, of_alone;
  for (std::size_t turn = 0; turn <= s.turns; ++turn) {
    std::array<double, names.size()> now{};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t w = (i + turn) % names.size();
      now[w] = measure(static_cast<way>(w), pairs, s);
    }
    if (turn == 0) continue;  // warms up
    for (std::size_t w = 0; w < names.size(); ++w) {
      rates[w].push_back(now[w]);
      of_alone[w].push_back(now[w] / now[0]);
    }
  }
  json ways = json::array();
  for (std::size_t w = 0; w < names.size(); ++w) {
    if (s.json.empty())
      std::printf("%-8s %-40s %12.0f puts/s, %.2f of one thread\n", std::string(weft::selected::name).c_str(), names[w],
                  median(rates[w]), median(of_alone[w]));
    ways.push_back({{"way", names[w]}, {"puts_per_second", median(rates[w])}, {"of_one_thread", median(of_alone[w])}});
  }
  if (s.json.empty()) return 0;
  return write_json({{"bench", "threads"}, {"fabric", weft::selected::name}, {"ways", ways}}, s.json) ? 0 : 1;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "bench-threads: %s\n", e.what()), 1;
}
