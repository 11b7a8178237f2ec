// SPDX-License-Identifier: Apache-2.0
//
// The same ping-pong by weft.h and by the set of fabrics in C++, in one run: both processes hold both, and the two take
// turns. Then the least time of single calls, which a busy machine does not change. WEFT_FABRICS names the fabric.
// Build with optimisation: `release`. Hot path: pingpong.hpp, least_of. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"

#include <weft/weft.h>

#include <array>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;

constexpr std::uint64_t ten_seconds = 10'000'000'000;

/// One end through the C interface. Every post asks for its end, or none does, as in weft_end.
class c_end {
 public:
  static constexpr bool tells_immediate = true;

  c_end(const channel& to, bool first, std::size_t size) {
    weft_options o = WEFT_OPTIONS;
    const std::string node = home();
    o.node = node.c_str();
    o.flags = first ? 0 : WEFT_LISTENS;
    sure(weft_open(&o, &net_));
    sure(weft_allocate(net_, size + 64, WEFT_REMOTE_WRITE, &landing_));
    sure(weft_allocate(net_, size + 64, 0, &source_));
    sure(weft_memory(net_, landing_, &into_, nullptr));
    sure(weft_memory(net_, source_, &from_, nullptr));
    weft_peer peer = nullptr;
    const char* address = nullptr;
    sure(weft_listen_address(net_, &address));
    if (!first) to.send_text(address);
    sure(first ? weft_connect(net_, to.receive_text().c_str(), nullptr, 0, ten_seconds, &peer)
               : weft_accept_one(net_, ten_seconds, &peer));
    while (true) {
      const int sent = weft_send_region(net_, peer, landing_);
      if (sent != WEFT_AGAIN) {
        sure(sent);
        break;
      }
      poll();
    }
    sure(weft_receive_region(net_, peer, ten_seconds, &there_));
  }
  ~c_end() { (void)weft_close(net_); }
  c_end(const c_end&) = delete;
  c_end& operator=(const c_end&) = delete;

  std::byte* outgoing() noexcept { return static_cast<std::byte*>(from_); }
  const std::byte* incoming() const noexcept { return static_cast<const std::byte*>(into_); }
  std::uint64_t ended() const noexcept { return ended_; }
  std::uint32_t immediate() const noexcept { return immediate_; }

  template <ending M>
  bool post(std::size_t size, std::uint32_t immediate) {
    const int s =
        weft_put_notify(net_, {source_, 0, size}, {there_, 0}, immediate, 1, M == ending::unsignalled ? WEFT_QUIET : 0);
    if (s != WEFT_AGAIN) sure(s);
    return s == WEFT_OK;
  }
  /// Makes progress, whatever comes: the other side may have left already.
  void drain() noexcept { (void)weft_poll(net_, events_.data(), static_cast<std::uint32_t>(events_.size())); }
  bool put(std::size_t size) noexcept {
    return weft_put(net_, {source_, 0, size}, {there_, 0}, 0, WEFT_QUIET) == WEFT_OK;
  }
  int poll() {
    const int found = weft_poll(net_, events_.data(), static_cast<std::uint32_t>(events_.size()));
    sure(found);
    int arrived = 0;
    for (int i = 0; i < found; ++i) {
      const weft_event& e = events_[static_cast<std::size_t>(i)];
      if (e.kind == WEFT_NOTIFIED) immediate_ = e.immediate, ++arrived;
      else if (e.kind == WEFT_COMPLETED) ++ended_;
      else if (e.text != nullptr) throw std::runtime_error(e.text);
    }
    return arrived;
  }

 private:
  void sure(int status) const {
    if (status < 0) throw std::runtime_error(weft_last_sentence(net_));
  }
  weft_transport net_ = nullptr;
  weft_region landing_ = nullptr, source_ = nullptr;
  weft_remote there_ = nullptr;
  void* into_ = nullptr;
  void* from_ = nullptr;
  std::array<weft_event, 16> events_{};
  std::uint64_t ended_ = 0;
  std::uint32_t immediate_ = 0;
};

