// SPDX-License-Identifier: Apache-2.0
//
// weft's transport compared with a hand-written end, in one run: both ends hold both contenders, and the two take
// turns. Scenarios: put_notify and send, unsignalled and signalled, and fetch_add. The contender does what weft
// promises: a signalled put completes only at its delivery where weft's does. Hot path: pingpong.hpp. Threads: one per
// process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../raw_pingpong/contender.hpp"
#include "weft_end.hpp"

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;

constexpr ending signalled_put =
    answer<fabric, write_fault_family>::signalled_write == post_mode::delivered ? ending::delivered : ending::signalled;

struct scenario {
  const char* name;
  const char* contender;
  duel found;
};

class match {
 public:
  match(const channel& to, bool first, const run_options& o)
      : first_(first),
        o_(o),
        rounds_(std::max<std::size_t>(1, o.count / o.turns)),
        raw_(to, first, o.size),
        pair_(to, first, o.size) {}

  std::vector<scenario> play() {
    using put = weft_end<fabric, carrier::put_notify>;
    using message = weft_end<fabric, carrier::send>;
    put ours(pair_);
    message messages(pair_);
    std::vector<scenario> all;
    all.push_back(
        {"put_notify", "write with immediate", between<ending::unsignalled, ending::unsignalled>(ours, raw_)});
    all.push_back({"put_notify, signalled",
                   signalled_put == ending::delivered ? "write, delivery complete" : "write, completion",
                   between<ending::signalled, signalled_put>(ours, raw_)});
    all.push_back({"send", "write with immediate", between<ending::unsignalled, ending::unsignalled>(messages, raw_)});
    all.push_back({"fetch_add", "write with immediate", fetch_adds()});
    return all;
  }
  void poll_once() {
    raw_.poll();
    pair_.net.progress([](auto&&) {});
  }

 private:
  /// Keeps the idle contender moving.
  auto raw_moves() {
    return [this] { raw_.poll(); };
  }
  auto weft_moves() {
    return [this] { pair_.net.progress([](auto&&) {}); };
  }

  template <ending Ours, ending Theirs, class End, class Raw>
  duel between(End& ours, Raw& theirs) {
    check<Ours>(ours, raw_moves());
    check<Theirs>(theirs, weft_moves());
    return alternate(
        o_.turns, [&](samples& s) { turn<Ours>(ours, s, raw_moves()); },
        [&](samples& s) { turn<Theirs>(theirs, s, weft_moves()); });
  }
  template <ending M, class End, class Other>
  void check(End& end, Other other) {
    pingpong<M, End, Other> p(end, o_.plan(rounds_), other);
    first_ ? p.ask_checked(16) : p.answer_checked(16);
  }
  template <ending M, class End, class Other>
  void turn(End& end, samples& into, Other other) {
    pingpong<M, End, Other> p(end, o_.plan(rounds_), other);
    first_ ? p.ask(into) : p.answer();
  }

  /// A fetch_add is a round trip of its own. The other side only makes progress between two notices: the turn begins,
  /// and the turn is over. Until the first one the last answer of the turn before may still be on its way.
  duel fetch_adds() {
    return alternate(
        o_.turns, [&](samples& s) { first_ ? add(s) : serve(); },
        [&](samples& s) { turn<ending::unsignalled>(raw_, s, weft_moves()); });
  }
  void add(samples& into) {
    spinner spin(o_.waiting);
    notify();
    std::uint64_t before = now_ns();
    for (std::size_t i = 0; i < rounds_; ++i) {
      bool ended = false;
      while (!pair_.net.fetch_add(pair_.other, pair_.there.at(counter_at()), 1, &ended))
        pair_.net.progress([](auto&&) {});
      while (!ended)
        spin.polled(pair_.net.progress(overloaded{[&](const completed& c) {
                                                    ended = true;
                                                    if (c.old != added_)
                                                      throw std::runtime_error("fetch_add: the sum is wrong");
                                                    ++added_;
                                                  },
                                                  [](const failed&) { throw std::runtime_error("fetch_add failed"); },
                                                  [](auto&&) {}}) > 0);
      const std::uint64_t now = now_ns();
      into.add(now - before);
      before = now;
    }
    notify();
  }
  void notify() {
    while (!pair_.net.put_notify(pair_.other, pair_.source.first(1), pair_.there.at(0), 0))
      pair_.net.progress([](auto&&) {});
  }
  void serve() {
    spinner spin(o_.waiting);
    while (notices_ < 2) {
      if (notices_ == 0) raw_.poll();
      spin.polled(pair_.net.progress(overloaded{
                      [&](const notified&) { ++notices_; },
                      [](const lost&) { throw std::runtime_error("the other process is gone"); }, [](auto&&) {}}) > 0);
    }
    notices_ -= 2;  // where a card executes atomics, one poll may return a turn's end and the next turn's begin
  }
  std::size_t counter_at() const noexcept { return (o_.size + 63) / 64 * 64; }

  bool first_;
  const run_options& o_;
  std::size_t rounds_;
  contender<fabric> raw_;
  weft_pair<fabric> pair_;
  std::uint64_t added_ = 0;
  int notices_ = 0;
};

json report(const std::vector<scenario>& all, const run_options& o) {
  json lines = json::array();
  for (const scenario& s : all)
    lines.push_back({{"scenario", s.name},
                     {"weft_ns", percentiles(s.found.ours)},
                     {"contender", s.contender},
                     {"contender_ns", percentiles(s.found.theirs)},
                     {"ratio", s.found.compared.report()}});
  return {{"fabric", fabric::name}, {"size", o.size}, {"count", o.count}, {"scenarios", lines}};
}

bool write_csv(const json& report_json, const std::string& file) {
  if (file.empty()) return true;
  std::string text =
      "fabric,size,scenario,weft_p50_ns,weft_p99_ns,contender,contender_p50_ns,contender_p99_ns,ratio,ratio_low,ratio_"
      "high\n";
  for (const json& s : report_json["scenarios"]) {
    text += report_json["fabric"].get<std::string>() + ',' + report_json["size"].dump() + ',' + s["scenario"].dump();
    for (const char* each : {"p50", "p99"}) text += ',' + s["weft_ns"][each].dump();
    text += ',' + s["contender"].dump();
    for (const char* each : {"p50", "p99"}) text += ',' + s["contender_ns"][each].dump();
    for (const char* each : {"median", "low", "high"}) text += ',' + s["ratio"][each].dump();
    text += '\n';
  }
  return write_text(text, file);
}

int side(const channel& to, bool first, run_options o) {
  settle<fabric>(first, o);
  match m(to, first, o);
  const std::vector<scenario> all = m.play();
  to.part(first, [&] { m.poll_once(); });
  if (!first) return 0;
  const json report_json = report(all, o);
  if (o.json.empty() && o.csv.empty())
    for (const json& s : report_json["scenarios"])
      std::printf("%-9s %-22s %9s ns   by hand %9s ns   ratio %s (%s to %s)\n", std::string(fabric::name).c_str(),
                  s["scenario"].get<std::string>().c_str(), s["weft_ns"]["p50"].dump().c_str(),
                  s["contender_ns"]["p50"].dump().c_str(), s["ratio"]["median"].dump().c_str(),
                  s["ratio"]["low"].dump().c_str(), s["ratio"]["high"].dump().c_str());
  return write_json(report_json, o.json) && write_csv(report_json, o.csv) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  if (const int wrong = o.parse(argc, argv, "weft's transport and a hand-written end, taking turns", true); wrong >= 0)
    return wrong;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o); },
      [&](const channel& to) { return side(to, false, o); });
}
