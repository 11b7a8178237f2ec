// SPDX-License-Identifier: Apache-2.0
//
// Sentences of a peer reach the caller as printable text, whole or as '?'. Hot path: no. Threads: one.
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using fabric = fabrics::loopback;

/// The sentence of a connect() that the listener refused with `reason`.
std::string refused_with(std::string_view reason) {
  loopback::world w(1);
  std::string sentence;
  w.serve("listener", [reason] {
    auto net = open<fabric>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto on = overloaded{[&](const requested& r) { EXPECT_TRUE(net.reject(r.peer, reason)); }, [](auto&&) {}};
    (void)net.until([] { return false; }, 10s, on);
  });
  w.spawn("caller", [&sentence] {
    loopback::sleep_for(1ms);
    auto net = open<fabric>({.sleeps = true}).value();
    const auto no = net.connect("listener:7471", 1s);
    ASSERT_FALSE(no);
    sentence = no.error().sentence;
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  return sentence;
}

TEST(sentences_of_a_peer, reach_the_caller_as_printable_text) {
  EXPECT_NE(refused_with("the queue is full").find("the queue is full"), std::string::npos);
  EXPECT_NE(refused_with("plus tard, désolé").find("plus tard, désolé"), std::string::npos);
  const std::string shown = refused_with("\x1b[2J\nroot# ");
  EXPECT_NE(shown.find("?[2J?root# "), std::string::npos) << shown;
}

}  // namespace
}  // namespace weft
