// SPDX-License-Identifier: Apache-2.0
//
// The same ping-pong by weft.h and by the set of fabrics in C++, in one run: both processes hold both, and the two take
// turns. WEFT_FABRICS names the fabric. Build with optimisation: `release`. Hot path: pingpong.hpp. Threads: one per
// process.
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
  to.part(first, [&] { cpp_moves(), c_moves(); });
  if (!first) return 0;
  json lines = json::array();
  for (const auto& [name, found] : all)
    lines.push_back({{"scenario", name},
                     {"c_ns", found.ours.percentiles()},
                     {"cpp_ns", found.theirs.percentiles()},
                     {"ratio", found.compared.report()}});
  if (o.json.empty())
    for (const json& s : lines)
      std::printf("%-18s C %6s ns   C++ %6s ns   ratio %s (%s to %s)\n", s["scenario"].get<std::string>().c_str(),
                  s["c_ns"]["p50"].dump().c_str(), s["cpp_ns"]["p50"].dump().c_str(),
                  s["ratio"]["median"].dump().c_str(), s["ratio"]["low"].dump().c_str(),
                  s["ratio"]["high"].dump().c_str());
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
