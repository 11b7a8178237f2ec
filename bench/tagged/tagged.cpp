// SPDX-License-Identifier: Apache-2.0
//
// What a tag costs: the round trip of a tagged message whose receive is posted, beside that of a plain message of the
// same size. Both are of weft, in one run. The receiver checks the number in each. A second contender receives with a
// mask, and a hundred posted receives that do not fit. On addressed fabrics the library's own matching runs beside
// them. --unexpected counts what each keeps of messages that no receive awaits. Hot path: the loops. Threads: one per
// process.
#include "../../compose/tagged/tagged.hpp"
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"
#include "raw_library.hpp"

#include <array>
#include <deque>
#include <optional>

namespace {
using namespace weft;
using namespace weft::bench;

using tagging = with<weft::selected, answers::tagged::matched_over_messages<32>>;

struct settings {
  std::uint32_t size = 16;
  std::uint32_t count = 2'000;
  std::size_t turns = 20;
  unsigned limit = 300;
  std::uint32_t unexpected = 0;
  std::string json;
};

enum class way : std::uint8_t { plain, exact, masked, library, library_masked };
constexpr std::array<const char*, 5> names{"plain message", "tagged message", "with a mask, behind 100 receives",
                                           "the library's matching", "the library's, mask and 100 receives"};
/// Connected endpoints of a library match each by itself: no receive takes a message of any peer.
constexpr bool library_matches = tagging::facts.endpoint_type == endpoint_type::addressed;
constexpr std::size_t ways = library_matches ? names.size() : 3;
using by_library = library_end<weft::selected>;

/// A transport and its one peer.
class end {
 public:
  end(const channel& to, bool first, std::uint32_t size)
      : net_(sure(open<tagging>({.node = home(), .listens = !first}))),
        memory_(sure(net_.allocate(2 * std::size_t{size}, rights::none))),
        size_(size) {
    if (!first) to.send_text(net_.listen_address());
    other_ = first ? sure(net_.connect(to.receive_text(), 10s)) : sure(net_.accept_one(10s));
    to.swap(first, "met", [this] { poll_once(); });
  }

  /// Full round trips.
  void ping(bool first, way how, std::uint32_t rounds, samples& into) {
    std::deque<tagged_receive> others(how == way::masked ? 100 : 0);
    for (tagged_receive& each : others) post_receive(each, {.tag = 1, .ignore = 6});
    const tag_match wanted{.tag = 8, .ignore = how == way::masked ? 6U : 0U};
    seen_ = 0;
    if (how != way::plain) post_receive(receive_, wanted);
    std::uint64_t before = now_ns();
    for (std::uint32_t i = 0; i < rounds; ++i) {
      if (first) post(how, i);
      while (seen_ <= i) turn(how);
      std::uint64_t number = 0;
      std::memcpy(&number, into_.data(), sizeof number);
      if (number != i) throw std::runtime_error("another message came than was sent");
      if (how != way::plain && i + 1 < rounds) post_receive(receive_, wanted);
      if (!first) post(how, i);
      const std::uint64_t now = now_ns();
      into.add(now - before);
      before = now;
    }
    while (net_.in_flight() != 0) poll_once();
  }
  void poll_once() {
    (void)net_.progress([](auto&&) {});
  }
  /// As library_end: how many of `count` messages without a receive the peer's window took.
  std::uint32_t send_unexpected(std::uint32_t count) {
    for (std::uint32_t sent = 0; sent < count; ++sent) {
      const std::uint64_t end = now_ns() + 1'000'000'000;
      while (!net_.send_tagged(other_, memory_.first(size_), 99)) {
        poll_once();
        if (now_ns() > end) return sent;
      }
    }
    return count;
  }

 private:
  void post_receive(tagged_receive& r, const tag_match& wanted) {
    if (!net_.receive_tagged(r, wanted, {into_.data(), into_.size()}))
      throw std::runtime_error("a receive was refused");
  }
  void post(way how, std::uint64_t number) {
    std::memcpy(memory_.data(), &number, sizeof number);
    const local_memory from = memory_.first(size_);
    for (;;) {
      const status s = how == way::plain ? net_.send(other_, from) : net_.send_tagged(other_, from, 8);
      if (s) return;
      if (!s.is_again()) throw std::runtime_error("a send was refused");
      turn(how);
    }
  }
  void turn(way /*how*/) {
    const int found = net_.progress(
        overloaded{[this](const received& m) {
                     std::memcpy(into_.data(), m.message.data(), std::min(m.message.size(), into_.size()));
                     ++seen_;
                   },
                   [this](const completed& c) { seen_ += c.what == operation::receive_tagged ? 1U : 0U; },
                   [](const failed& f) { throw std::runtime_error(std::string(name_of(f.what)) + " failed"); },
                   [](const lost&) { throw std::runtime_error("the other process is gone"); }, [](auto&&) {}});
    spin_.polled(found > 0);
  }

