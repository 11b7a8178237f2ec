// SPDX-License-Identifier: Apache-2.0
//
// What coalescing brings and costs. Rate: messages of 16 bytes one way, sent one by one, coalesced by
// coalesce::up_to<64, …>, and packed by hand, 64 in one send. Cost: the round trip of a lone message, which leaves only
// when a poll finds nothing to do. Messages are numbered, and the receiver checks each number. All senders have credit
// for equally many receives. Hot path: the loops. Threads: one per process.
#include "../../compose/coalescing.hpp"
#include "../../compose/selected.hpp"
#include "../command_line.hpp"
#include "../transport/weft_end.hpp"

#include <algorithm>
#include <array>

namespace {
using namespace weft;
using namespace weft::bench;

constexpr std::uint32_t each = 16, in_one = 64;
using plain = weft::selected;
using gathering = with<plain, answers::coalesce::up_to<in_one, answers::coalesce::bytes_for(in_one, each)>>;

enum class way : std::uint8_t { one_by_one, gathered, by_hand };
constexpr std::array<const char*, 3> names{"one by one", "coalesce::up_to<64, 1536>", "64 in one, by hand"};

struct settings {
  std::uint64_t count = 400'000;  ///< Messages of a turn; a twentieth of that one by one.
  std::uint32_t lone = 5'000;     ///< Round trips of a turn.
  std::size_t turns = 9;
  unsigned limit = 300;
  std::string json;
};

/// A transport, its one peer, and what was received.
template <class F>
class end {
 public:
  static constexpr std::uint32_t receives = 128, window = 96, per_credit = 32;  ///< Messages of the fabric.
  static constexpr std::uint64_t places = 2 * window * in_one;

  end(const channel& to, bool first)
      : net_(sure(open<F>({.node = home(), .listens = !first, .max_message_bytes = 2048, .receives = receives}))),
        memory_(sure(net_.allocate(places * each + 64, rights::none))) {
    if (!first) to.send_text(net_.listen_address());
    other_ = first ? sure(net_.connect(to.receive_text(), 10s)) : sure(net_.accept_one(10s));
    to.swap(first, "met", [this] { poll_once(); });
  }

  /// Sends `count` messages, `packed` in one post; returns when the receiver has taken all.
  template <bool Packed>
  void send(std::uint64_t count, std::uint32_t per_post) {
    credited_ = 0;
    const std::uint64_t most = std::uint64_t{window} * per_post;
    constexpr std::uint64_t step = Packed ? in_one : 1;
    for (std::uint64_t i = 0; i < count; i += step) {
      while (i - credited_ >= most) turn();
      std::byte* const from = memory_.data() + i % places * each;
      for (std::uint64_t k = 0; k < step; ++k) {
        const std::uint64_t number = i + k;
        std::memcpy(from + k * each, &number, sizeof number);
      }
      post(memory_.slice(i % places * each, step * each));
    }
    while (credited_ < count) turn();
  }
  /// The receiver.
  void take(std::uint64_t count, std::uint32_t per_post) {
    seen_ = sum_ = 0;
    std::uint64_t credited = 0;
    const std::uint64_t every = std::uint64_t{per_credit} * per_post;
    while (seen_ < count) {
      turn();
      if (seen_ - credited < every && seen_ != count) continue;
      credited = seen_;
      std::memcpy(memory_.data() + places * each, &credited, sizeof credited);
      credit(memory_.slice(places * each, sizeof credited));
    }
    if (sum_ != count * (count - 1) / 2) throw std::runtime_error("other messages came than were sent");
    while (net_.in_flight() != 0) turn();
  }
  /// Round trips of a lone message.
  void ping(bool first, std::uint32_t rounds, samples& into) {
    seen_ = 0;
    std::uint64_t before = now_ns();
    for (std::uint32_t i = 0; i < rounds; ++i) {
      if (first) post(memory_.first(each));
      while (seen_ <= i) turn();
      if (!first) post(memory_.first(each));
      const std::uint64_t now = now_ns();
      into.add(now - before);
      before = now;
    }
    while (net_.in_flight() != 0) turn();
  }
  void poll_once() {
    came_ = net_.progress([](auto&&) {});
  }

 private:
  [[gnu::always_inline]] void post(const local_memory& from) {
    for (;;) {
      const status s = net_.send(other_, from);
      if (s) return;
      if (!s.is_again()) throw std::runtime_error("a send was refused");
      turn();
    }
  }
  /// With a context, a post does not wait for other posts.
  void credit(const local_memory& from) {
    for (;;) {
      const status s = net_.send(other_, from, this);
      if (s) return;
      if (!s.is_again()) throw std::runtime_error("a credit was refused");
      turn();
    }
  }
  void turn() {
    const int found = net_.progress(
        overloaded{[this](const received& m) { heard(m.message); },
                   [](const failed& f) { throw std::runtime_error(std::string(name_of(f.what)) + " failed"); },
                   [](const lost&) { throw std::runtime_error("the other process is gone"); }, [](auto&&) {}});
    spin_.polled(found > 0);
  }
  void heard(const_bytes m) {
    std::uint64_t number = 0;
    if (m.size() == sizeof number) return void(std::memcpy(&credited_, m.data(), sizeof number));
    for (std::size_t at = 0; at < m.size(); at += each) {
      std::memcpy(&number, m.data() + at, sizeof number);
      sum_ += number;
      ++seen_;
    }
  }

