// SPDX-License-Identifier: Apache-2.0
//
// One contender over the selected fabric in its own pair of processes: `--as` says which. weft's operations, and the
// same by hand against libfabric: plain as fabtests are, tuned, and by writes that the target watches. It prints one
// JSON object; `weft bench --peers` compares. Hot path: ladder.hpp and the ends. Threads: one per process.
#include "../../compose/ordering.hpp"
#include "../../compose/selected.hpp"
#include "../../compose/with.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"
#include "ladder.hpp"
#include "second_host.hpp"
#include "watching_end.hpp"

#if defined(WEFT_BENCH_BY_HAND)
#include "plain_end.hpp"
#include "raw_watching_end.hpp"

#include <algorithm>
#endif

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;

struct asked {
  std::string as;
  ladder plan;
  bool rates = true;
  unsigned limit = 60;
};

/// The fabric, or each fabric of a set, with writes in order.
template <class F>
struct writes_in_order {
  using type = ordered<F, order::write_after_write>;
};
template <class... F>
struct writes_in_order<fabric_set<F...>> {
  using type = fabric_set<ordered<F, order::write_after_write>...>;
};

/// One run of both sides: the result of the initiating one.
class contest {
 public:
  contest(const channel& to, bool first, const asked& a) : to_(to), first_(first), asked_(a) {}

  json play() {
    if (asked_.as == "put_notify") of_weft<weft_end<fabric, carrier::put_notify>>();
    else if (asked_.as == "send") of_weft<weft_end<fabric, carrier::send>>();
    else if (asked_.as == "put") by_watched_put<fabric>();
    else if (asked_.as == "fetch_add") fetch_add();
    else if (asked_.as == "watched_word") by_watched_word<fabric>();
    else if (!by_hand()) throw std::runtime_error("there is no contender \"" + asked_.as + "\" over this fabric");
    return found_;
  }

 private:
  template <class Of>
  void by_watched_put() {
    if constexpr (Of::facts.bytes_visible_in_order) {
      of_weft<weft_watching_end<Of>>();
    } else if constexpr (Of::facts.order_write_after_write) {
      using in_order = typename writes_in_order<Of>::type;
      of_weft<weft_watching_end<in_order>, in_order>();
    } else throw std::runtime_error("its row keeps no order among writes");
  }
  template <class Of>
  void by_watched_word() {
    if constexpr (can_answer<Of, answers::notify::watched_word>) {
      using watching = with<Of, answers::notify::watched_word>;
      of_weft<weft_end<watching, carrier::put_notify>, watching>();
    } else throw std::runtime_error("its row does not permit notify::watched_word");
  }
  template <class End, class Of = fabric>
  void of_weft() {
    each_class([this](std::size_t largest, bool large) {
      weft_pair<Of> pair(to_, first_, largest);
      End end(pair);
      run_class(end, asked_.plan, first_, large, asked_.rates, found_);
      to_.part(first_, [&] { pair.net.progress([](auto&&) {}); });
    });
  }
  template <class End>
  void of_library() {
    each_class([this](std::size_t largest, bool large) {
      End end(to_, first_, largest);
      run_class(end, asked_.plan, first_, large, asked_.rates, found_);
      to_.part(first_, [&] { poll_until_parted(end); });
    });
  }
  /// The other side may have closed already, which cancels this one's receives.
  template <class End>
  static void poll_until_parted(End& end) noexcept {
    try {
      end.poll();
    } catch (const std::exception&) {
    }
  }
  bool by_hand() {
#if defined(WEFT_BENCH_BY_HAND)
    if (asked_.as == "plain") of_library<plain_end<fabric>>();
    else if (asked_.as == "tuned") of_library<raw_end<fabric>>();
    else if (asked_.as == "tuned_send") of_library<raw_end<by_messages<fabric>, false, message_use>>();
    else if (asked_.as == "watched_write") by_watched_write<fabric>();
    else if (asked_.as == "watched_write_by_pointers") of_library<raw_watching_end<by_pointers<fabric>>>();
    else if (asked_.as == "raw_fetch_add") raw_fetch_add();
    else return false;
    return true;
#else
    return false;
#endif
  }
  template <class Of>
  void by_watched_write() {
#if defined(WEFT_BENCH_BY_HAND)
    if constexpr (Of::facts.bytes_visible_in_order) of_library<raw_watching_end<Of>>();
    else throw std::runtime_error("its row does not say that bytes become visible in order");
#endif
  }
  template <class Run>
  void each_class(Run&& run) {
    std::size_t small = 8, large = 0;
    for (const std::size_t size : asked_.plan.sizes)
      (size > small_transfer ? large : small) = std::max(size > small_transfer ? large : small, size);
    run(small, false);
    if (large > 0) run(large, true);
  }

