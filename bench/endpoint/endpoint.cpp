// SPDX-License-Identifier: Apache-2.0
//
// What the settings of a row are worth: one endpoint's resident memory, and the time to connect, with what the row sets in the library's
// environment and with what the library does by itself. A library reads its environment once in a process, so each side has processes of
// its own; a variable that whoever runs the bench has set is the same for both. Where a row has no settings both sides are the same.
// Hot path: no. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"
#include "../command_line.hpp"
#include "../two_processes.hpp"

#include <array>
#include <numeric>
#include <string>

namespace {

using namespace weft;

/// The fabric as it would be if its row set nothing.
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

transport_options options(bool listens) { return {.node = bench::home(), .listens = listens, .peers = 32, .silence_limit = 60s}; }

struct found {
  std::uint64_t resident = 0;  ///< Bytes of the whole process, with one endpoint.
  std::uint64_t connects = 0;  ///< Nanoseconds for all of them; opening and closing not counted.
};

/// Accepts whoever comes until the other process is done.
template <class F>
int listen(const bench::channel& other) {
  auto net = open<F>(options(true));
  if (!net) throw std::runtime_error(net.error().sentence);
  other.tell(net->where());
  const auto on = overloaded{[&](const requested& r) { (void)net->accept(r.peer); }, [](auto&&) {}};
  other.hear([&] { net->progress(on); });
  return 0;
}

/// Each connect is that of a new endpoint: what a library keeps of an old one would make the next cheaper.
template <class F>
found dial(const bench::channel& other, std::size_t times) {
  found all;
  const std::string where = other.hear();
  for (std::size_t i = 0; i < times; ++i) {
    auto net = open<F>(options(false));
    if (!net) throw std::runtime_error(net.error().sentence);
    if (all.resident == 0) all.resident = resident();
    const std::uint64_t before = bench::now_ns();
    auto peer = net->connect(where, 20s);
    if (!peer) throw std::runtime_error("connecting failed: " + peer.error().sentence);
    all.connects += bench::now_ns() - before;
    (void)net->close(*peer, 5s);
  }
  other.tell("done");
  return all;
}

/// One side of the comparison, in a process that has not asked the library for anything yet.
template <class F>
bool in_own_process(std::size_t times, unsigned limit, found& into) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  (void)std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto first = [&](const bench::channel& other) {
      const found all = dial<F>(other, times);
      return ::write(ends[1], &all, sizeof all) == sizeof all ? 0 : 1;
    };
    std::_Exit(bench::two_processes(limit, first, [](const bench::channel& other) { return listen<F>(other); }));
  }
  ::close(ends[1]);
  const bool told = ::read(ends[0], &into, sizeof into) == sizeof into;
  ::close(ends[0]);
  int ended = 0;
  return child > 0 && waitpid(child, &ended, 0) == child && told && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

double ratio(std::uint64_t ours, std::uint64_t theirs) {
  return theirs == 0 ? 0 : std::round(static_cast<double>(ours) / static_cast<double>(theirs) * 1000) / 1000;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app{"Memory of one endpoint and the time to connect: as the row sets its library, and as the library is by itself."};
  std::size_t connects = 100;
  unsigned limit = 120;
  std::string json;
  app.add_option("--connects", connects, "Connects of each side")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--limit", limit, "Seconds after which a side is ended")->capture_default_str();
  app.add_option("--json", json, "Where the result goes: a file; - or nothing for standard output")->expected(0, 1)->default_str("-");
  CLI11_PARSE(app, count, words);
  found row, library;
  if (!in_own_process<selected>(connects, limit, row) || !in_own_process<unset>(connects, limit, library)) return 1;
  const std::string name(selected::name);
  if (app.count("--json") > 0) {
    bench::json settings = bench::json::object();
    for (const environment_setting& each : selected::environment) settings[each.name] = each.value;
    const auto told = [](const found& f) { return bench::json{{"resident_bytes", f.resident}, {"connects_ns", f.connects}}; };
    return bench::write_json({{"bench", "endpoint"},
                              {"fabric", name},
                              {"connects", connects},
                              {"settings", settings},
                              {"row", told(row)},
                              {"library", told(library)},
                              {"resident_ratio", ratio(row.resident, library.resident)},
                              {"connects_ratio", ratio(row.connects, library.connects)}},
                             json.empty() ? "-" : json)
               ? 0
               : 1;
  }
  constexpr double mib = 1024 * 1024, ms = 1e6;
  std::printf("%s: %zu setting(s) in its row\n%-28s %12s %12s %8s\n", name.c_str(), selected::environment.size(), "", "row", "library", "ratio");
  std::printf("%-28s %12.1f %12.1f %8.3f\n", "one endpoint, resident MiB", static_cast<double>(row.resident) / mib,
              static_cast<double>(library.resident) / mib, ratio(row.resident, library.resident));
  std::printf("%3zu connects, ms %11s %12.1f %12.1f %8.3f\n", connects, "", static_cast<double>(row.connects) / ms,
              static_cast<double>(library.connects) / ms, ratio(row.connects, library.connects));
  return 0;
}