  transport<F> net_;
  owned_region memory_;
  peer other_;
  std::uint64_t credited_ = 0, seen_ = 0, sum_ = 0;
  int came_ = 0;
  spinner spin_{{F::facts.data_progress == data_progress::thread ? fruitless::nap : fruitless::yield, 16}};
};

/// Messages per second of one way.
template <bool Packed, class End>
double rate(const channel& to, End& mine, bool first, std::uint64_t count, std::uint32_t per_post) {
  const std::uint64_t begin = now_ns();
  if (first) mine.template send<Packed>(count, per_post);
  else mine.take(count, per_post);
  const double found = static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - begin);
  to.part(first, [&mine] { mine.poll_once(); });
  return found;
}

int report(const settings& s, const std::array<std::vector<double>, 3>& rates, const comparison& gain,
           const comparison& beside, const comparison& lone) {
  const auto middle = [](std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  };
  json ways = json::array();
  for (std::size_t w = 0; w < rates.size(); ++w)
    ways.push_back({{"way", names[w]}, {"messages_per_s", middle(rates[w])}});
  const json all{{"fabric", plain::name},
                 {"bytes", each},
                 {"ways", ways},
                 {"coalesced_to_one_by_one", gain.report()},
                 {"coalesced_to_by_hand", beside.report()},
                 {"lone_round_trip_to_one_by_one", lone.report()}};
  if (s.json.empty()) {
    const std::string fabric(plain::name);
    for (std::size_t w = 0; w < rates.size(); ++w)
      std::printf("%-8s %-26s %12.0f messages/s\n", fabric.c_str(), names[w], middle(rates[w]));
    std::printf(
        "%-8s coalesced to one by one     %7.2f times the rate\n%-8s coalesced to 64 by hand     %7.2f times the "
        "rate\n",
        fabric.c_str(), gain.ratio(), fabric.c_str(), beside.ratio());
    std::printf("%-8s a lone message, coalescing  %7.2f of the round trip without\n", fabric.c_str(), lone.ratio());
  }
  return write_json(all, s.json) ? 0 : 1;
}

int run(const channel& to, bool first, const settings& s) {
  if (plain::facts.data_progress != data_progress::thread) pin_to(first ? 1 : 0);
  end<plain> single(to, first);
  end<gathering> many(to, first);
  std::array<std::vector<double>, 3> rates;
  comparison gain, beside, lone;
  const std::uint64_t unit = std::uint64_t{in_one} * end<plain>::per_credit;
  const std::uint64_t count = (s.count + unit - 1) / unit * unit,
                      fewer = std::max<std::uint64_t>(unit, count / 20 / unit * unit);
  for (std::size_t turn = 0; turn <= s.turns; ++turn) {
    std::array<double, 3> now{};
    for (std::size_t k = 0; k < now.size(); ++k) {
      const auto w = static_cast<way>((k + turn) % now.size());
      double& found = now[static_cast<std::size_t>(w)];
      if (w == way::one_by_one) found = rate<false>(to, single, first, fewer, 1);
      else if (w == way::gathered) found = rate<false>(to, many, first, count, in_one);
      else found = rate<true>(to, single, first, count, in_one);
    }
    samples ours, theirs;
    for (std::size_t k = 0; k < 2; ++k) {
      if ((k + turn) % 2 == 0) many.ping(first, s.lone, ours);
      else single.ping(first, s.lone, theirs);
      to.part(first, [&] {
        single.poll_once();
        many.poll_once();
      });
    }
    if (turn == 0) continue;  // warms up
    for (std::size_t w = 0; w < now.size(); ++w) rates[w].push_back(now[w]);
    gain.add(now[1] / now[0]);
    beside.add(now[1] / now[2]);
    lone.add(static_cast<double>(ours.percentile(.5)) / static_cast<double>(theirs.percentile(.5)));
  }
  return first ? report(s, rates, gain, beside, lone) : 0;
}
}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Small messages that share messages, compared with single ones and with packing by hand");
  app.add_option("--count", s.count, "Messages of a turn")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--lone", s.lone, "Round trips of a turn")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--turns", s.turns, "Turns of each way")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--limit", s.limit, "Seconds after which the run is ended")->capture_default_str();
  app.add_option("--json", s.json, "Where the result goes: a file; - or nothing for standard output")
      ->expected(0, 1)
      ->default_str("-");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (app.count("--json") > 0 && s.json.empty()) s.json = "-";
  return two_processes(
      s.limit, [&](const channel& to) { return run(to, true, s); },
      [&](const channel& to) { return run(to, false, s); });
}
