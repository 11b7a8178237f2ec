// SPDX-License-Identifier: Apache-2.0
//
// The two ends, weft's and the contender's, of operations made of several posts or pieces (composed.cpp) and of polls
// that find messages (heard.cpp); and how two processes run one operation. As in instructions.cpp callgrind collects
// only inside functions named measured_*. All polls of weft's end have one type of handler, also while connecting: for
// each further type the compiler would compile the path of every event again. Hot path: the operations and poll_once().
// Threads: one per process.
#pragma once

#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"
#include "../two_processes.hpp"
#include "raw_asked.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::bench {

using fabric = weft::selected;
constexpr bool native = !answer<fabric, atomics_family>::executed_by_target;
constexpr std::size_t half = 32, most = 2 * half;
/// For a notice that carries its bytes.
constexpr std::size_t fused_most = std::min(most, raw_asked<fabric, native>::fused_most);
constexpr int members = 16;

/// The value of a set-up call, or an exception with its sentence.
template <class T>
T sure(result<T> r) {
  if (!r) throw std::runtime_error(r.error().sentence);
  return std::move(r).value();
}

/// What the handlers of an end have received.
struct events {
  std::uint64_t ended = 0, arrived = 0;
  bool stands = false;
  peer asked{};
  void operator()(const completed& /*unused*/) { ++ended; }
  void operator()(const notified& /*unused*/) { ++arrived; }
  void operator()(const received& /*unused*/) { ++arrived; }
  void operator()(const requested& r) { asked = r.peer; }
  void operator()(const connected& /*unused*/) { stands = true; }
  void operator()(const failed& /*unused*/) {}
  void operator()(const lost& l) {
    if (l.why.code != errc::closed) throw std::runtime_error(std::string("weft: the peer is lost: ") + l.why.operation);
  }
};

/// Exchanges descriptions of regions over the side channel.
template <class Look>
std::string swapped(const channel& to, bool first, const_bytes mine, Look&& look) {
  return to.swap(first, {reinterpret_cast<const char*>(mine.data()), mine.size()}, look);
}
inline const_bytes bytes_of(const std::string& s) { return {reinterpret_cast<const std::byte*>(s.data()), s.size()}; }

/// weft, through its public calls. `F`: the fabric, or the fabric with another answer.
template <class F>
class by_weft {
 public:
  by_weft(const channel& to, bool first)
      : net(sure(open<F>({.node = home(), .listens = !first, .max_message_bytes = 4096}))),
        landing_(sure(net.allocate(most + 64, rights::all))),
        source_(sure(net.allocate(most + 64, rights::none))) {
    if (first) meet(to);
    else be_met(to);
    const region_bytes mine = net.export_region(landing_, owner_polls);
    const std::string theirs = swapped(to, first, mine, [this] { poll_once(); });
    place_ = sure(net.parse_region(bytes_of(theirs))).at(0);
  }

  [[gnu::always_inline]] bool put_notify() {
    return bool(net.put_notify(other_, source_.first(size), place_, immediate));
  }
  [[gnu::always_inline]] bool put_notify_fused() {
    return bool(net.put_notify(other_, source_.first(fused), place_, immediate));
  }
  [[gnu::always_inline]] bool put_notify_fused_signalled() {
    return bool(net.put_notify(other_, source_.first(fused), place_, immediate, this));
  }
  [[gnu::always_inline]] bool put_two() { return bool(net.put(other_, two_, place_)); }
  [[gnu::always_inline]] bool put_notify_two() { return bool(net.put_notify(other_, two_, place_, immediate)); }
  [[gnu::always_inline]] bool get_two() { return bool(net.get(other_, two_, place_, this)); }
  [[gnu::always_inline]] bool put_visible() {
    if constexpr (reached_by<F, states::visible>::native || reached_by<F, states::visible>::emulated)
      return bool(net.put(other_, source_.first(size), place_, completes_when<states::visible>(this)));
    else return false;
  }
  [[gnu::always_inline]] bool flush() {
    if constexpr (!std::same_as<answer<F, flush_family>, answers::flush::refused>) return bool(net.flush(other_, this));
    else return false;
  }
  [[gnu::always_inline]] bool batch() {
    auto b = net.batch(other_);
    bool taken = true;
    for (int i = 0; i < members; ++i) taken &= bool(b.put_notify(source_.first(size), place_, immediate));
    return bool(b.close()) && taken;
  }
  [[gnu::always_inline]] bool fetch_add_float() {
    return bool(net.template fetch_add<float>(other_, place_, 0.5F, this));
  }
  bool say() { return bool(net.send(other_, source_.first(size))); }
  [[gnu::always_inline]] int poll_once() { return net.progress(counted); }

  events counted;

 private:
  void meet(const channel& to) {
    other_ = sure(net.start_connect(to.receive_text()));
    while (!counted.stands) poll_once();  // two_processes ends both at the deadline
  }
  void be_met(const channel& to) {
    to.send_text(net.listen_address());
    while (!counted.asked) poll_once();
    other_ = counted.asked;
    if (!net.accept(other_)) throw std::runtime_error("the request was withdrawn");
  }

