// SPDX-License-Identifier: Apache-2.0
//
// Eight initiators add one to a word, many at a time. The sum is exact, and all returned values are different: each
// value from zero to the sum appears once.
// Each initiator makes 10,000 additions, or as many as it can in six seconds; in simulation 50.
// WEFT_CROWD_ADDITIONS=100000 asks for that many, in at most ten minutes. Hot path: no. Threads: one per side; each of
// two sides has four transports.
#pragma once

#include "two_sides.hpp"

#include <array>
#include <bitset>
#include <memory>
#include <optional>

namespace weft::conformance {

/// Which values from zero on were returned.
class seen_values {
 public:
  explicit seen_values(std::size_t count) : words_((count + 63) / 64), count_(count) {}
  /// False: returned before, or too large.
  bool mark(std::uint64_t value) {
    if (value >= count_ || (words_[value / 64] >> value % 64 & 1) != 0) return false;
    words_[value / 64] |= std::uint64_t{1} << value % 64;
    return true;
  }
  /// How many of the other side's values are here too.
  std::size_t shared_with(const_bytes others, std::size_t first_byte) const {
    const auto own = std::as_bytes(std::span(words_)).subspan(first_byte, others.size());
    std::size_t found = 0;
    for (std::size_t i = 0; i < others.size(); ++i)
      found += std::bitset<8>(std::to_integer<unsigned>(own[i] & others[i])).count();
    return found;
  }
  const_bytes bytes_of() const { return std::as_bytes(std::span(words_)); }
  static constexpr std::size_t at_a_time = 32768;

 private:
  std::vector<std::uint64_t> words_;
  std::size_t count_;
};

/// One of a side's transports.
template <class F>
struct adder {
  transport<F> net;
  peer target;
  remote_region there;
  std::uint64_t posted = 0, ended = 0;
};

template <class Stage>
class many_initiators : public suite<Stage> {
 public:
  static constexpr std::size_t per_side = 4;
  static const char* asked() { return std::getenv("WEFT_CROWD_ADDITIONS"); }
  static std::uint64_t additions() {
    return asked() != nullptr ? std::strtoull(asked(), nullptr, 10) : Stage::simulated ? 50 : 10'000;
  }
  /// Eight floods through one socket delay heartbeats.
  static transport_options patient() {
    transport_options o;
    o.silence_limit = o.operation_timeout = 60s;
    return o;
  }
  /// The time after which initiators start no more additions.
  static duration enough() { return asked() != nullptr || Stage::simulated ? 10min : 6s; }
};
TYPED_TEST_SUITE_P(many_initiators);

TYPED_TEST_P(many_initiators, eight_initiators_lose_no_addition_and_get_no_value_twice) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint64_t window = 32;
  const std::uint64_t each = TestFixture::additions();
  const std::uint64_t all = each * 2 * TestFixture::per_side;
  const auto side_of_four = [each, all](party& side) {
    const std::string where = side.ask_text(0);
    std::vector<std::unique_ptr<adder<fabric>>> four;
    seen_values values(all);
    std::uint64_t twice = 0;
    for (std::size_t i = 0; i < TestFixture::per_side; ++i) {
      auto net = opened<fabric>(side, TestFixture::patient());
      auto p = net.connect(where, patience);
      if (!p) throw stopped("connect: " + p.error().sentence);
      four.push_back(std::make_unique<adder<fabric>>(adder<fabric>{std::move(net), *p, {}}));
    }
    const auto page = side.ask(0);
    observer seen;
    seen.on_completed = [&](const completed& c) {
      ++static_cast<adder<fabric>*>(c.context)->ended;
      twice += std::uint64_t{!values.mark(c.old)};
    };
    for (auto& a : four) a->there = a->net.parse_region(page).value();
    side.at("additions");
    const instant enough = four[0]->net.now() + TestFixture::enough();
    const instant end = enough + patience;
    for (bool going = true; going;) {
      going = false;
      const bool more = four[0]->net.now() < enough;
      for (auto& a : four) {
        while (more && a->posted < each && a->posted - a->ended < window) {
          const status s = a->net.fetch_add(a->target, a->there.at(8), 1, a.get());
          if (s.is_again()) break;
          if (!s) throw stopped("fetch_add: " + describe(s));
          ++a->posted;
        }
        a->net.progress(seen);
        going = going || a->ended < (more ? each : a->posted);
      }
      if (four[0]->net.now() > end)
        throw stopped("the additions do not complete: " + std::to_string(seen.completions) + " have");
      if (side.simulated()) (void)four[0]->net.wait(1us);
    }
    EXPECT_EQ(twice, 0U) << "of this side's values";
    if (side.number() == 1)
      for (std::size_t at = 0; at < values.bytes_of().size(); at += seen_values::at_a_time)
        side.tell(2, values.bytes_of().subspan(at, std::min(seen_values::at_a_time, values.bytes_of().size() - at)));
    else {
      for (const instant late = four[0]->net.now() + TestFixture::enough() + patience;
           !side.heard(1) && four[0]->net.now() < late;) {
        for (auto& a : four) a->net.progress(seen);  // the other side may be slower
        if (side.simulated()) (void)four[0]->net.wait(1us);
      }
      for (std::size_t at = 0; at < values.bytes_of().size(); at += seen_values::at_a_time)
        EXPECT_EQ(values.shared_with(side.ask(1), at), 0U) << "values that both sides got";
    }
    side.tell(0, seen.completions);
    while (!side.heard(0))
      for (auto& a : four) a->net.progress(seen);
  };
  TestFixture::play(
      circumstances{.limit = TestFixture::enough() + 100s},
      [](party& side) {
        auto net = opened<fabric>(side, listening(TestFixture::patient()));
        observer seen;
        auto page = net.allocate(64, rights::remote_atomic).value();
        for (int k : {1, 2}) side.tell(k, net.listen_address());
        seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
        await(side, net, seen, "eight initiators", [&] { return seen.requests == 2 * TestFixture::per_side; });
        for (int k : {1, 2}) side.tell(k, const_bytes(net.export_region(page, owner_polls)));
        std::uint64_t made = 0;
        for (int k : {1, 2}) {
          await(
              side, net, seen, "the additions", [&] { return side.heard(k); }, TestFixture::enough() + 2 * patience);
          made += side.ask_number(k);
        }
        std::uint64_t sum = 0;
        std::memcpy(&sum, page.data() + 8, sizeof sum);
        EXPECT_EQ(sum, made);
        EXPECT_GE(made, 80U);
        for (int k : {1, 2}) side.ready(k);
      },
      side_of_four, side_of_four);
}

REGISTER_TYPED_TEST_SUITE_P(many_initiators, eight_initiators_lose_no_addition_and_get_no_value_twice);

}  // namespace weft::conformance
