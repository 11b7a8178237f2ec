// SPDX-License-Identifier: Apache-2.0
//
// Progress and waiting: any event wakes a sleeping thread, thousands of times at random moments. Without an event it
// wakes by its deadline. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <optional>

namespace weft::conformance {

template <class Stage>
class waiting : public suite<Stage> {};
TYPED_TEST_SUITE_P(waiting);

/// A ping for each pong, at random moments. A lost wake-up makes a side sleep for `nap`, and the test then exceeds its
/// limit.
template <class F>
void ping_pong(party& side, bool sleeps, std::uint32_t rounds) {
  constexpr duration nap = 30s;
  const transport_options o{.listens = side.number() == 0, .sleeps = sleeps, .silence_limit = 20s};
  auto net = opened<F>(side, o);
  observer seen;
  std::uint32_t came = 0;
  seen.on_received = [&](const received&) { ++came; };
  const peer p = side.number() == 0 ? meet_as_listener(side, net, seen) : meet_as_caller(side, net, seen);
  auto memory = net.allocate(64, rights::none).value();
  const auto say = [&] { push(side, net, seen, "send", [&] { return net.send(p, memory.first(8)); }); };
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    if (side.number() == 1) {
      if (side.below(4) == 0) side.rest(duration(side.below(60'000)));
      say();
    }
    side.at("asleep until the next message");
    while (came < i) {
      if (sleeps) (void)net.wait(nap);
      net.progress(seen);
    }
    if (side.number() == 0) say();
  }
  side.ready(1 - side.number());
  serve(side, net, seen, 1 - side.number());
  EXPECT_EQ(came, rounds);
}

TYPED_TEST_P(waiting, polling_receives_a_thousand_messages_at_random_times) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.limit = 40s, .once = true}, [](party& side) { ping_pong<fabric>(side, false, 1000); },
      [](party& side) { ping_pong<fabric>(side, false, 1000); });
}

TYPED_TEST_P(waiting, two_thousand_messages_at_random_times_wake_a_sleeping_thread) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.limit = 40s, .once = true}, [](party& side) { ping_pong<fabric>(side, true, 2000); },
      [](party& side) { ping_pong<fabric>(side, true, 2000); });
}

TYPED_TEST_P(waiting, a_wait_for_nothing_ends_and_until_keeps_its_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, [](party& side) {
    for (const bool sleeps : {true, false}) {
      auto net = opened<fabric>(side, {.listens = true, .sleeps = sleeps});
      observer seen;
      const instant start = net.now();
      EXPECT_TRUE(net.wait(100ms));
      net.progress(seen);
      EXPECT_EQ(net.until([] { return false; }, 200ms, seen).code, errc::deadline);
      EXPECT_GE(net.now() - start, 200ms) << "until() returned early";
      EXPECT_LT(net.now() - start, 10s);
      EXPECT_TRUE(net.until([] { return true; }, duration(0), seen)) << "a condition that already holds takes no time";
    }
  });
}

TYPED_TEST_P(waiting, waiting_inside_a_handler_is_refused) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](party& side) {
        hosting<fabric> host(side, 64, rights::all);
        std::optional<status> said;
        host.seen.on_received = [&](const received&) {
          observer inner;
          said = host.net.until([] { return false; }, 10s, inner);
          EXPECT_FALSE(host.net.connect("127.0.0.1:1", 1s, inner));
        };
        await(side, host.net, host.seen, "the message", [&] { return said.has_value(); });
        EXPECT_EQ(said->code, errc::invalid);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](party& side) {
        visiting<fabric> guest(side, 64);
        push(side, guest.net, guest.seen, "send",
             [&] { return guest.net.send(guest.other, guest.memory.first(8), &guest); });
        (void)serve_and_ask(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(waiting, polling_receives_a_thousand_messages_at_random_times,
                            two_thousand_messages_at_random_times_wake_a_sleeping_thread,
                            a_wait_for_nothing_ends_and_until_keeps_its_deadline, waiting_inside_a_handler_is_refused);

}  // namespace weft::conformance
