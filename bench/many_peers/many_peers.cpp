// SPDX-License-Identifier: Apache-2.0
//
// How one thread serves many peers: the time until all have met, messages a second that go round all of them, and the
// cost of a poll while all are idle. Each number of peers runs in two processes of its own. The ratios compare it with
// one peer of the same run. One pool of receives serves all peers where the fabric can. Hot path: the loops. Threads:
// one per process.
#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"
#include "../../compose/with.hpp"
#include "../../core/describe.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"
#include "../two_processes.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <exception>

namespace {
using namespace weft;
using namespace weft::bench;

/// One pool of receives for all peers: receives of each link would need memory for each.
template <class F>
constexpr auto pooled() {
  if constexpr (can_answer<F, answers::receive_pool::shared>) return with<F, answers::receive_pool::shared>{};
  else return F{};
}
using fabric = decltype(pooled<weft::selected>());

struct settings {
  std::vector<std::uint32_t> peers{1, 16, 256, 4096};
  std::uint64_t messages = 200'000;
  std::uint64_t polls = 200'000;
  std::size_t turns = 5;
  std::uint32_t at_once = 64;
  unsigned limit = 120;
  std::string json;
};

struct figures {
  std::uint32_t peers = 0;
  double meeting_ms = 0;
  std::uint64_t message_ns = 0;
  std::uint64_t idle_poll_ns = 0;
};

transport_options options(std::uint32_t peers, bool listens) {
  return {.node = home(),
          .listens = listens,
          .max_message_bytes = wire::largest_handshake,
          .receives = 512,
          .peers = peers,
          .pending = peers,
          .handshake_limit = 60s,
          .silence_limit = 60s};
}

/// The side that connects and sends. Its peers are all links to one listener.
class caller {
 public:
  caller(const channel& to, const settings& s, std::uint32_t peers)
      : to_(to), s_(s), net_(sure(open<fabric>(options(peers, false)))), text_(sure(net_.allocate(64, rights::none))) {
    where_ = to_.receive_text();
    all_.reserve(peers);
  }

  double meet(std::uint32_t peers) {
    const std::uint64_t began = now_ns();
    std::uint32_t started = 0;
    while (all_.size() < peers) {
      while (started < peers && started - all_.size() < s_.at_once) {
        if (const auto made = net_.start_connect(where_); !made) break;
        ++started;
      }
      turn();
    }
    return static_cast<double>(now_ns() - began) / 1e6;
  }
  /// Nanoseconds of a message. The clock stops when the listener has all of them.
  std::uint64_t send_round() {
    const std::uint64_t began = now_ns();
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < s_.messages; ++i) {
      for (;;) {
        const status s = net_.send(all_[next], text_.first(8));
        if (s) break;
        if (!s.is_again()) throw std::runtime_error("a send was refused: " + describe(s));
        turn();
      }
      if (i % 16 == 15) turn();
      next = next + 1 == all_.size() ? 0 : next + 1;
    }
    to_.receive_text([this] { turn(); });
    return (now_ns() - began) / s_.messages;
  }
  std::uint64_t poll_idle() {
    const std::uint64_t began = now_ns();
    for (std::uint64_t i = 0; i < s_.polls; ++i) turn();
    return (now_ns() - began) / s_.polls;
  }
  void turn() {
    (void)net_.progress(overloaded{
        [this](const connected& c) { all_.push_back(c.peer); },
        [](const failed& f) { throw std::runtime_error(std::string(name_of(f.what)) + ": " + describe(f.why)); },
        [](const lost& l) { throw std::runtime_error("a peer was lost: " + describe(l.why)); }, [](auto&&) {}});
  }

 private:
  const channel& to_;
  const settings& s_;
  transport<fabric> net_;
  owned_region text_;
  std::string where_;
  std::vector<peer> all_;
};

/// The side that all callers' links lead to.
class listener {
 public:
  listener(const channel& to, std::uint32_t peers) : to_(to), net_(sure(open<fabric>(options(peers, true)))) {
    to_.send_text(net_.listen_address());
  }
  void serve(const settings& s) {
    for (std::size_t i = 0; i <= s.turns; ++i) {
      while (came_ < (i + 1) * s.messages) turn();
      to_.send_text("all came");
      to_.receive_text([this] { turn(); });  // the caller polls alone; this side sleeps between its polls
    }
  }

 private:
  void turn() {
    const int found =
        net_.progress(overloaded{[this](const requested& r) {
                                   if (!net_.accept(r.peer)) throw std::runtime_error("a caller was refused");
                                 },
                                 [this](const received&) { ++came_; },
                                 [](const lost& l) {  // the caller closes in order when it has all figures
                                   if (l.why.code != errc::closed)
                                     throw std::runtime_error("a peer was lost: " + describe(l.why));
                                 },
                                 [](auto&&) {}});
    spin_.polled(found > 0);
  }

