// SPDX-License-Identifier: Apache-2.0
//
// weft over mapped memory beside what a processor can do with a shared page: two processes that set a word for each other, an addition to a word,
// a copy of a megabyte. The contender has no keys, no bounds, no peers and no ends: it is the floor.
// Hot path: the ends and turns. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"

#include <sys/mman.h>
#include <atomic>
#include <new>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;
constexpr std::size_t megabyte = std::size_t{1} << 20;

/// What both processes have before they part.
struct shared_page {
  struct alignas(4096) line {  // pages apart, as two owners' words are: processors fetch lines in pairs
    std::atomic<std::uint64_t> value;
  };
  line word[2];
  alignas(64) std::atomic<std::uint64_t> counter;
  alignas(4096) std::byte block[megabyte];
};

/// The floor: a store, and a load until it is seen.
struct by_hand {
  shared_page& page;
  bool first;
  void post(std::uint64_t value) noexcept { page.word[first ? 1 : 0].value.store(value, std::memory_order_release); }
  bool seen(std::uint64_t value) noexcept { return page.word[first ? 0 : 1].value.load(std::memory_order_acquire) == value; }
};

/// A put that nobody is told of: the target watches the word.
struct by_put {
  weft_pair<fabric>& pair;
  remote_place there = pair.there.at(0);
  void post(std::uint64_t value) {
    std::memcpy(pair.source.data(), &value, sizeof value);
    while (!pair.net.put(pair.other, pair.source.first(sizeof value), there)) pair.net.progress([](auto&&) {});
  }
  bool seen(std::uint64_t value) noexcept {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(pair.landing.data())).load(std::memory_order_acquire) == value;
  }
};

/// A put with a notice, or a message: the target makes progress.
template <carrier C>
struct by_event {
  weft_pair<fabric>& pair;
  remote_place there = pair.there.at(0);
  std::uint64_t arrived = 0, taken = 0;
  void post(std::uint64_t value) {
    std::memcpy(pair.source.data(), &value, sizeof value);
    const auto call = [&] {
      if constexpr (C == carrier::send) return pair.net.send(pair.other, pair.source.first(8));
      else return pair.net.put_notify(pair.other, pair.source.first(8), there, static_cast<std::uint32_t>(value));
    };
    while (!call()) pair.net.progress([](auto&&) {});
  }
  bool seen(std::uint64_t) {
    pair.net.progress(overloaded{[this](const notified&) { ++arrived; }, [this](const received&) { ++arrived; },
                                 [](const lost&) { throw std::runtime_error("the other process is gone"); }, [](auto&&) {}});
    if (arrived == taken) return false;
    ++taken;
    return true;
  }
};

class match {
 public:
  match(const channel& to, bool first, const run_options& o, shared_page& page)
      : first_(first), o_(o), rounds_(std::max<std::size_t>(1, o.count / o.turns)), page_(page), pair_(to, first, megabyte) {}

  json play(const channel& to) {
    by_hand raw{page_, first_};
    by_put put{pair_};
    by_event<carrier::put_notify> notice{pair_};
    by_event<carrier::send> message{pair_};
    json all = json::array();
    all.push_back(told("put, 8 bytes", "a flag", duel_of(put, raw)));
    all.push_back(told("put_notify, 8 bytes", "a flag", duel_of(notice, raw)));
    all.push_back(told("send, 8 bytes", "a flag", duel_of(message, raw)));
    if (first_) {
      all.push_back(told("fetch_add, alone", "the instruction",
                         alternate(
                             o_.turns, [&](samples& s) { each(s, [&](std::uint64_t i) { add(i); }); },
                             [&](samples& s) { each(s, [&](std::uint64_t i) { page_.counter.fetch_add(i, std::memory_order_acq_rel); }); })));
      all.push_back(
          told("put, 1 MiB, alone", "memcpy",
               alternate(
                   o_.turns, [&](samples& s) { few(s, [&] { (void)pair_.net.put(pair_.other, pair_.source.first(megabyte), pair_.there.at(0)); }); },
                   [&](samples& s) { few(s, [&] { std::memcpy(page_.block, pair_.source.data(), megabyte); }); })));
    }
    to.part(first_, [&] { pair_.net.progress([](auto&&) {}); });
    return all;
  }

 private:
  template <class Ours, class Theirs>
  duel duel_of(Ours& ours, Theirs& theirs) {
    return alternate(
        o_.turns, [&](samples& s) { turn(ours, s); }, [&](samples& s) { turn(theirs, s); });
  }
  template <class End>
  void turn(End& end, samples& into) {
    spinner spin(o_.waiting);
    std::uint64_t before = now_ns();
    const auto wait = [&] {
      while (!end.seen(value_)) spin.looked(false);
      spin.looked(true);
    };
    for (std::size_t i = 0; i < rounds_; ++i) {
      ++value_;
      if (!first_) wait();
      end.post(value_);
      if (first_) wait();
      const std::uint64_t now = now_ns();
      into.add(now - before);
      before = now;
    }
  }
  void add(std::uint64_t operand) {
    bool ended = false;
    while (!pair_.net.fetch_add(pair_.other, pair_.there.at(64), operand, &ended)) pair_.net.progress([](auto&&) {});
    while (!ended) pair_.net.progress(overloaded{[&](const completed&) { ended = true; }, [](auto&&) {}});
  }
  /// A hundred by one look at the clock, which takes longer than one of them.
  template <class Call>
  void each(samples& into, Call&& call) {
    for (std::size_t i = 0; i < rounds_ / 100 + 1; ++i) {
      const std::uint64_t before = now_ns();
      for (std::uint64_t k = 0; k < 100; ++k) call(k);
      into.add((now_ns() - before) / 100);
    }
  }
  template <class Call>
  void few(samples& into, Call&& call) {
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t before = now_ns();
      call();
      into.add(now_ns() - before);
    }
  }
  static json told(const char* scenario, const char* contender, const duel& found) {
    return {{"scenario", scenario},
            {"contender", contender},
            {"weft_ns", found.ours.percentiles()},
            {"contender_ns", found.theirs.percentiles()},
            {"ratio", found.compared.report()}};
  }

  bool first_;
  const run_options& o_;
  std::size_t rounds_;
  shared_page& page_;
  weft_pair<fabric> pair_;
  std::uint64_t value_ = 0;
};

int side(const channel& to, bool first, const run_options& o, shared_page& page) {
  if (o.pinned) pin_to(first ? 1 : 0);
  match m(to, first, o, page);
  const json all = m.play(to);
  if (!first) return 0;
  if (o.json.empty())
    for (const json& s : all)
      std::printf("%-20s %9s ns   %-16s %9s ns   ratio %s (%s to %s)\n", s["scenario"].get<std::string>().c_str(), s["weft_ns"]["p50"].dump().c_str(),
                  s["contender"].get<std::string>().c_str(), s["contender_ns"]["p50"].dump().c_str(), s["ratio"]["median"].dump().c_str(),
                  s["ratio"]["low"].dump().c_str(), s["ratio"]["high"].dump().c_str());
  return write_json({{"fabric", fabric::name}, {"count", o.count}, {"scenarios", all}}, o.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  if (const int wrong = o.parse(argc, argv, "weft over mapped memory beside a shared page, taking turns", true); wrong >= 0) return wrong;
  void* shared = ::mmap(nullptr, sizeof(shared_page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto& page = *new (shared) shared_page;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o, page); }, [&](const channel& to) { return side(to, false, o, page); });
}