  transport<F> net;
  owned_region landing_, source_;
  peer other_;
  remote_place place_;
  std::array<local_memory, 2> two_{source_.first(half), source_.slice(half, half)};
  std::size_t size = most, fused = fused_most;
  std::uint32_t immediate = 1;  // known at run time only
};

/// The same by hand. A pointer keeps the end: the end must not move, and its owner may move, as a transport may.
template <class Use = tuned_use>
struct by_hand {
  using raw = raw_asked<fabric, native, Use>;
  std::unique_ptr<raw> end;
  typename raw::handle other = end->other;
  typename raw::memory source = end->source;
  typename raw::place there = end->there;
  std::array<typename raw::memory, 2> two{typename raw::memory{source.data, half, source.descriptor},
                                          typename raw::memory{source.data + half, half, source.descriptor}};
  std::size_t size = most, fused = fused_most;
  std::uint32_t immediate = 1;  // known at run time only
  events counted;
  by_hand(const channel& to, bool first) : end(std::make_unique<raw>(to, first, most)) {}

  bool put_notify() { return end->put_notify(other, source, size, there, immediate) == 0; }
  [[gnu::always_inline]] bool put_notify_fused() { return end->fused(other, source, fused, there, immediate) == 0; }
  [[gnu::always_inline]] bool put_notify_fused_signalled() {
    return end->fused(other, source, fused, there, immediate, this) == 0;
  }
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
  [[gnu::always_inline]] int poll_once() {
    return end->poll_once([this](auto, auto, void*, std::uint64_t) { ++counted.ended; },
                          [this](auto, std::uint32_t) { ++counted.arrived; },
                          [this](auto, const std::byte*, std::size_t) { ++counted.arrived; });
  }
};

struct tally {
  std::uint64_t operations = 0, refused = 0, empty = 0;
};
template <class Contender>
void settle(Contender& c) {
  for (int i = 0; i < 8; ++i) {
    usleep(2000);
    c.poll_once();
  }
}

/// Lines that bench/instructions/composed reads.
inline void say(std::string_view what, const tally& t) {
  std::printf(R"({"operation":"%s","operations":%llu,"refused":%llu,"empty":%llu})"
              "\n",
              what.data(), static_cast<unsigned long long>(t.operations), static_cast<unsigned long long>(t.refused),
              static_cast<unsigned long long>(t.empty));
}

/// One side. The first measures, and returns the number of refused posts. The second makes progress, and sends a
/// message on request.
template <class Contender, class Measure>
int side(const channel& to, bool first, Measure& measure) {
  Contender c(to, first);
  if (!first) {
    while (to.receive_text([&] { c.poll_once(); }) == "message")
      if constexpr (requires { c.say(); }) {
        while (!c.say()) c.poll_once();
        to.send_text("said");
      }
    to.send_text("done");
    return 0;
  }
  const std::uint64_t refused = measure(c, to);
  to.send_text("over");
  to.receive_text([&] { c.poll_once(); });
  return refused == 0 ? 0 : 1;
}
template <class Contender, class Measure>
int both(Measure&& measure) {
  return two_processes(
      120, [&](const channel& to) { return side<Contender>(to, true, measure); },
      [&](const channel& to) { return side<Contender>(to, false, measure); });
}

using names = std::span<const std::string_view>;
/// Runs operations of one end, and prints the count of each.
using runner = int (*)(int visits, names asked);
constexpr int absent = 77;
[[maybe_unused]] inline int no_such(int /*visits*/, names /*asked*/) { return absent; }
/// An operation, and the functions that run it for either contender.
struct counted_operation {
  std::string_view name;
  runner weft, hand;
};

/// `--operation NAME... --contender weft|by_hand --visits N`: runs operations of one end. Parsed by hand: the benches'
/// own parser takes longer to compile than the counted code.
inline int run_asked(std::span<const counted_operation> all, std::span<char* const> arguments) {
  std::vector<std::string_view> asked;
  std::string_view who;
  int visits = 20;
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    const std::string_view option = arguments[i];
    if (option == "--operation") asked.emplace_back(arguments[i + 1]);
    if (option == "--contender") who = arguments[i + 1];
    if (option == "--visits") visits = std::atoi(arguments[i + 1]);
  }
  runner chosen = nullptr;
  bool known = !asked.empty() && (who == "weft" || who == "by_hand") && visits > 0;
  for (const std::string_view what : asked) {
    const auto found =
        std::find_if(all.begin(), all.end(), [what](const counted_operation& each) { return each.name == what; });
    const runner runs = found == all.end() ? nullptr : who == "weft" ? found->weft : found->hand;
    known = known && runs != nullptr && (chosen == nullptr || chosen == runs);
    chosen = runs;
  }
  if (known) return chosen(visits, asked);
  std::fputs(
      "bench: give --operation (once or more, all of one end), --contender weft or by_hand, and --visits above 0; "
      "operations are",
      stderr);
  for (const counted_operation& each : all) std::fprintf(stderr, " %s", each.name.data());
  std::fputs("\n", stderr);
  return 2;
}

}  // namespace weft::bench