  const channel& to_;
  transport<fabric> net_;
  std::uint64_t came_ = 0;
  spinner spin_{{fabric::facts.data_progress == data_progress::thread ? fruitless::nap : fruitless::yield, 16}};
};

std::uint64_t median(std::vector<std::uint64_t> of) {
  std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
  return of[of.size() / 2];
}

/// The figures come back over a pipe: each number of peers has processes of its own, and so no memory of another one.
figures measure(const settings& s, std::uint32_t peers) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const int code = two_processes(
      s.limit,
      [&](const channel& to) {
        if (fabric::facts.data_progress != data_progress::thread) pin_to(1);
        caller mine(to, s, peers);
        figures f{.peers = peers, .meeting_ms = mine.meet(peers)};
        std::vector<std::uint64_t> messages, polls;
        for (std::size_t turn = 0; turn <= s.turns; ++turn) {
          const std::uint64_t message = mine.send_round(), poll = mine.poll_idle();
          to.send_text("next");
          if (turn == 0) continue;  // warms up
          messages.push_back(message);
          polls.push_back(poll);
        }
        f.message_ns = median(messages);
        f.idle_poll_ns = median(polls);
        return ::write(ends[1], &f, sizeof f) == static_cast<ssize_t>(sizeof f) ? 0 : 1;
      },
      [&](const channel& to) {
        if (fabric::facts.data_progress != data_progress::thread) pin_to(0);
        listener(to, peers).serve(s);
        return 0;
      });
  figures f;
  const bool got = code == 0 && ::read(ends[0], &f, sizeof f) == static_cast<ssize_t>(sizeof f);
  ::close(ends[0]);
  ::close(ends[1]);
  if (!got)
    throw std::runtime_error("no figures of " + std::to_string(peers) + " peers (exit code " + std::to_string(code) +
                             ")");
  return f;
}

/// Each link may have a descriptor.
void allow_files(std::uint32_t peers) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < peers + 64U)
    throw std::runtime_error(std::to_string(peers) + " peers need " + std::to_string(peers + 64U) +
                             " files; this process may open " + std::to_string(files.rlim_cur) + " (ulimit -n)");
}

void print(const figures& f, const figures& first) {
  const auto of_first = [](std::uint64_t one, std::uint64_t other) {
    return static_cast<double>(one) / static_cast<double>(std::max<std::uint64_t>(other, 1));
  };
  std::printf("%8u %12.1f %14.0f %10.2f %13llu %10.2f\n", f.peers, f.meeting_ms,
              1e9 / static_cast<double>(std::max<std::uint64_t>(f.message_ns, 1)),
              of_first(first.message_ns, f.message_ns), static_cast<unsigned long long>(f.idle_poll_ns),
              of_first(f.idle_poll_ns, first.idle_poll_ns));
  (void)std::fflush(stdout);
}
}  // namespace

int main(int argc, char** argv) try {
  settings s;
  CLI::App app{
      "How one thread serves many peers: meeting, messages a second round all of them, polls while all are idle."};
  app.add_option("--peers", s.peers, "Numbers of peers; ratios are of the first")
      ->check(CLI::Range(1U, 60000U))
      ->capture_default_str();
  app.add_option("--messages", s.messages, "Messages of a turn")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--polls", s.polls, "Polls of a turn")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--turns", s.turns, "Turns; the median counts")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--at-once", s.at_once, "Connects under way")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--limit", s.limit, "Seconds after which a number of peers is ended")->capture_default_str();
  app.add_option("--json", s.json, "Where the result goes as JSON: a file; - is standard output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  allow_files(*std::max_element(s.peers.begin(), s.peers.end()));
  std::vector<figures> all;
  if (s.json.empty())
    std::printf("fabric %s\n%8s %12s %14s %10s %13s %10s\n", std::string(fabric::name).c_str(), "peers", "all met, ms",
                "messages/s", "of first", "idle poll, ns", "of first");
  for (const std::uint32_t peers : s.peers) {
    all.push_back(measure(s, peers));
    if (s.json.empty()) print(all.back(), all.front());
  }
  if (s.json.empty()) return 0;
  json rows = json::array();
  for (const figures& f : all)
    rows.push_back({{"peers", f.peers},
                    {"meeting_ms", f.meeting_ms},
                    {"message_ns", f.message_ns},
                    {"idle_poll_ns", f.idle_poll_ns}});
  return write_json({{"bench", "many_peers"}, {"fabric", fabric::name}, {"rows", rows}}, s.json) ? 0 : 1;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "bench-many-peers: %s\n", e.what()), 1;
}
