// SPDX-License-Identifier: Apache-2.0
//
// What the settings of a row are worth: one endpoint's resident memory, and the time to connect to a number of peers,
// one after another. One side is weft with the row's settings in the library's environment. The other side is a plain
// libfabric program with the library's defaults; where endpoints are connected it is weft without the settings. A peer
// is an endpoint in another process, opened when needed: all at once would take gigabytes by default. A library reads
// its environment once per process, so each side has its own processes; both inherit the user's variables. Each peer
// has been connected once before. An endpoint's first message makes its library fill a pool of buffers (rxm: 1024
// buffers, 0.8 ms with the row's setting and 2.8 ms by default). The report has these first connections apart. Hot
// path: no. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"
#include "../command_line.hpp"
#include "../two_processes.hpp"
#include "plain_peer.hpp"

#include <array>
#include <numeric>
#include <string>

namespace {

using namespace weft;

/// The fabric as its row would be without settings.
struct unset : selected {
  static constexpr std::array<environment_setting, 0> environment{};
};

std::size_t resident() {
  std::size_t pages = 0, whole = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%zu %zu", &whole, &pages) != 2) pages = 0;
    (void)std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

transport_options options(bool listens) {
  return {.node = bench::home(), .listens = listens, .peers = 32, .silence_limit = 60s};
}

struct found {
  std::uint64_t resident = 0;  ///< Bytes of the whole process, with one endpoint.
  std::uint64_t connects = 0;  ///< Nanoseconds of all connects, without opening and closing.
  std::uint64_t first = 0;     ///< Nanoseconds of the first connects, which send a peer its first message.
};

/// A real caller connects at any moment of the library's polling round (rxm: 10 ms by default). So this part of such a
/// round passes first; the steps cover the round evenly.
template <class Progress>
void pass_some_time(std::size_t i, Progress&& progress) {
  constexpr double round_ns = 10e6, golden = 0.6180339887;
  const double share = static_cast<double>(i) * golden;
  const std::uint64_t until = bench::now_ns() + static_cast<std::uint64_t>(round_ns * (share - std::floor(share)));
  while (bench::now_ns() < until) progress();
}

/// weft.
template <class F>
struct by_weft {
  /// Nanoseconds until the peer is connected.
  static std::uint64_t meet(transport<F>& net, const std::string& where) {
    const std::uint64_t before = bench::now_ns();
    auto peer = net.connect(where, 20s);
    const std::uint64_t taken = bench::now_ns() - before;
    if (!peer) throw std::runtime_error("connecting failed: " + peer.error().sentence);
    (void)net.close(*peer, 5s);
    return taken;
  }
  /// One peer after another; each accepts any caller until the caller confirms the connection.
  static int listen(const bench::channel& other, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      auto net = open<F>(options(true));
      if (!net) throw std::runtime_error(net.error().sentence);
      other.send_text(net->listen_address());
      const auto on = overloaded{[&](const requested& r) { (void)net->accept(r.peer); }, [](auto&&) {}};
      bench::spinner idle({bench::fruitless::yield, 32});
      other.receive_text([&] { idle.polled(net->progress(on) > 0); });
    }
    return 0;
  }
  static found dial(const bench::channel& other, std::size_t times) {
    found all;
    auto net = open<F>(options(false));
    if (!net) throw std::runtime_error(net.error().sentence);
    all.resident = resident();
    auto before_us = open<F>(options(false));
    if (!before_us) throw std::runtime_error(before_us.error().sentence);
    bench::spinner idle({bench::fruitless::yield, 32});
    const auto look = [&] { idle.polled(net->progress([](auto&&) {}) > 0); };
    for (std::size_t i = 0; i < times; ++i) {
      const std::string where = other.receive_text(look);
      all.first += meet(*before_us, where);
      pass_some_time(i, look);
      all.connects += meet(*net, where);
      other.send_text("met");
    }
    return all;
  }
};

/// A program without weft.
template <class F>
struct by_hand {
  static int listen(const bench::channel& other, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      bench::plain_peer<F> here;
      other.send_text(here.name());
      here.answer();
      here.answer();
      other.receive_text([&] { (void)here.poll(); });
    }
    return 0;
  }
  static found dial(const bench::channel& other, std::size_t times) {
    found all;
    bench::plain_peer<F> here;
    all.resident = resident();
    bench::plain_peer<F> before_us;
    const auto look = [&] { (void)here.poll(); };
    for (std::size_t i = 0; i < times; ++i) {
      const std::string there = other.receive_text(look);
      const std::uint64_t first = bench::now_ns();
      before_us.meet(there);
      all.first += bench::now_ns() - first;
      pass_some_time(i, look);
      const std::uint64_t before = bench::now_ns();
      here.meet(there);
      all.connects += bench::now_ns() - before;
      other.send_text("met");
    }
    return all;
  }
};