template <ending M, class End, class Other>
void turn(bool first, const run_options& o, End& end, samples& into, Other other) {
  pingpong<M, End, Other> p(end, o.plan(std::max<std::size_t>(1, o.count / o.turns)), other);
  first ? p.ask(into) : p.answer();
}
template <class End, class Other>
void check(bool first, const run_options& o, End& end, Other other) {
  pingpong<ending::unsignalled, End, Other> p(end, o.plan(16), other);
  first ? p.ask_checked(16) : p.answer_checked(16);
}

/// Nanoseconds of a call, in C and in C++: of each the least mean of many short batches. `between` empties queues.
template <class InC, class InCpp, class Between>
std::pair<double, double> least_of(InC&& in_c, InCpp&& in_cpp, Between&& between) {
  constexpr int calls = 64;
  double least_c = 1e9, least_cpp = 1e9;
  const auto batch = [&](auto& call, double& least) {
    bool all = true;
    const std::uint64_t before = now_ns();
    for (int i = 0; i < calls; ++i) all = call() && all;
    const double each = static_cast<double>(now_ns() - before) / calls;
    if (all) least = std::min(least, each);
    for (int i = 0; i < 2 * calls; ++i) between();
  };
  for (int i = 0; i < 2000; ++i) batch(in_c, least_c), batch(in_cpp, least_cpp);
  return {least_c, least_cpp};
}

int side(const channel& to, bool first, run_options o) {
  settle<fabric>(first, o);
  weft_pair<fabric> pair(to, first, o.size);
  weft_end<fabric, carrier::put_notify> in_cpp(pair);
  c_end in_c(to, first, o.size);
  const auto cpp_moves = [&] { pair.net.progress([](auto&&) {}); };
  const auto c_moves = [&] { in_c.poll(); };
  check(first, o, in_cpp, c_moves);
  check(first, o, in_c, cpp_moves);
  const auto between = [&]<ending M>(std::integral_constant<ending, M>) {
    return alternate(
        o.turns, [&](samples& s) { turn<M>(first, o, in_c, s, cpp_moves); },
        [&](samples& s) { turn<M>(first, o, in_cpp, s, c_moves); });
  };
  const std::pair<const char*, duel> all[] = {
      {"put_notify, quiet", between(std::integral_constant<ending, ending::unsignalled>())},
      {"put_notify", between(std::integral_constant<ending, ending::signalled>())}};
  std::pair<double, double> polls, puts;
  if (first) {
    const auto both = [&] { cpp_moves(), in_c.drain(); };
    const auto polled = [](auto& end) { return end.poll() == 0; };
    polls = least_of([&] { return polled(in_c); }, [&] { return polled(in_cpp); }, [] {});
    const remote_place at = pair.there.at(0);
    puts = least_of([&] { return in_c.put(8); },
                    [&] { return bool(pair.net.put(pair.other, pair.source.first(8), at)); }, both);
  }
  to.part(first, [&] { cpp_moves(), in_c.drain(); });
  if (!first) return 0;
  json lines = json::array();
  for (const auto& [name, found] : all)
    lines.push_back({{"scenario", name},
                     {"c_ns", percentiles(found.ours)},
                     {"cpp_ns", percentiles(found.theirs)},
                     {"ratio", found.compared.report()}});
  for (const auto& [name, found] : {std::pair{"poll of nothing", polls}, std::pair{"put of 8 bytes, the call", puts}})
    lines.push_back({{"scenario", name},
                     {"c_ns", {{"p50", std::round(found.first * 10) / 10}}},
                     {"cpp_ns", {{"p50", std::round(found.second * 10) / 10}}},
                     {"ratio", {{"median", std::round(found.first / found.second * 1000) / 1000}}}});
  if (o.json.empty())
    for (const json& s : lines)
      std::printf("%-26s C %8s ns   C++ %8s ns   ratio %s\n", s["scenario"].get<std::string>().c_str(),
                  s["c_ns"]["p50"].dump().c_str(), s["cpp_ns"]["p50"].dump().c_str(), s["ratio"].dump().c_str());
  return write_json({{"size", o.size}, {"count", o.count}, {"scenarios", lines}}, o.json) ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  if (const int wrong = o.parse(argc, argv, "weft.h and the set of fabrics in C++, taking turns", true); wrong >= 0)
    return wrong;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, o); },
      [&](const channel& to) { return side(to, false, o); });
}
