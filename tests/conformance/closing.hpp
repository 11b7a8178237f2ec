// SPDX-License-Identifier: Apache-2.0
//
// Closing: the peer gets `closed`, outstanding operations end, and many rounds leave nothing behind. Hot path: no.
// Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <filesystem>
#include <fstream>

#ifdef WEFT_ADDRESS_SANITIZER
extern "C" void __sanitizer_purge_allocator();  // from allocator_interface.h, which g++ 12 lacks
#endif

namespace weft::conformance {

#ifdef WEFT_ADDRESS_SANITIZER
inline constexpr std::size_t kept_by_sanitizer_kib = 12;  // a round: the sanitizer keeps the stack of each allocation
#else
inline constexpr std::size_t kept_by_sanitizer_kib = 0;
#endif

template <class Stage>
class closing : public suite<Stage> {};
TYPED_TEST_SUITE_P(closing);

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}
inline std::size_t resident_kib() {
#ifdef WEFT_ADDRESS_SANITIZER
  __sanitizer_purge_allocator();  // freed memory in quarantine belongs to the sanitizer, not to weft
#endif
  std::ifstream in("/proc/self/statm");
  std::size_t pages = 0;
  in >> pages >> pages;
  return pages * 4;
}

TYPED_TEST_P(closing, outstanding_operations_drain_and_the_peer_gets_closed) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](party& side) {
        hosting<fabric> host(side, 4096, rights::all);
        host.seen.on_received = [](const received&) {};
        await(side, host.net, host.seen, "the goodbye", [&] { return host.seen.losses == 1; });
        EXPECT_EQ(host.seen.last_loss.code, errc::closed);
        EXPECT_EQ(host.seen.messages, 20U) << "the goodbye arrived before earlier messages";
        EXPECT_FALSE(host.other.alive());
        side.ready(1);
      },
      [](party& side) {
        visiting<fabric> guest(side, 4096);
        for (int i = 0; i < 20; ++i)
          push(side, guest.net, guest.seen, "send",
               [&] { return guest.net.send(guest.other, guest.memory.first(64), &guest); });
        EXPECT_TRUE(guest.net.close(guest.other, patience, guest.seen));
        EXPECT_EQ(guest.seen.completions, 20U);
        EXPECT_EQ(guest.seen.losses, 0U) << "close() reports by its return value";
        EXPECT_EQ(guest.net.send(guest.other, guest.memory.first(8), &guest).code, errc::peer_lost);
        EXPECT_TRUE(guest.net.close(guest.other, 1s, guest.seen)) << "the peer had closed: nothing to close";
        (void)side.ask(0);
      });
}

TYPED_TEST_P(closing, a_goodbye_that_overtakes_loses_no_message_and_no_notice) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t each = 60;
  TestFixture::play(
      {},
      [](party& side) {
        hosting<fabric> host(side, 4096, rights::all);
        host.seen.on_notified = [](const notified&) {};
        host.seen.on_received = [](const received&) {};
        await(side, host.net, host.seen, "the goodbye", [&] { return host.seen.losses == 1; });
        EXPECT_EQ(host.seen.last_loss.code, errc::closed);
        EXPECT_EQ(host.seen.messages, each) << "the goodbye arrived before earlier messages";
        await(side, host.net, host.seen, "the notices", [&] { return host.seen.notices == each; });
        side.ready(1);
      },
      [](party& side) {
        visiting<fabric> guest(side, 4096);
        for (std::uint32_t i = 0; i < each; ++i)
          push(side, guest.net, guest.seen, "put_notify", [&] {
            return guest.net.put_notify(guest.other, guest.memory.first(8), guest.there.at(8 * i), i, &guest);
          });
        await(side, guest.net, guest.seen, "the completions", [&] { return guest.seen.completions == each; });
        for (std::size_t i = 0; i < each; ++i)
          push(side, guest.net, guest.seen, "send", [&] { return guest.net.send(guest.other, guest.memory.first(8)); });
        EXPECT_TRUE(guest.net.close(guest.other, patience, guest.seen));
        (void)side.ask(0);
      });
}

TYPED_TEST_P(closing, many_rounds_of_connecting_and_closing_leave_nothing_behind) {
  using fabric = typename TestFixture::tested_fabric;
  static const std::size_t rounds =
      rounds_asked(slowness() == 1 ? 1000 : 100);  // a leak of one descriptor a round shows as 75 of 100
  static const duration limit = std::max<duration>(110s, 110ms * rounds);
  TestFixture::play(
      {.limit = limit, .once = true},
      [](party& side) {
        auto net = opened<fabric>(side, listening());
        side.tell(1, net.listen_address());
        observer seen;
        seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
        serve(side, net, seen, 1, (limit - 10s) * slowness());
        EXPECT_EQ(seen.requests, rounds);
        EXPECT_EQ(seen.losses, rounds);
        await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
      },
      [](party& side) {
        auto net = opened<fabric>(side);
        const std::string where = side.ask_text(0);
        observer seen;
        std::size_t descriptors = 0;
        std::size_t memory = 0;
        for (std::size_t i = 0; i < rounds; ++i) {
          side.at("round " + std::to_string(i));
          const auto p = net.connect(where, patience, seen);
          ASSERT_TRUE(p) << "round " << i << ": " << p.error().sentence;
          ASSERT_TRUE(net.close(*p, patience, seen)) << "round " << i;
          if (i == rounds / 4) {
            descriptors = open_descriptors();
            memory = resident_kib();
          }
        }
        if (!side.simulated()) {
          const std::size_t open = open_descriptors();
          const std::size_t resident = resident_kib();
          EXPECT_LE(open, descriptors + 8) << "descriptors leak";
          EXPECT_LE(resident, memory + 4096 + kept_by_sanitizer_kib * rounds)
              << "memory leaks";  // measured over 750 rounds: 64 to 400 KiB
          side.note("kept_descriptors", static_cast<std::int64_t>(open) - static_cast<std::int64_t>(descriptors));
          side.note("kept_kib", static_cast<std::int64_t>(resident) - static_cast<std::int64_t>(memory));
        }
        side.note("rounds", static_cast<std::int64_t>(rounds));
        await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
        (void)net.until([] { return false; }, 1500ms, seen);
        side.ready(0);
      });
}

TYPED_TEST_P(closing, transports_opened_and_closed_leave_nothing_behind) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t rounds = 40;  // each opens the library anew: a few milliseconds to a quarter of a second
  TestFixture::play({.limit = 110s, .once = true}, [](party& side) {
    std::size_t descriptors = 0;
    std::size_t memory = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
      auto net = opened<fabric>(side, listening());
      ASSERT_TRUE(net.allocate(4096, rights::all));
      if (i == rounds / 4) {
        descriptors = open_descriptors();
        memory = resident_kib();
      }
    }
    if (side.simulated()) return;
    EXPECT_LE(open_descriptors(), descriptors) << "descriptors leak";
    EXPECT_LE(resident_kib(), memory + 8 * 1024) << "memory leaks";
  });
}

REGISTER_TYPED_TEST_SUITE_P(closing, outstanding_operations_drain_and_the_peer_gets_closed,
                            a_goodbye_that_overtakes_loses_no_message_and_no_notice,
                            many_rounds_of_connecting_and_closing_leave_nothing_behind,
                            transports_opened_and_closed_leave_nothing_behind);

}  // namespace weft::conformance
