// SPDX-License-Identifier: Apache-2.0
//
// What perftest's programs measure, by weft's transport: the same exchange, the same kind of notice, one figure.
// bench/verbs/run takes turns with them.
// - write_lat: both sides put, and watch the last byte of their own memory (ib_write_lat); half a round trip.
// - send_lat: both sides send messages (ib_send_lat); half a round trip.
// - atomic_lat: one side adds, one addition after another (ib_atomic_lat).
// - write_bw: one side puts as many as the queue takes (ib_write_bw).
// Hot path: the loops. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"

#include <string_view>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = weft::selected;
using pair = weft_pair<fabric>;

/// A loop that yields now and then, and ends a run in which nothing happens.
class patient {
 public:
  explicit patient(pair& of) : of_(of) {}
  template <class Done, class Handler>
  void until(Done&& done, Handler&& on) {
    std::uint64_t looks = 0, begin = 0;
    while (!done()) {
      spin_.polled(of_.net.progress(on) > 0);
      if (++looks % 4096 != 0) continue;
      if (begin == 0) begin = now_ns();
      if (now_ns() - begin > 30'000'000'000U) throw std::runtime_error("nothing came for 30 s");
    }
    spin_.polled(true);
  }

 private:
  pair& of_;
  spinner spin_{patience{fruitless::yield, 64}};
};

[[noreturn]] void fail(const char* what, status why) {
  throw std::runtime_error(std::string("weft: ") + what + " failed: kind " +
                           std::to_string(static_cast<int>(why.code)) + ", number " + std::to_string(why.native_code) +
                           " of " + why.operation);
}
const auto ignore = overloaded{[](const failed& f) { fail("an operation", f.why); },
                               [](const lost& l) { fail("the peer", l.why); }, [](auto&&) {}};

/// Retries until there is room.
template <class Post>
void posted(pair& p, Post&& post) {
  patient spin(p);
  status s;
  spin.until([&] { return !(s = post()).is_again(); }, ignore);
  if (!s) fail("a post", s);
}

void write_round(pair& p, bool first, std::size_t size, unsigned round) {
  const auto mark = static_cast<std::byte>(round % 250 + 1);
  const volatile std::byte* watched = p.landing.data() + size - 1;
  const auto put = [&] {
    p.source.data()[size - 1] = mark;
    posted(p, [&] { return p.net.put(p.other, p.source.first(size), p.there.at(0)); });
  };
  if (first) put();
  patient(p).until([&] { return *watched == mark; }, ignore);
  if (!first) put();
}

void send_round(pair& p, bool first, std::size_t size, unsigned) {
  bool came = false;
  const auto send = [&] { posted(p, [&] { return p.net.send(p.other, p.source.first(size)); }); };
  if (first) send();
  patient(p).until([&] { return came; },
                   overloaded{[&](const received&) { came = true; }, [](const failed& f) { fail("send", f.why); },
                              [](const lost& l) { fail("the peer", l.why); }, [](auto&&) {}});
  if (!first) send();
}

void add_round(pair& p) {
  bool ended = false;
  posted(p, [&] { return p.net.fetch_add(p.other, p.there.at(0), 1, &ended); });
  patient(p).until([&] { return ended; }, overloaded{[&](const completed&) { ended = true; },
                                                     [](const failed& f) { fail("fetch_add", f.why); },
                                                     [](const lost& l) { fail("the peer", l.why); }, [](auto&&) {}});
}

double put_megabytes_per_second(pair& p, std::size_t size, std::size_t count) {
  std::size_t sent = 0, ended = 0;
  const auto on = overloaded{[&](const completed&) { ++ended; }, [](const failed& f) { fail("put", f.why); },
                             [](const lost& l) { fail("the peer", l.why); }, [](auto&&) {}};
  const std::uint64_t begin = now_ns();
  patient(p).until(
      [&] {
        while (sent < count && sent - ended < 128 && p.net.put(p.other, p.source.first(size), p.there.at(0), &ended))
          ++sent;
        return ended >= count;
      },
      on);
  return static_cast<double>(size * count) * 1e3 / static_cast<double>(now_ns() - begin) / 1.048576;
}

/// The initiating side's figure: microseconds, or mebibytes per second.
double measured(pair& p, bool first, std::string_view kind, const run_options& o) {
  samples taken(o.count);
  for (std::size_t i = 0; i < o.count + o.count / 10; ++i) {
    const std::uint64_t begin = now_ns();
    if (kind == "write_lat") write_round(p, first, o.size, static_cast<unsigned>(i));
    else if (kind == "send_lat") send_round(p, first, o.size, static_cast<unsigned>(i));
    else if (first) add_round(p);
    if (i >= o.count / 10) taken.add(now_ns() - begin);
  }
  return static_cast<double>(taken.percentile(.5)) / (kind == "atomic_lat" ? 1e3 : 2e3);
}

int side(const channel& to, bool first, const std::string& kind, const run_options& o) {
  pair p(to, first, std::max<std::size_t>(o.size, 64));
  double value = 0;
  if (kind != "write_bw") value = measured(p, first, kind, o);
  else if (first) value = put_megabytes_per_second(p, o.size, o.count);
  to.part(first, [&] { p.net.progress([](auto&&) {}); });
  if (first) std::printf("%s %.3f\n", kind.c_str(), value);
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  run_options o;
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind != "write_lat" && kind != "send_lat" && kind != "atomic_lat" && kind != "write_bw") {
    std::fprintf(stderr, "name what to measure first: write_lat, send_lat, atomic_lat or write_bw\n");
    return 2;
  }
  if (const int wrong = o.parse(argc - 1, argv + 1, "weft's transport, measured as perftest measures"); wrong >= 0)
    return wrong;
  return two_processes(
      o.limit, [&](const channel& to) { return side(to, true, kind, o); },
      [&](const channel& to) { return side(to, false, kind, o); });
}
