// SPDX-License-Identifier: Apache-2.0
//
// Posts of operations that are made of several posts or pieces, for an instruction count (bench/instructions/composed;
// composed_ends.hpp). Where one call of the library means the same, a contender by hand makes it. Every run of the
// tests builds this file on tcp, so each addition is compiled there. Hot path: the measured functions. Threads: one per
// process.
#include "../../compose/rails/rails.hpp"
#include "../../compose/with.hpp"
#include "composed_ends.hpp"
#include "raw_striped.hpp"

namespace {
using namespace weft;
using namespace weft::bench;

template <class F>
struct fused {
  using type = F;
};
template <class F>
requires(can_answer<F, answers::notify::message_after_delivery>) struct fused<F> {
  using type = fused_up_to<with<F, answers::notify::message_after_delivery>,
                           std::min(std::size_t{100}, raw_asked<fabric, native>::fused_most)>;
};

/// Puts over two rails: of four pages, and of a page on each. shm takes one delivered write of an endpoint at a time,
/// so three of the four wait.
struct by_rails {
  static constexpr std::size_t page = 64, size = 4 * page;
  rails<fabric> net;
  striped_region memory;
  striped_peer other;
  remote_striped_region there;
  std::size_t each = 2 * page;  // known at run time only
  events counted;
  by_rails(const channel& to, bool first) : net(opened(first)), memory(sure(net.allocate(size, rights::all))) {
    if (!first) to.send_text(net.listen_address());
    other = first ? sure(net.connect(to.receive_text(), 10s, counted)) : sure(net.accept_one(10s, counted));
    const auto mine = net.export_region(memory, owner_polls);
    const std::string theirs = swapped(to, first, mine, [this] { poll_once(); });
    there = sure(net.parse_region(bytes_of(theirs)));
  }
  static rails<fabric> opened(bool first) {
    rails_options o{.nodes = {home(), home()}, .page_bytes = page, .transfers = 8};
    o.each.listens = !first;
    return sure(rails<fabric>::open(o));
  }
  [[gnu::always_inline]] bool put_striped() { return bool(net.put(other, memory.first(size), there.at(0), this)); }
  [[gnu::always_inline]] bool put_page_each() { return bool(net.put(other, memory.first(each), there.at(0), this)); }
  int poll_once() { return net.progress(counted); }
};

struct by_hand_rails {
  raw_striped<fabric> end;
  std::size_t size = by_rails::size, each = 2 * by_rails::page;
  events counted;
  by_hand_rails(const channel& to, bool first) : end(to, first, 2, by_rails::size, by_rails::page) {}
  [[gnu::always_inline]] bool put_striped() { return end.put(end.other, end.source, 0, size, end.there, 0, this) == 0; }
  [[gnu::always_inline]] bool put_page_each() {
    return end.put(end.other, end.source, 0, each, end.there, 0, this) == 0;
  }
  int poll_once() {
    return end.poll_once([this](auto, auto, void*, int) { ++counted.ended; });
  }
};

template <class Contender, bool (Contender::*Operation)(), int posts>
[[gnu::noinline]] int measured_post(Contender& c) {
  int refused = 0;
  for (int i = 0; i < posts; ++i) refused += !(c.*Operation)();
  return refused;
}

/// How an operation is counted.
template <class Contender>
struct way {
  std::string_view name;
  int (*measured)(Contender&);
  int counts;      ///< Operations that one call counts for.
  bool signalled;  ///< The run waits for its completion.
};
/// `each`: what one call counts for. `signalled`, or more than one: one call a visit.
template <class Contender, bool (Contender::*Operation)(), bool signalled, int each = 1>
constexpr way<Contender> post(std::string_view name) {
  constexpr int calls = signalled || each > 1 ? 1 : 16;
  return {name, &measured_post<Contender, Operation, calls>, calls * each, signalled};
}
/// callgrind begins another part of its profile after each return, so that one run counts all operations of an end.
template <class Contender>
[[gnu::noinline]] tally counted_part(Contender& c, int visits, const way<Contender>& w) {
  tally t;
  for (int v = 0; v < visits; ++v, t.operations += static_cast<std::uint64_t>(w.counts)) {
    const std::uint64_t before = c.counted.ended;
    const auto refused = static_cast<std::uint64_t>(w.measured(c));
    t.refused += refused;
    while (w.signalled && refused == 0 && c.counted.ended == before) c.poll_once();
    settle(c);
  }
  return t;
}
template <class Contender>
std::uint64_t count(Contender& c, std::span<const way<Contender>> ways, int visits, names asked) {
  if constexpr (requires { c.put_striped(); }) {  // some libraries connect at the first post
    (void)c.put_striped();
    while (c.counted.ended == 0) c.poll_once();
  } else {
    while (!c.put_notify()) c.poll_once();
  }
  settle(c);
  std::uint64_t refused = 0;
  for (const std::string_view what : asked)
    for (const way<Contender>& w : ways)
      if (w.name == what) {
        const tally t = counted_part(c, visits, w);
        say(what, t);
        refused += t.refused;
      }
  return refused;
}
template <const auto& ways>
int posts_of(int visits, names asked) {
  using contender = typename decltype([]<class C>(const way<C>&) { return std::type_identity<C>{}; }(ways[0]))::type;
  return both<contender>([=](contender& c, const channel&) { return count<contender>(c, ways, visits, asked); });
}

using weft_end = by_weft<fabric>;
constexpr way<weft_end> by_weft_alone[] = {
    post<weft_end, &weft_end::put_two, false>("put_two"),
    post<weft_end, &weft_end::put_notify_two, false>("put_notify_two"),
    post<weft_end, &weft_end::get_two, true>("get_two"),
    post<weft_end, &weft_end::put_visible, true>("put_visible"),
    post<weft_end, &weft_end::flush, true>("flush"),
    post<weft_end, &weft_end::batch, false, members>("batch"),
    post<weft_end, &weft_end::fetch_add_float, true>("fetch_add_float"),
};
using fused_end = by_weft<fused<fabric>::type>;
constexpr way<fused_end> by_weft_fused[] = {
    post<fused_end, &fused_end::put_notify_fused, false>("fused_put_notify"),
    post<fused_end, &fused_end::put_notify_fused_signalled, true>("fused_put_notify_signalled"),
};
constexpr way<by_rails> by_weft_on_rails[] = {post<by_rails, &by_rails::put_striped, true>("put_striped"),
                                              post<by_rails, &by_rails::put_page_each, true>("put_page_each")};

using hand_end = by_hand<>;
constexpr way<hand_end> by_hand_alone[] = {
    post<hand_end, &hand_end::put_two, false>("put_two"),
    post<hand_end, &hand_end::put_notify_two, false>("put_notify_two"),
    post<hand_end, &hand_end::get_two, true>("get_two"),
    post<hand_end, &hand_end::put_visible, true>("put_visible"),
    post<hand_end, &hand_end::flush, true>("flush"),
    post<hand_end, &hand_end::batch, false, members>("batch"),
    post<hand_end, &hand_end::fetch_add_float, true>("fetch_add_float"),
    post<hand_end, &hand_end::put_notify_fused, false>("fused_put_notify"),
    post<hand_end, &hand_end::put_notify_fused_signalled, true>("fused_put_notify_signalled"),
};
constexpr way<by_hand_rails> by_hand_on_rails[] = {
    post<by_hand_rails, &by_hand_rails::put_striped, true>("put_striped"),
    post<by_hand_rails, &by_hand_rails::put_page_each, true>("put_page_each")};

constexpr counted_operation operations[] = {
    {"put_two", posts_of<by_weft_alone>, posts_of<by_hand_alone>},
    {"put_notify_two", posts_of<by_weft_alone>, posts_of<by_hand_alone>},
    {"get_two", posts_of<by_weft_alone>, posts_of<by_hand_alone>},
    {"put_visible", posts_of<by_weft_alone>, posts_of<by_hand_alone>},
    {"flush", posts_of<by_weft_alone>, posts_of<by_hand_alone>},
    {"batch", posts_of<by_weft_alone>, posts_of<by_hand_alone>},
    {"fetch_add_float", posts_of<by_weft_alone>, posts_of<by_hand_alone>},
    {"fused_put_notify", posts_of<by_weft_fused>, posts_of<by_hand_alone>},
    {"fused_put_notify_signalled", posts_of<by_weft_fused>, posts_of<by_hand_alone>},
    {"put_striped", posts_of<by_weft_on_rails>, posts_of<by_hand_on_rails>},
    {"put_page_each", posts_of<by_weft_on_rails>, posts_of<by_hand_on_rails>},
};
}  // namespace

int main(int argc, char** argv) { return run_asked(operations, {argv, static_cast<std::size_t>(argc)}); }
