// SPDX-License-Identifier: Apache-2.0
//
// Operations that are made of several posts or pieces, for an instruction count (bench/instructions/composed): as in instructions.cpp callgrind
// collects inside of functions named measured_* only. Where one call of the library means the same, a contender by hand makes it.
// Hot path: the measured functions. Threads: one per process.
#include "../../compose/rails.hpp"
#include "../../compose/selected.hpp"
#include "../../compose/with.hpp"
#include "../transport/weft_end.hpp"
#include "raw_asked.hpp"
#include "raw_striped.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <optional>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;
constexpr bool native = !answer<fabric, atomics_family>::executed_by_target;
constexpr std::size_t half = 32, most = 2 * half;
constexpr int members = 16;

template <class F>
struct fused {
  using type = F;
};
template <class F>
requires(can_answer<F, notify::message_after_delivery>) struct fused<F> {
  using type = fused_up_to<with<F, notify::message_after_delivery>, 100>;
};

/// weft, through its public calls. `F`: the fabric, or the same with another answer.
template <class F>
struct by_weft {
  weft_pair<F> pair;
  remote_place place = pair.there.at(0);
  std::array<local_memory, 2> two{pair.source.first(half), pair.source.slice(half, half)};
  std::size_t size = most;
  std::uint32_t immediate = 1;  // known when the program runs
  std::uint64_t ended = 0, arrived = 0;
  by_weft(const channel& to, bool first) : pair(to, first, most) {}

  [[gnu::always_inline]] bool put_notify() { return bool(pair.net.put_notify(pair.other, pair.source.first(size), place, immediate)); }
  [[gnu::always_inline]] bool put_notify_signalled() {
    return bool(pair.net.put_notify(pair.other, pair.source.first(size), place, immediate, this));
  }
  [[gnu::always_inline]] bool put_two() { return bool(pair.net.put(pair.other, two, place)); }
  [[gnu::always_inline]] bool put_notify_two() { return bool(pair.net.put_notify(pair.other, two, place, immediate)); }
  [[gnu::always_inline]] bool get_two() { return bool(pair.net.get(pair.other, two, place, this)); }
  [[gnu::always_inline]] bool put_visible() {
    if constexpr (reached_by<F, visible>::native || reached_by<F, visible>::emulated)
      return bool(pair.net.put(pair.other, pair.source.first(size), place, until<visible>(this)));
    else return false;
  }
  [[gnu::always_inline]] bool flush() {
    if constexpr (!std::same_as<answer<F, flush_family>, flush::refused>) return bool(pair.net.flush(pair.other, this));
    else return false;
  }
  [[gnu::always_inline]] bool batch() {
    auto b = pair.net.batch(pair.other);
    bool taken = true;
    for (int i = 0; i < members; ++i) taken &= bool(b.put_notify(pair.source.first(size), place, immediate));
    return bool(b.close()) && taken;
  }
  [[gnu::always_inline]] bool fetch_add_float() { return bool(pair.net.template fetch_add<float>(pair.other, place, 0.5F, this)); }
  bool say() { return bool(pair.net.send(pair.other, pair.source.first(size))); }
  [[gnu::always_inline]] int look() {
    return pair.net.progress(overloaded{[this](const completed&) { ++ended; }, [this](const notified&) { ++arrived; },
                                        [this](const received&) { ++arrived; }, [](auto&&) {}});
  }
};

/// The same by hand. The end is kept by a pointer, since it must not move and what has it may, as a transport.
template <class Use = tuned_use>
struct by_hand {
  using raw = raw_asked<fabric, native, Use>;
  std::unique_ptr<raw> end;
  typename raw::handle other = end->other;
  typename raw::memory source = end->source;
  typename raw::place there = end->there;
  std::array<typename raw::memory, 2> two{typename raw::memory{source.data, half, source.descriptor},
                                          typename raw::memory{source.data + half, half, source.descriptor}};
  std::size_t size = most;
  std::uint32_t immediate = 1;  // known when the program runs
  std::uint64_t ended = 0, arrived = 0;
  by_hand(const channel& to, bool first) : end(std::make_unique<raw>(to, first, most)) {}

