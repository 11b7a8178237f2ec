// SPDX-License-Identifier: Apache-2.0
//
// How late an operation without an end fails: weft promises its operation_timeout, and at most 10 % and 50 ms more on
// an idle machine. The target stops polling, so additions that the target executes get no answer. The owner polls, or
// sleeps between polls. A late end is reported, and the exit code stays 0: a busy machine makes ends late. Exit 1: an
// operation ended in another way, or never. Hot path: no. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"
#include "../../core/describe.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;
using net_type = transport<fabric>;

struct settings {
  std::vector<unsigned> timeouts{100, 1000, 4000};  ///< Milliseconds.
  std::size_t count = 16;                           ///< Operations of each case.
  unsigned limit = 120;
};
/// One line of the result.
struct one_case {
  bool sleeps;
  std::chrono::milliseconds timeout;
};
std::vector<one_case> cases_of(const settings& o) {
  std::vector<one_case> all;
  for (const bool sleeps : {false, true})
    for (const unsigned each : o.timeouts) all.push_back({sleeps, std::chrono::milliseconds(each)});
  return all;
}

constexpr auto ignore = [](auto&&) {};

int target(const channel& to, const settings& o) {
  for (std::size_t left = cases_of(o).size(); left > 0; --left) {
    auto net = opened<fabric>({.node = home(), .listens = true, .silence_limit = 10min});
    const auto words = sure(net.template allocate_words<atomicity::target>(64, rights::remote_atomic));
    to.send_text(net.listen_address());
    (void)sure(net.accept_one(10s, ignore));
    const region_bytes described = net.export_region(words, owner_polls);
    to.swap(false, {reinterpret_cast<const char*>(described.data()), described.size()}, [&] { net.progress(ignore); });
    (void)to.receive_text();  // without progress
    (void)to.receive_text([&] { net.progress(ignore); });
  }
  return 0;
}

/// Posts, and returns by how much the latest end missed its deadline.
duration latest(net_type& net, const one_case& with, std::size_t count, peer other, const auto& word) {
  std::vector<instant> posted(count);
  std::size_t ended = 0;
  duration late = -with.timeout;
  const auto on =
      overloaded{[&](const failed& f) {
                   if (f.why.code != errc::deadline) throw std::runtime_error(describe(f.why));
                   late = std::max(late, net.now() - *static_cast<instant*>(f.context) - with.timeout);
                   ++ended;
                 },
                 [](const completed&) { throw std::runtime_error("an unanswered addition succeeded"); }, [](auto&&) {}};
  std::size_t sent = 0;
  instant next = net.now();
  const instant end = next + 20 * with.timeout + 1s;
  while (ended < count) {
    if (net.now() > end) throw std::runtime_error(std::to_string(count - ended) + " operations did not end");
    if (sent < count && net.now() >= next) {
      posted[sent] = net.now();
      next = posted[sent] + 7ms;
      const status s = net.template fetch_add<std::uint64_t>(other, word, 1, &posted[sent]);
      if (!s && !s.is_again()) throw std::runtime_error(describe(s));
      sent += std::size_t{static_cast<bool>(s)};
    }
    if (with.sleeps) (void)net.wait(sent < count ? duration(7ms) : duration(1s));
    net.progress(on);
  }
  return late;
}

int initiator(const channel& to, const settings& o) {
  std::printf("%s: operations without an end, %zu each\n", fabric::name.data(), o.count);
  std::printf("%-8s %12s %22s %16s\n", "owner", "timeout, ms", "latest end, ms after", "promised, ms");
  for (const one_case& each : cases_of(o)) {
    auto net = opened<fabric>(
        {.node = home(), .sleeps = each.sleeps, .operation_timeout = each.timeout, .silence_limit = 10min});
    const peer other = sure(net.connect(to.receive_text(), 10s, ignore));
    const std::string text = to.swap(true, "go", [&] { net.progress(ignore); });
    const auto words = sure(net.template parse_words<atomicity::target>(std::as_bytes(std::span(text))));
    const duration late = latest(net, each, o.count, other, words.at(0));
    const duration promised = each.timeout / 10 + 50ms;
    std::printf("%-8s %12lld %22.1f %16.1f  %s\n", each.sleeps ? "sleeps" : "polls",
                static_cast<long long>(each.timeout.count()), static_cast<double>(late.count()) / 1e6,
                static_cast<double>(promised.count()) / 1e6, late <= promised ? "met" : "NOT met");
    to.send_text("poll again");
    (void)net.close(other, 5s, ignore);
    to.send_text("over");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  settings o;
  CLI::App app("How late operations without an end fail");
  app.add_option("--timeouts", o.timeouts, "Milliseconds")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--count", o.count, "Operations of each case")->check(CLI::Range(1, 200))->capture_default_str();
  app.add_option("--limit", o.limit, "Seconds after which the run is ended")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return two_processes(
      o.limit, [&](const channel& to) { return initiator(to, o); }, [&](const channel& to) { return target(to, o); });
}
