// SPDX-License-Identifier: Apache-2.0
//
// Polls of a set of fabrics, in virtual time: inside a handler they find nothing, and callers of an idle fabric are
// answered while another is busy.
#include <weft/backends/loopback/port.hpp>
#include <weft/compose/sets/fabric_set.hpp>
#include <weft/generated/mapped.hpp>
#include <weft/generated/tcp.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using both = fabric_set<over<fabrics::mapped, loopback::port>, over<fabrics::tcp, loopback::port>>;

/// A listener of the set, and callers that send messages all the time.
class served {
 public:
  /// A caller by one fabric. It starts when `callers` have met the listener.
  void caller(std::string_view fabric, int callers) {
    world_.spawn(std::string(fabric), [this, fabric, callers] {
      while (where_.empty() || met_ < callers) loopback::sleep_for(100us);
      auto net = open<both>({.fabrics = std::string(fabric)}).value();
      const auto on = [](auto&&) {};
      const auto memory = net.allocate(64, rights::none).value();
      const auto p = net.connect(where_, 5s, on);
      ASSERT_TRUE(p) << p.error().sentence;
      while (!over_ && p.value().alive()) {
        (void)net.send(p.value(), memory.first(3));
        net.progress(on);
        loopback::sleep_for(10us);
      }
    });
  }
  /// Runs body(transport, the number of callers met so far).
  template <class Body>
  void listener(Body body) {
    world_.spawn("listener", [this, body] {
      auto net = open<both>({.node = "listener", .service = "7471"}).value();
      where_ = net.listen_address();
      body(net, met_);
      over_ = true;
      for (int i = 0; i < 100; ++i) net.progress([](auto&&) {}), loopback::sleep_for(10us);
    });
  }
  void run() {
    const auto all = world_.run(120s);
    EXPECT_TRUE(all) << all.sentence;
  }

 private:
  loopback::world world_{3};
  std::string where_;
  int met_ = 0;
  bool over_ = false;
};

TEST(polls_of_a_set, answer_callers_of_an_idle_fabric_while_another_is_busy) {
  for (const auto& order : {std::array<std::string_view, 2>{"mapped", "tcp"}, {"tcp", "mapped"}}) {
    served s;
    s.caller(order[0], 0);
    s.caller(order[1], 1);
    s.listener([&](auto& net, int& met) {
      int came = 0;
      const auto on = overloaded{[&](const requested& r) { met += net.accept(r.peer) ? 1 : 0; },
                                 [&](const received&) { return ++came, true; }, [](auto&&) {}};
      EXPECT_TRUE(net.until([&] { return met == 1 && came > 100; }, 5s, on));
      came = 0;
      const instant begin = net.now();
      EXPECT_TRUE(net.until([&] { return met == 2; }, 5s, on));
      EXPECT_LT(net.now() - begin, 1s) << order[1] << " after " << order[0];
      EXPECT_GT(came, 0);
    });
    s.run();
  }
}

TEST(polls_of_a_set, find_nothing_inside_a_handler) {
  for (const std::string_view second : {"", "tcp"}) {  // with peers by one fabric, and by both
    served s;
    s.caller("mapped", 0);
    if (!second.empty()) s.caller(second, 1);
    s.listener([&](auto& net, int& met) {
      const int wanted = second.empty() ? 1 : 2;
      int handled = 0, inside = 0;
      bool runs = false;
      const auto nested = [](auto&&) { ADD_FAILURE() << "an event inside a handler"; };
      const auto within = [&] {
        EXPECT_FALSE(runs);
        runs = true;
        for (int i = 0; i < 100; ++i) inside += net.progress(nested);
        EXPECT_EQ(net.until([] { return false; }, 1s, nested).code, errc::invalid);
        EXPECT_EQ(net.connect("listener:7471", 1s, nested).why().code, errc::invalid);
        runs = false;
        ++handled;
      };
      const auto on = overloaded{[&](const requested& r) {
                                   met += net.accept(r.peer) ? 1 : 0;
                                   within();
                                 },
                                 [&](const received&) { return within(), true; }, [](auto&&) {}};
      EXPECT_TRUE(net.until([&] { return met == wanted && handled > 100; }, 5s, on));
      EXPECT_EQ(inside, 0);
    });
    s.run();
  }
}

}  // namespace
}  // namespace weft
