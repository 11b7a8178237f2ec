// SPDX-License-Identifier: Apache-2.0
//
// Runs operations of one contender many times inside functions that are named measured_*: callgrind collects only there
// (bench/instructions/run). The loop around an operation is the same text for all contenders. The other process only
// makes progress, and sends a notice on request. Most of a run is its start, so one run counts many operations.
// Hot path: the measured functions. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../compose/with.hpp"
#include "../transport/weft_end.hpp"
#if defined(WEFT_BENCH_SET) || defined(WEFT_BENCH_COUNTED)
#define WEFT_BENCH_BESIDE_WEFT  // compared with weft over the same fabric, and with bare code
#endif
#ifdef WEFT_BENCH_COUNTED
#include "../../compose/counting/counted.hpp"
#endif
#if defined(WEFT_BENCH_MAPPED) && defined(WEFT_BENCH_BESIDE_WEFT)
#include "bare/raw_mapped.hpp"
#elif defined(WEFT_BENCH_MAPPED)
#include "bare/raw_mapped.hpp"
#include "raw_mapped_careful.hpp"
#else
#include "bare/raw_libfabric.hpp"
#include "raw_careful.hpp"
#endif
#include "visits.hpp"

#include <CLI/CLI.hpp>

namespace {
using namespace weft;
using namespace weft::bench;
#ifdef WEFT_BENCH_TRUSTED
using fabric = with<weft::selected, answers::checks::trusted>;
#elif defined(WEFT_BENCH_COUNTED)
using fabric = counted<weft::selected>;
#else
using fabric = weft::selected;
#endif
#ifdef WEFT_BENCH_SET
using alone = fabrics::WEFT_BENCH_SET;  ///< The fabric of the set that reaches the peer: it is the contender.
#elif defined(WEFT_BENCH_COUNTED)
using alone = weft::selected;  ///< The same without counters.
#else
using alone = fabric;
#endif
constexpr bool native = !answer<alone, atomics_family>::executed_by_target;
constexpr bool delivered = answer<alone, write_fault_family>::signalled_write == post_mode::delivered;
#ifdef WEFT_BENCH_MAPPED
#ifndef WEFT_BENCH_BESIDE_WEFT
using raw = raw_mapped_careful;
#endif
using raw_without_checks = raw_mapped_bare;
constexpr std::size_t most = 8;  // fits into the line that announces it
#else
using raw = raw_careful<alone, native>;
using raw_without_checks = raw_bare<alone, native>;
constexpr std::size_t most = 64;
#endif

/// The peer's heartbeats come by the clock, four in this time. A poll that found a heartbeat too would count it as part
/// of an operation.
constexpr duration silence_limit = 120s;

/// weft, through its public calls.
template <class F>
struct by_weft_over {
  weft_pair<F> pair;
  remote_place place = pair.there.at(0);
  std::size_t size = most;  ///< Known at run time only, as where messages differ.
  std::uint64_t ended = 0, landed = 0, heard = 0;
  by_weft_over(const channel& to, bool first) : pair(to, first, most, false, 0, silence_limit) {}
  [[gnu::always_inline]] bool inject() { return bool(pair.net.send(pair.other, pair.source.first(size))); }
  [[gnu::always_inline]] bool send() { return bool(pair.net.send(pair.other, pair.source.first(size), this)); }
  [[gnu::always_inline]] bool get() { return bool(pair.net.get(pair.other, pair.source.first(size), place, this)); }
  [[gnu::always_inline]] bool put() { return bool(pair.net.put(pair.other, pair.source.first(size), place)); }
  [[gnu::always_inline]] bool put_notify() {
    return bool(pair.net.put_notify(pair.other, pair.source.first(size), place, 1));
  }
  [[gnu::always_inline]] bool put_notify_signalled() {
    return bool(pair.net.put_notify(pair.other, pair.source.first(size), place, 1, this));
  }
  [[gnu::always_inline]] bool fetch_add() { return bool(pair.net.fetch_add(pair.other, place, 1, this)); }
  [[gnu::always_inline]] bool add_u32() {
    return bool(pair.net.template add<std::uint32_t>(pair.other, place, 1, this));
  }
  [[gnu::always_inline]] bool fetch_max_i32() {
    return bool(pair.net.template fetch_max<std::int32_t>(pair.other, place, 1, this));
  }
  [[gnu::always_inline]] int poll_once() {
    return pair.net.progress(overloaded{[this](const completed&) { ++ended; },
                                        [this](const notified& e) { landed += e.immediate; },
                                        [this](const received&) { ++heard; }, [](auto&&) {}});
  }
};

using by_weft = by_weft_over<fabric>;

#ifdef WEFT_BENCH_BESIDE_WEFT
/// What a set and a counted transport are compared with: weft over the one fabric.
using by_hand = by_weft_over<alone>;
#else
/// The same by hand, with the same care. A pointer keeps the end: the end must not move, and its owner may move, as a
/// transport may.
struct by_hand {
  std::unique_ptr<raw> end;
  raw::handle other;
  raw::memory source;
  raw::place there;
  std::size_t size = most;  ///< Known at run time only, as where messages differ.
  std::uint64_t ended = 0, landed = 0, heard = 0;
  by_hand(const channel& to, bool first)
      : end(std::make_unique<raw>(to, first, most)), other(end->other), source(end->source), there(end->there) {}
  [[gnu::always_inline]] bool inject() { return end->send(other, source, size) == 0; }
  [[gnu::always_inline]] bool send() { return end->send(other, source, size, this) == 0; }
  [[gnu::always_inline]] bool get() { return end->get(other, source, size, there, this) == 0; }
  [[gnu::always_inline]] bool put() { return end->put(other, source, size, there) == 0; }
  [[gnu::always_inline]] bool put_notify() { return end->put_notify(other, source, size, there, 1) == 0; }
  [[gnu::always_inline]] bool put_notify_signalled() {
    return end->template put_notify<delivered>(other, source, size, there, 1, this) == 0;
  }
  [[gnu::always_inline]] bool fetch_add() {
    if constexpr (native) return end->fetch_add(other, there, 1, this) == 0;
    return false;
  }
  [[gnu::always_inline]] bool add_u32() {
    return false;
  }  // not written by hand: like fetch_add, or the row's way is no single call
  [[gnu::always_inline]] bool fetch_max_i32() { return false; }
  [[gnu::always_inline]] int poll_once() {
    return end->poll_once([this](auto, auto, void*, std::uint64_t) { ++ended; },
                          [this](auto, std::uint32_t immediate) { landed += immediate; },
                          [this](auto, const std::byte*, std::size_t) { ++heard; });
  }
};

#endif

/// The same, bare: one peer and no checks.
struct bare {
  std::unique_ptr<raw_without_checks> end;
  std::size_t size = most;  ///< Known at run time only, as where messages differ.
  std::uint64_t ended = 0, landed = 0, heard = 0;
  bare(const channel& to, bool first) : end(std::make_unique<raw_without_checks>(to, first, most)) {}
  [[gnu::always_inline]] bool inject() { return end->send(size); }
  [[gnu::always_inline]] bool send() { return end->send(size, this); }
  [[gnu::always_inline]] bool get() { return end->get(size, this); }
  [[gnu::always_inline]] bool put() { return end->put(size); }
  [[gnu::always_inline]] bool put_notify() { return end->put_notify(size, 1); }
  [[gnu::always_inline]] bool put_notify_signalled() {
    return end->template put_notify<delivered>(size, 1, static_cast<void*>(this));
  }
  [[gnu::always_inline]] bool fetch_add() { return end->fetch_add(std::uint64_t{1}, this); }
  [[gnu::always_inline]] bool add_u32() { return end->fetch_add(std::uint32_t{1}, this); }
  [[gnu::always_inline]] bool fetch_max_i32() { return end->fetch_max(std::int32_t{1}, this); }
  [[gnu::always_inline]] int poll_once() {
    return end->poll_once([this](auto...) { ++ended; }, [this](std::uint32_t immediate) { landed += immediate; },
                          [this](const std::byte*, std::size_t) { ++heard; });
  }
};

/// Posts per visit of the measured function: no queue may fill up, and shared memory takes one delivered write at a
/// time.
constexpr int unsignalled_posts = 16, signalled_posts = 1, in_batch = 16;

template <class Contender, bool (Contender::*Operation)(), int posts>
[[gnu::noinline]] int measured_post(Contender& c) {
  int refused = 0;
  for (int i = 0; i < posts; ++i) refused += !(c.*Operation)();
  return refused;
}
template <class Contender>
[[gnu::noinline]] int measured_poll(Contender& c) {
  return c.poll_once();
}

template <class Contender>
class run {
 public:
  run(Contender& c, const channel& to, int visits) : c_(c), to_(to), visits_(visits) {}