  bool put_notify() { return end->put_notify(other, source, size, there, immediate) == 0; }
  [[gnu::always_inline]] bool put_notify_fused() { return end->fused(other, source, size, there, immediate) == 0; }
  [[gnu::always_inline]] bool put_notify_fused_signalled() { return end->fused(other, source, size, there, immediate, this) == 0; }
  [[gnu::always_inline]] bool put_two() { return end->template put<false>(other, two, there, 0) == 0; }
  [[gnu::always_inline]] bool put_notify_two() { return end->template put<true>(other, two, there, immediate) == 0; }
  [[gnu::always_inline]] bool get_two() { return end->get(other, two, there, this) == 0; }
  [[gnu::always_inline]] bool put_visible() { return end->put_delivered(other, source, size, there, this) == 0; }
  [[gnu::always_inline]] bool flush() { return end->flush(other, this) == 0; }
  [[gnu::always_inline]] bool fetch_add_float() { return end->fetch_add(other, there, 0.5F, this) == 0; }
  [[gnu::always_inline]] bool batch() {
    typename raw::batch b(*end, other);
    bool taken = true;
    for (int i = 0; i < members; ++i) taken &= b.put_notify(source, size, there, immediate) == 0;
    return b.close() == 0 && taken;
  }
  bool say() { return end->say(other, size) == 0; }
  [[gnu::always_inline]] int look() {
    return end->look([this](auto, auto, void*, std::uint64_t) { ++ended; }, [this](auto, std::uint32_t) { ++arrived; },
                     [this](auto, const std::byte*, std::size_t) { ++arrived; });
  }
};

/// A put over two rails, of two pages each.
struct by_rails {
  static constexpr std::size_t page = 64;
  rails<fabric> net;
  striped_region memory;
  striped_peer other;
  remote_striped_region there;
  std::uint64_t ended = 0, arrived = 0;
  by_rails(const channel& to, bool first) : net(opened(first)), memory(sure(net.allocate(4 * page, rights::all))) {
    if (!first) to.tell(net.where());
    other = first ? sure(net.connect(to.hear(), 10s)) : sure(net.accept_one(10s));
    const auto mine = net.publish(memory, owner_polls);
    const std::string theirs = to.swap(first, {reinterpret_cast<const char*>(mine.data()), mine.size()}, [this] { look(); });
    there = sure(net.parse_region({reinterpret_cast<const std::byte*>(theirs.data()), theirs.size()}));
  }
  static rails<fabric> opened(bool first) {
    rails_options o{.nodes = {home(), home()}, .page_bytes = page, .transfers = 8};
    o.each.listens = !first;
    return sure(rails<fabric>::open(o));
  }
  [[gnu::always_inline]] bool put_striped() { return bool(net.put(other, memory.first(4 * page), there.at(0), this)); }
  int look() {
    return net.progress(overloaded{[this](const completed&) { ++ended; }, [this](const notified&) { ++arrived; }, [](auto&&) {}});
  }
};

struct by_hand_rails {
  static constexpr std::size_t page = by_rails::page;
  raw_striped<fabric> end;
  std::size_t size = 4 * page;
  std::uint64_t ended = 0, arrived = 0;
  by_hand_rails(const channel& to, bool first) : end(to, first, 2, 4 * page, page) {}
  [[gnu::always_inline]] bool put_striped() { return end.put(end.other, end.source, 0, size, end.there, 0, this) == 0; }
  int look() {
    return end.look([this](auto, auto, void*, int) { ++ended; });
  }
};

template <class Contender, bool (Contender::*Operation)(), int posts>
[[gnu::noinline]] int measured_post(Contender& c) {
  int refused = 0;
  for (int i = 0; i < posts; ++i) refused += !(c.*Operation)();
  return refused;
}
template <class Contender>
[[gnu::noinline]] int measured_look(Contender& c) {
  return c.look();
}

struct tally {
  std::uint64_t operations = 0, refused = 0, empty = 0;
};
template <class Contender>
void settle(Contender& c) {
  for (int i = 0; i < 8; ++i) {
    usleep(2000);
    c.look();
  }
}
/// How an operation is counted. What is not measured is compiled once for a contender, not for each of its operations.
template <class Contender>
struct way {
  int (*measured)(Contender&);
  int counts;      ///< Operations that one call of it is.
  bool signalled;  ///< Its end is waited for.
};
template <class Contender>
tally post(Contender& c, int visits, way<Contender> w) {
  tally t;
  if constexpr (requires { c.put_notify(); })
    while (!c.put_notify()) c.look();  // some libraries connect at the first post
  settle(c);
  for (int v = 0; v < visits; ++v, t.operations += static_cast<std::uint64_t>(w.counts)) {
    const std::uint64_t before = c.ended;
    const auto refused = static_cast<std::uint64_t>(w.measured(c));
    t.refused += refused;
    while (w.signalled && refused == 0 && c.ended == before) c.look();
    settle(c);
  }
  return t;
}
/// Looks that find one message.
template <class Contender>
tally hear(Contender& c, const channel& to, int visits) {
  tally t;
  settle(c);
  for (int v = 0; v < visits; ++v, ++t.operations) {
    const std::uint64_t before = c.arrived;
    to.tell("message");
    to.hear();  // it is said: the first look has it where the other side's library keeps nothing back
    do t.empty += measured_look(c) == 0;
    while (c.arrived == before);
  }
  return t;
}