template <class F>
auto library_of() {
  if constexpr (F::facts.endpoint_type == endpoint_type::connected) return by_weft<unset>();
  else return by_hand<F>();
}

/// One side of the comparison, in a process that has not used the library yet.
template <class Side>
bool in_own_process(std::size_t times, unsigned limit, found& into) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  (void)std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto first = [&](const bench::channel& other) {
      const found all = Side::dial(other, times);
      return ::write(ends[1], &all, sizeof all) == sizeof all ? 0 : 1;
    };
    std::_Exit(
        bench::two_processes(limit, first, [&](const bench::channel& other) { return Side::listen(other, times); }));
  }
  ::close(ends[1]);
  const bool arrived = ::read(ends[0], &into, sizeof into) == sizeof into;
  ::close(ends[0]);
  int ended = 0;
  return child > 0 && waitpid(child, &ended, 0) == child && arrived && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

double ratio(std::uint64_t ours, std::uint64_t theirs) {
  return theirs == 0 ? 0 : std::round(static_cast<double>(ours) / static_cast<double>(theirs) * 1000) / 1000;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app{
      "Memory of one endpoint and the time to connect to peers, one after another: weft as its row sets the library, "
      "and the library by itself."};
  std::size_t connects = 100;
  unsigned limit = 120;
  std::string json;
  app.add_option("--connects", connects, "Peers that each side connects to")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--limit", limit, "Seconds after which a side is ended")->capture_default_str();
  app.add_option("--json", json, "Where the result goes: a file; - or nothing for standard output")
      ->expected(0, 1)
      ->default_str("-");
  CLI11_PARSE(app, count, words);
  found row, library;
  using library_side = decltype(library_of<selected>());
  if (!in_own_process<by_weft<selected>>(connects, limit, row) ||
      !in_own_process<library_side>(connects, limit, library))
    return 1;
  const std::string name(selected::name);
  if (app.count("--json") > 0) {
    bench::json settings = bench::json::object();
    for (const environment_setting& each : selected::environment) settings[each.name] = each.value;
    const auto arrived = [](const found& f) {
      return bench::json{{"resident_bytes", f.resident}, {"connects_ns", f.connects}, {"first_connects_ns", f.first}};
    };
    return bench::write_json({{"bench", "endpoint"},
                              {"fabric", name},
                              {"connects", connects},
                              {"settings", settings},
                              {"row", arrived(row)},
                              {"library", arrived(library)},
                              {"resident_ratio", ratio(row.resident, library.resident)},
                              {"connects_ratio", ratio(row.connects, library.connects)},
                              {"first_connects_ratio", ratio(row.first, library.first)}},
                             json.empty() ? "-" : json)
               ? 0
               : 1;
  }
  constexpr double mib = 1024 * 1024, ms = 1e6;
  std::printf("%s: %zu setting(s) in its row\n%-28s %12s %12s %8s\n", name.c_str(), selected::environment.size(), "",
              "row", "library", "ratio");
  std::printf("%-28s %12.1f %12.1f %8.3f\n", "one endpoint, resident MiB", static_cast<double>(row.resident) / mib,
              static_cast<double>(library.resident) / mib, ratio(row.resident, library.resident));
  std::printf("%3zu connects, ms %11s %12.1f %12.1f %8.3f\n", connects, "", static_cast<double>(row.connects) / ms,
              static_cast<double>(library.connects) / ms, ratio(row.connects, library.connects));
  std::printf("%3zu first connects, ms %5s %12.1f %12.1f %8.3f\n", connects, "", static_cast<double>(row.first) / ms,
              static_cast<double>(library.first) / ms, ratio(row.first, library.first));
  return 0;
}