  tally of(const std::string& what) {
    if (what == "inject") return post<&Contender::inject>();
    if (what == "send") return post<&Contender::send, true>();
    if (what == "get") return post<&Contender::get, true>();
    if (what == "put") return post<&Contender::put>();
    if (what == "put_notify") return post<&Contender::put_notify>();
    if (what == "put_notify_signalled") return post<&Contender::put_notify_signalled, true>();
    if (what == "fetch_add") return post<&Contender::fetch_add, true>();
    if (what == "add_u32") return post<&Contender::add_u32, true>();
    if (what == "fetch_max_i32") return post<&Contender::fetch_max_i32, true>();
    if (what == "poll_one") return poll_once("notice", 1);
    if (what == "poll_batch") return poll_once("notices", in_batch);
    if (what == "receive") return poll_once("message", 1);
    return poll_once("", 0);
  }

 private:
  template <bool (Contender::*Operation)(), bool signalled = false>
  tally post() {
    constexpr int posts = signalled ? signalled_posts : unsignalled_posts;
    tally t;
    begin();
    for (int v = 0; v < visits_; ++v, t.operations += posts) {
      const std::uint64_t before = c_.ended;
      const auto refused = static_cast<std::uint64_t>(measured_post<Contender, Operation, posts>(c_));
      t.refused += refused;
      t.end_visit();
      while (signalled && c_.ended - before < posts - refused) c_.poll_once();
      settle();
    }
    return t;
  }
  /// Polls that find nothing, or the transfer that the other side sends on request.
  tally poll_once(const char* asked, std::uint64_t expected) {
    tally t;
    begin();
    for (int v = 0; v < visits_; ++v, t.operations += std::max<std::uint64_t>(expected, 1)) {
      const std::uint64_t before = c_.landed + c_.heard;
      if (expected > 0) {
        to_.send_text(asked);
        to_.receive_text();  // the whole transfer is on its way
      }
      usleep(expected > 0 ? 20000 : 0);
      std::uint64_t empty = 0;
      do empty += measured_poll(c_) == 0;
      while (c_.landed + c_.heard - before < expected);
      t.end_visit(empty);
    }
    return t;
  }
  /// Some libraries connect at the first post.
  void begin() {
    while (!c_.put_notify()) c_.poll_once();
    settle();
  }
  void settle() {
    for (int i = 0; i < 8; ++i) {
      usleep(2000);
      c_.poll_once();
    }
  }

