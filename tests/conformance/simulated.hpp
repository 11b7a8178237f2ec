// SPDX-License-Identifier: Apache-2.0
//
// The environment of simulated fabrics: each side is a node of a loopback world, all in one thread and in virtual time.
// Each test runs several times from different seeds, over a world without faults and over one with faults. The faults
// are delays, retransmissions, full queues, torn writes, and every disorder that the row does not exclude. WEFT_SEEDS=n
// asks for more seeds; a failure names its seed. Hot path: no. Threads: one.
#pragma once

#include "../../backends/loopback/port.hpp"
#include "../../compose/fabric.hpp"
#include "../../history/checker.hpp"
#include "sides/test_side.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <memory>

namespace weft::conformance {

namespace loopback = backends::loopback;

/// State that the sides of one run share.
struct side_talk {
  loopback::world* world = nullptr;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> said;
  std::map<int, bool> ended;
  std::map<int, std::string> step;
  static std::string node(int side) { return "side" + std::to_string(side); }
};

class fiber_side final : public test_side {
 public:
  fiber_side(int number, std::uint64_t seed, side_talk& talk) : test_side(number, seed), talk_(talk) {}
  ~fiber_side() override { talk_.ended[number()] = true; }

  void send_value(int to, const_bytes message) override {
    talk_.said[{number(), to}].emplace_back(message.begin(), message.end());
  }
  using test_side::send_value;
  bool has_value(int from) override { return !talk_.said[{from, number()}].empty() || talk_.ended[from]; }
  std::vector<std::byte> wait_for_value(int from) override {
    auto& queue = talk_.said[{from, number()}];
    const instant end = talk_.world->now() + patience;
    while (queue.empty()) {
      if (talk_.ended[from])
        throw stopped("side " + std::to_string(from) + " ended before it sent the requested value");
      if (talk_.world->now() >= end) throw stopped("side " + std::to_string(from) + " sent no value in time");
      loopback::sleep_for(20us);
    }
    auto message = std::move(queue.front());
    queue.pop_front();
    return message;
  }
  void kill(int which) override {
    talk_.world->crash(side_talk::node(which));
    talk_.ended[which] = true;
  }
  void stop(int which, duration span) override { talk_.world->pause(side_talk::node(which), span); }
  void resume(int /*which*/) override {}
  void rest(duration span) override { loopback::sleep_for(span); }
  bool simulated() const noexcept override { return true; }
  void at(std::string_view step) override { talk_.step[number()] = step; }
  void note(std::string_view name, std::int64_t value) override {
    testing::Test::RecordProperty(std::string(name), std::to_string(value));
  }

 private:
  side_talk& talk_;
};

/// Every fault below the reliable layer.
inline loopback::faults rough_weather() {
  loopback::faults f;
  f.delay_most = duration(30'000);
  f.loss = 0.02;
  f.reorder = 0.3;
  f.tear = 0.3;
  f.full_queue = 0.01;
  f.spurious_wake = 0.05;
  f.pause = 0.0002;
  return f;
}

/// One run: a world, a seed, the sides.
class play {
 public:
  play(std::uint64_t seed, const loopback::faults& trouble, const std::vector<body>& sides)
      : seed_(seed), sides_(sides), books_(sides.size()), world_(seed, trouble) {}

  void run(const circumstances& how) {
    talk_.world = &world_;
    for (std::size_t i = 0; i < sides_.size(); ++i)
      world_.spawn(side_talk::node(static_cast<int>(i)), [this, i] { be(i); });
    const auto outcome = world_.run(10min);
    std::string where;
    for (const auto& [side, step] : talk_.step) where += "; side " + std::to_string(side) + " at: " + step;
    EXPECT_TRUE(outcome) << outcome.sentence << where;
    if (testing::Test::HasFailure()) return;
    history::checker judge;
    for (const auto& book : books_) judge.add(book);
    const auto said = judge.judge();
    EXPECT_TRUE(said.clean()) << "the history of this run: " << said.text();
    if (!how.judged || testing::Test::HasFailure()) return;
    std::vector<history::record> all;
    for (const auto& book : books_) all.insert(all.end(), book.begin(), book.end());
    how.judged(all);
  }

 private:
  void be(std::size_t i) {
    fiber_side me(static_cast<int>(i), seed_, talk_);
    try {
      sides_[i](me);
    } catch (const stopped& e) {
      ADD_FAILURE() << "side " << i << ": " << e.what();
    }
    books_[i] = me.book.records();
  }

  std::uint64_t seed_;
  const std::vector<body>& sides_;
  std::vector<std::vector<history::record>> books_;
  side_talk talk_;
  loopback::world world_;
};

/// Sides of fabric F as fibers. F's port is the loopback's (weft::over puts it there).
template <class F>
struct simulated_environment {
  using fabric = F;
  static constexpr bool simulated = true;

  static void run(const circumstances& how, const std::vector<body>& sides) {
    const char* asked = std::getenv("WEFT_SEEDS");
    const std::uint64_t seeds = how.once ? 1 : asked != nullptr ? std::strtoull(asked, nullptr, 10) : 2;
    for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed)
      for (const bool rough : {false, true}) {
        if (rough && how.once) continue;
        play(seed, rough ? rough_weather() : loopback::faults{}, sides).run(how);
        if (testing::Test::HasFailure()) {
          ADD_FAILURE() << "seed " << seed << (rough ? ", with faults" : ", without faults");
          return;
        }
      }
  }
};

}  // namespace weft::conformance