  /// Adds `count` times and returns the time of one. The other side only makes progress until a notice ends the run.
  template <class Add, class Serve>
  void adding(Add&& add, Serve&& serve) {
    if (!first_) {
      to_.receive_text(serve);
      to_.send_text("served");
      return;
    }
    std::vector<double> taken;
    for (std::size_t b = 0; b < asked_.plan.batches(8); ++b) {
      const std::uint64_t before = now_ns();
      for (std::size_t i = 0; i < ladder::per_batch(8); ++i) add();
      taken.push_back(static_cast<double>(now_ns() - before) / static_cast<double>(ladder::per_batch(8)));
    }
    std::nth_element(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2), taken.end());
    found_.push_back(reading("fetch_add", 8, taken[taken.size() / 2]));
    to_.send_text("done");
    to_.receive_text(serve);
  }
  void fetch_add() {
    weft_pair<fabric> pair(to_, first_, 64);
    spinner spin(asked_.plan.waiting);
    std::uint64_t added = 0;
    const auto look = [&] { pair.net.progress([](auto&&) {}); };
    const auto add = [&] {
      bool ended = false;
      const auto on = overloaded{[&](const completed& c) { ended = c.old == added++; }, [](auto&&) {}};
      while (!pair.net.fetch_add(pair.other, pair.there.at(0), 1, &ended)) pair.net.progress(on);
      while (!ended) spin.polled(pair.net.progress(on) > 0);
    };
    adding(add, look);
    to_.part(first_, look);
  }
#if defined(WEFT_BENCH_BY_HAND)
  void raw_fetch_add() {
    if constexpr (fabric::facts.atomics == atomic_execution::provider) {
      raw_adding_end<fabric> end(to_, first_, 64);
      const auto look = [&] { end.poll(); };
      adding(
          [&] {
            if (!end.add(1)) throw std::runtime_error("fetch_add by hand: the sum is wrong");
          },
          look);
      to_.part(first_, look);
    } else throw std::runtime_error("the provider of this fabric has no atomics");
  }
#endif

  const channel& to_;
  bool first_;
  const asked& asked_;
  json found_ = json::array();
};

int side(const channel& to, bool first, asked a, run_options o) {
  settle<fabric>(first, o);
  a.plan.waiting = o.waiting;
  const json found = contest(to, first, a).play();
  if (!first) return 0;
  return write_json({{"fabric", fabric::name}, {"contender", a.as}, {"readings", found}}, "-") ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One contender over this fabric, in two processes on this machine: half round trips and rates, as JSON");
  asked a;
  run_options o;
  a.plan.sizes = {8, 1024, 4096, 16384, 65536, 1048576};
  a.plan.count = 2000;
  o.yield_after = 2000;
  app.add_option("--as", a.as,
                 "put_notify, watched_word (put_notify by notify::watched_word), send, put (the "
                 "target watches its memory), fetch_add; by hand: "
                 "plain, tuned, tuned_send, watched_write, "
                 "watched_write_by_pointers, raw_fetch_add")
      ->required();
  app.add_option("--sizes", a.plan.sizes, "Bytes, multiples of 8")->delimiter(',')->check(CLI::Range(8, 1 << 22));
  app.add_option("--count", a.plan.count, "Round trips of a small transfer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("!--no-rate", a.rates, "Leave the message rate out");
  app.add_option("--yield-after", o.yield_after, "Fruitless polls before a side gives way")->capture_default_str();
  app.add_option("--limit", a.limit, "Seconds after which the run is ended")->capture_default_str();
  second_host there;
  app.add_option("--second-namespace", there.space,
                 "The network namespace of the second process: a name in /run/netns");
  app.add_option("--second-node", there.node, "The second process's own address; WEFT_NODE is the first one's");
  CLI11_PARSE(app, argc, argv);
  return two_processes(
      a.limit, [&](const channel& to) { return side(to, true, a, o); },
      [&](const channel& to) {
        there.enter();
        return side(to, false, a, o);
      });
}