  Contender& c_;
  const channel& to_;
  int visits_;
};

using names = std::vector<std::string>;

template <class Contender>
int side(const channel& to, bool first, const names& asked_for, int visits) {
#ifdef WEFT_BENCH_SET  // the measured side has every fabric, and its peer one
  if (!first) ::setenv("WEFT_FABRICS", std::string(alone::name).c_str(), 1);
#endif
  Contender c(to, first);
  if (!first) {
    for (std::string asked = to.receive_text([&] { c.poll_once(); }); asked != "over";
         asked = to.receive_text([&] { c.poll_once(); })) {
      for (int i = 0; i < (asked == "notices" ? in_batch : 1); ++i)
        while (!(asked == "message" ? c.inject() : c.put_notify())) c.poll_once();
      to.send_text("posted");
    }
    to.send_text("done");
    return 0;
  }
  std::uint64_t refused = 0;
  for (const std::string& what : asked_for) {
    const tally t = run<Contender>(c, to, visits).of(what);
    say(what, t);
    refused += t.refused;
  }
  to.send_text("over");
  to.receive_text([&] { c.poll_once(); });
  return refused == 0 ? 0 : 1;
}

/// Whether this contender has the operation here.
bool has(const std::string& who, const std::string& what) {
  if (what == "put_signalled" || (what.ends_with("_batch") && what != "poll_batch"))
    return false;  // counted over rdma-core only
  const bool atomic = what == "fetch_add" || what == "add_u32" || what == "fetch_max_i32";
  if (who == "by_hand") return !atomic || (what == "fetch_add" && native);  // else no single call to count against
  return who != "bare" || !atomic || raw_without_checks::has_atomics;
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Operations of one contender, for an instruction count under callgrind");
  names asked;
  std::string who = "weft";
  int visits = 20;
  app.add_option("--operation", asked, "Once or more; those that the contender lacks are left out")
      ->required()
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"inject", "send", "get", "poll_batch", "receive", "put", "put_notify",
                             "put_notify_signalled", "put_signalled", "send_batch", "put_batch", "put_notify_batch",
                             "fetch_add_batch", "fetch_add", "add_u32", "fetch_max_i32", "poll_empty", "poll_one"}));
  app.add_option("--contender", who)->check(CLI::IsMember({"weft", "by_hand", "bare"}));
  app.add_option("--visits", visits, "How often the measured function is entered")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
#ifdef WEFT_BENCH_TRUSTED
  if (who == "by_hand") return 77;  // it makes the checks that are left out here
#endif
  std::erase_if(asked, [&](const std::string& what) { return !has(who, what); });
  if (asked.empty()) return 77;
  const auto both = [&]<class Contender>(std::type_identity<Contender>) {
    return two_processes(
        seconds_of_a_run, [&](const channel& to) { return side<Contender>(to, true, asked, visits); },
        [&](const channel& to) { return side<Contender>(to, false, asked, visits); });
  };
  if (who == "bare") return both(std::type_identity<bare>{});
  return who == "weft" ? both(std::type_identity<by_weft>{}) : both(std::type_identity<by_hand>{});
}