/// One side: the first measures, the second makes progress, and says a message when it is asked for one.
template <class Contender, class Measure>
int side(const channel& to, bool first, Measure&& measure) {
  Contender c(to, first);
  if (!first) {
    while (to.hear([&] { c.look(); }) == "message")
      if constexpr (requires { c.say(); }) {
        while (!c.say()) c.look();
        to.tell("said");
      }
    to.tell("done");
    return 0;
  }
  const tally t = measure(c, to);
  std::printf("%s\n", json{{"operations", t.operations}, {"refused", t.refused}, {"empty", t.empty}}.dump().c_str());
  to.tell("over");
  to.hear([&] { c.look(); });
  return t.refused == 0 ? 0 : 1;
}
template <class Contender, class Measure>
int both(Measure&& measure) {
  return two_processes(
      120, [&](const channel& to) { return side<Contender>(to, true, measure); },
      [&](const channel& to) { return side<Contender>(to, false, measure); });
}
template <class Contender>
int posts_of(int visits, way<Contender> w) {
  return both<Contender>([visits, w](Contender& c, const channel&) { return post<Contender>(c, visits, w); });
}
/// `each`: what one call counts for. `signalled`, or more than one: one call a visit.
template <class Contender, bool (Contender::*Operation)(), bool signalled, int each = 1>
int posts(int visits) {
  constexpr int calls = signalled || each > 1 ? 1 : 16;
  return posts_of<Contender>(visits, {&measured_post<Contender, Operation, calls>, calls * each, signalled});
}
template <class Contender>
int messages(int visits) {
  return both<Contender>([visits](Contender& c, const channel& to) { return hear(c, to, visits); });
}

using runner = int (*)(int visits);
constexpr int absent = 77;
[[maybe_unused]] int no_such(int /*visits*/) { return absent; }

template <class Asked>
runner with_receives() {
  if constexpr (can_answer<fabric, Asked>) return messages<by_weft<with<fabric, Asked>>>;
  else return no_such;
}
runner with_pool_by_hand() {
  if constexpr (fabric::facts.shared_receives && fabric::facts.endpoint_type == endpoint_type::connected) return messages<by_hand<pooled_use>>;
  else return no_such;
}

/// weft's, then the contender's. Large buffers of many messages have none.
std::map<std::string, std::pair<runner, runner>> all_operations() {
  using weft_end = by_weft<fabric>;
  using hand_end = by_hand<>;
  using fused_end = by_weft<fused<fabric>::type>;
  return {
      {"put_two", {posts<weft_end, &weft_end::put_two, false>, posts<hand_end, &hand_end::put_two, false>}},
      {"put_notify_two", {posts<weft_end, &weft_end::put_notify_two, false>, posts<hand_end, &hand_end::put_notify_two, false>}},
      {"get_two", {posts<weft_end, &weft_end::get_two, true>, posts<hand_end, &hand_end::get_two, true>}},
      {"put_visible", {posts<weft_end, &weft_end::put_visible, true>, posts<hand_end, &hand_end::put_visible, true>}},
      {"flush", {posts<weft_end, &weft_end::flush, true>, posts<hand_end, &hand_end::flush, true>}},
      {"batch", {posts<weft_end, &weft_end::batch, false, members>, posts<hand_end, &hand_end::batch, false, members>}},
      {"fetch_add_float", {posts<weft_end, &weft_end::fetch_add_float, true>, posts<hand_end, &hand_end::fetch_add_float, true>}},
      {"fused_put_notify", {posts<fused_end, &fused_end::put_notify, false>, posts<hand_end, &hand_end::put_notify_fused, false>}},
      {"fused_put_notify_signalled",
       {posts<fused_end, &fused_end::put_notify_signalled, true>, posts<hand_end, &hand_end::put_notify_fused_signalled, true>}},
      {"put_striped", {posts<by_rails, &by_rails::put_striped, true>, posts<by_hand_rails, &by_hand_rails::put_striped, true>}},
      {"hear_slots", {messages<weft_end>, messages<hand_end>}},
      {"hear_large_buffers", {with_receives<receive_buffers::multi_receive>(), no_such}},
      {"hear_pool", {with_receives<receive_pool::shared>(), with_pool_by_hand()}},
  };
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One operation made of several, of one contender, for an instruction count under callgrind");
  std::string what = "put_two", who = "weft";
  int visits = 20;
  const auto operations = all_operations();
  std::vector<std::string> names;
  for (const auto& each : operations) names.push_back(each.first);
  app.add_option("--operation", what)->check(CLI::IsMember(names));
  app.add_option("--contender", who)->check(CLI::IsMember({"weft", "by_hand"}));
  app.add_option("--visits", visits, "How often the measured function is entered")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const auto& [weft_way, hand_way] = operations.at(what);
  return (who == "weft" ? weft_way : hand_way)(visits);
}
