// SPDX-License-Identifier: Apache-2.0
//
// The same work in both styles, for an instruction count (bench/instructions/styles): each completion of a put_notify
// posts the next one, from the handler of progress() or by a coroutine that awaited it. One visit of measured_poll
// handles one completion and makes one post. Hot path: the measured function. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../coroutines/scheduler.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"
#include "visits.hpp"

#include <CLI/CLI.hpp>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;
constexpr std::size_t size = 64;

struct by_handler {
  weft_pair<fabric> pair;
  remote_place place = pair.there.at(0);
  std::uint64_t ended = 0, wrong = 0;
  bool going = false;
  by_handler(const channel& to, bool first) : pair(to, first, size) {}
  void post() { wrong += !pair.net.put_notify(pair.other, pair.source.first(size), place, 1, this); }
  void begin() {
    going = true;
    post();
  }
  int poll_once() {
    return pair.net.progress(overloaded{[this](const completed&) {
                                          ++ended;
                                          if (going) post();
                                        },
                                        [this](const failed&) { ++wrong; }, [](auto&&) {}});
  }
};

struct by_coroutine {
  weft_pair<fabric> pair;
  remote_place place = pair.there.at(0);
  std::uint64_t ended = 0, wrong = 0;
  bool going = false;
  coroutines::scheduler<fabric> net{pair.net, {.frames = 2, .kept_notices = 0}};
  by_coroutine(const channel& to, bool first) : pair(to, first, size) {}
  static coroutines::task<> posting(by_coroutine& b, coroutines::remote<fabric> there) {
    while (b.going) {
      const status s = co_await there.put_notify(b.pair.source.first(size), b.place, 1);
      if (!s) co_return s;
      ++b.ended;
    }
    co_return status{};
  }
  void begin() {
    going = true;
    wrong += !net.spawn(posting(*this, net.with(pair.other)));
  }
  int poll_once() {
    return net.progress(overloaded{[this](const failed&) { ++wrong; }, [](auto&&) {}});
  }
};

template <class Contender>
[[gnu::noinline]] int measured_poll(Contender& c) {
  return c.poll_once();
}

template <class Contender>
int side(const channel& to, bool first, bool empty, int visits) {
  Contender c(to, first);
  if (!first) {
    (void)to.receive_text([&] { c.poll_once(); });
    to.send_text("done");
    return 0;
  }
  tally t;
  for (int i = 0; i < 8; ++i) {
    usleep(2000);
    c.poll_once();
  }
  if (!empty) c.begin();
  for (int v = 0; v < visits; ++v) {
    const std::uint64_t before = c.ended;
    std::uint64_t nothing = 0;
    do {
      usleep(empty ? 0 : 10000);
      nothing += measured_poll(c) == 0;
    } while (!empty && c.ended == before);
    t.end_visit(nothing);
  }
  c.going = false;
  for (int i = 0; i < 50; ++i) {
    usleep(1000);
    c.poll_once();
  }
  t.operations = static_cast<std::uint64_t>(visits);
  t.refused = c.wrong;
  say(empty ? "poll_empty" : "next_put", t);
  to.send_text("over");
  (void)to.receive_text([&] { c.poll_once(); });
  return c.wrong == 0 ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "The next put_notify when one ended, from a handler or by a coroutine, for an instruction count under callgrind");
  std::string what = "next_put", who = "handler";
  int visits = 20;
  app.add_option("--operation", what)->check(CLI::IsMember({"poll_empty", "next_put"}));
  app.add_option("--contender", who)->check(CLI::IsMember({"handler", "coroutine"}));
  app.add_option("--visits", visits, "How often the measured function is entered")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const auto both = [&]<class Contender>(std::type_identity<Contender>) {
    return two_processes(
        120, [&](const channel& to) { return side<Contender>(to, true, what == "poll_empty", visits); },
        [&](const channel& to) { return side<Contender>(to, false, what == "poll_empty", visits); });
  };
  return who == "handler" ? both(std::type_identity<by_handler>{}) : both(std::type_identity<by_coroutine>{});
}