  transport<tagging> net_;
  owned_region memory_;
  std::size_t size_;
  peer other_;
  tagged_receive receive_;
  std::array<std::byte, 4096> into_{};
  std::uint64_t seen_ = 0;
  spinner spin_{{tagging::facts.data_progress == data_progress::thread ? fruitless::nap : fruitless::yield, 16}};
};

/// Messages that no receive awaits: the first process sends them, the second says by how many KiB it grew.
template <class Poll>
int unexpected(const channel& to, bool first, end& mine, std::optional<by_library>& library, const settings& s,
               const Poll& poll) {
  json found = json::array();
  const auto count = [&](const char* whose, auto& on) {
    const std::uint64_t before = resident_kib();
    std::uint32_t taken = 0;
    if (first) {
      taken = on.send_unexpected(s.unexpected);
      to.send_text("all are sent");
    } else {
      to.receive_text(poll);
      to.send_text(std::to_string(resident_kib() - std::min(before, resident_kib())));
    }
    if (!first) return;
    const std::string grown = to.receive_text(poll);
    std::printf("%-8s %5u bytes  %-22s took %u of %u without a receive; the receiver grew by %s KiB\n",
                std::string(tagging::name).c_str(), s.size, whose, taken, s.unexpected, grown.c_str());
    found.push_back({{"matching", whose}, {"taken", taken}, {"grown_kib", std::stoul(grown)}});
  };
  count("weft's matching", mine);
  if (library) count("the library's matching", *library);
  to.part(first, poll);
  if (!first) return 0;
  return write_json({{"fabric", tagging::name}, {"bytes", s.size}, {"unexpected", found}}, s.json) ? 0 : 1;
}

int run(const channel& to, bool first, const settings& s) {
  if (tagging::facts.data_progress != data_progress::thread) pin_to(first ? 1 : 0);
  end mine(to, first, s.size);
  std::optional<by_library> library;
  if constexpr (library_matches) library.emplace(to, first, std::size_t{s.size});
  const auto poll_both = [&] {
    mine.poll_once();
    if (library) library->turn();
  };
  if (s.unexpected != 0) return unexpected(to, first, mine, library, s, poll_both);
  std::array<samples, ways> all;
  std::array<comparison, ways> beside;
  for (std::size_t turn = 0; turn <= s.turns; ++turn) {
    std::array<samples, ways> now;
    for (std::size_t k = 0; k < ways; ++k) {
      const std::size_t w = (k + turn) % ways;
      const way how = static_cast<way>(w);
      if (how < way::library) mine.ping(first, how, s.count, now[w]);
      else library->ping(first, how == way::library_masked, s.count, now[w]);
      to.part(first, poll_both);
    }
    if (turn == 0) continue;  // warms up
    for (std::size_t w = 0; w < ways; ++w) {
      all[w].add(now[w]);
      beside[w].turn(now[w], now[0]);
    }
  }
  if (!first) return 0;
  json figures = json::array();
  for (std::size_t w = 0; w < ways; ++w)
    figures.push_back({{"way", names[w]}, {"round_trip_ns", percentiles(all[w])}, {"to_plain", beside[w].report()}});
  if (s.json.empty())
    for (std::size_t w = 0; w < ways; ++w)
      std::printf("%-8s %5u bytes  %-36s %8llu ns a round trip, %.2f of plain\n", std::string(tagging::name).c_str(),
                  s.size, names[w], static_cast<unsigned long long>(all[w].percentile(.5)), beside[w].ratio());
  return write_json({{"fabric", tagging::name}, {"bytes", s.size}, {"ways", figures}}, s.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Round trips of tagged messages, compared with plain ones");
  app.add_option("--size", s.size, "Bytes of a message")->check(CLI::Range(8, 4080))->capture_default_str();
  app.add_option("--count", s.count, "Round trips of a turn")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--turns", s.turns, "Turns of each way")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--unexpected", s.unexpected, "Measure no times: send so many messages that no receive awaits");
  app.add_option("--limit", s.limit, "Seconds after which the run is ended")->capture_default_str();
  app.add_option("--json", s.json, "Where the result goes: a file; - or nothing for standard output")
      ->expected(0, 1)
      ->default_str("-");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (app.count("--json") > 0 && s.json.empty()) s.json = "-";
  return two_processes(
      s.limit, [&](const channel& to) { return run(to, true, s); },
      [&](const channel& to) { return run(to, false, s); });
}
