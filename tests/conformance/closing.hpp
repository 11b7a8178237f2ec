// SPDX-License-Identifier: Apache-2.0
//
// Closing: the peer gets `closed`, outstanding operations end, and many rounds leave nothing behind. Hot path: no.
// Threads: one per side.
#pragma once

#include "allocation_count.hpp"
#include "two_sides.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#ifdef WEFT_ADDRESS_SANITIZER
extern "C" void __sanitizer_purge_allocator();  // from allocator_interface.h, which g++ 12 lacks
#endif

namespace weft::conformance {

// Measured (kept_kib of the results, docs/conformance.md): 750 rounds keep 48 to 260 KiB over libfabric 1.17, and up to
// 564 KiB over the shm of 2.1. In a guest they keep 1,100 to 2,048 KiB, because the driver of a soft device keeps more.
// The margin is a factor of 1.5 to 2.
inline std::size_t most_kept_kib() { return slowness() == 1 ? 1024 : 3072; }
// Of operator new alone, which neither libraries nor the allocator blur: none is kept.
inline constexpr std::int64_t most_kept_bytes = 4096;
#ifdef WEFT_ADDRESS_SANITIZER
inline constexpr std::size_t kept_by_sanitizer_kib = 8;  // a round: the stack of each allocation; 5 measured
#else
inline constexpr std::size_t kept_by_sanitizer_kib = 0;
#endif

template <class Environment>
class closing : public suite<Environment> {};
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

/// The least bytes of operator new that are kept in the second eighth of the rounds, and after the last one. A leak
/// raises the least too. Sample after polls: receives of an ended link stay until a poll finds nothing, and a device
/// gives them back when the load allows. So the end waits for the early level: a leak never returns to it.
struct kept_least {
  std::int64_t early = std::numeric_limits<std::int64_t>::max(), late = early;
  void sample(std::size_t round, std::size_t rounds) noexcept {
    if (round > rounds / 8 && round <= rounds / 4) early = std::min(early, kept_bytes());
  }
  /// Polls until the early level is back.
  void settle(auto& net, observer& seen) {
    const auto back = [&] {
      late = std::min(late, kept_bytes());
      return late <= early + most_kept_bytes;
    };
    (void)net.until(back, patience, seen);
  }
};

TYPED_TEST_P(closing, outstanding_operations_drain_and_the_peer_gets_closed) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        host.seen.on_received = [](const received&) {};
        await(side, host.net, host.seen, "the goodbye", [&] { return host.seen.losses == 1; });
        EXPECT_EQ(host.seen.last_loss.code, errc::closed);
        EXPECT_EQ(host.seen.messages, 20U) << "the goodbye arrived before earlier messages";
        EXPECT_FALSE(host.other.alive());
        side.ready(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        for (int i = 0; i < 20; ++i)
          push(side, guest.net, guest.seen, "send",
               [&] { return guest.net.send(guest.other, guest.memory.first(64), &guest); });
        EXPECT_TRUE(guest.net.close(guest.other, patience, guest.seen));
        EXPECT_EQ(guest.seen.completions, 20U);
        EXPECT_EQ(guest.seen.losses, 0U) << "close() reports by its return value";
        if (refuses_wrong_posts<fabric>) {
          EXPECT_EQ(guest.net.send(guest.other, guest.memory.first(8), &guest).code, errc::peer_lost);
        }
        EXPECT_TRUE(guest.net.close(guest.other, 1s, guest.seen)) << "the peer had closed: nothing to close";
        (void)side.wait_for_value(0);
      });
}

TYPED_TEST_P(closing, a_goodbye_that_overtakes_loses_no_message_and_no_notice) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t each = 60;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        host.seen.on_notified = [](const notified&) {};
        host.seen.on_received = [](const received&) {};
        await(side, host.net, host.seen, "the goodbye", [&] { return host.seen.losses == 1; });
        EXPECT_EQ(host.seen.last_loss.code, errc::closed);
        EXPECT_EQ(host.seen.messages, each) << "the goodbye arrived before earlier messages";
        await(side, host.net, host.seen, "the notices", [&] { return host.seen.notices == each; });
        side.ready(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        for (std::uint32_t i = 0; i < each; ++i)
          push(side, guest.net, guest.seen, "put_notify", [&] {
            return guest.net.put_notify(guest.other, guest.memory.first(8), guest.there.at(8 * i), i, &guest);
          });
        await(side, guest.net, guest.seen, "the completions", [&] { return guest.seen.completions == each; });
        for (std::size_t i = 0; i < each; ++i)
          push(side, guest.net, guest.seen, "send", [&] { return guest.net.send(guest.other, guest.memory.first(8)); });
        EXPECT_TRUE(guest.net.close(guest.other, patience, guest.seen));
        (void)side.wait_for_value(0);
      });
}

TYPED_TEST_P(closing, many_rounds_of_connecting_and_closing_leave_nothing_behind) {
  using fabric = typename TestFixture::tested_fabric;
  static const std::size_t rounds =
      rounds_asked(slowness() == 1 ? 1000 : 100);  // a leak of one descriptor a round shows as 75 of 100
  static const duration limit = std::max<duration>(110s, 110ms * rounds);
  TestFixture::play(
      {.limit = limit, .once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        side.send_value(1, net.listen_address());
        observer seen;
        std::size_t memory = 0;
        kept_least kept;
        seen.on_requested = [&](const requested& r) {
          EXPECT_TRUE(net.accept(r.peer));
          if (seen.requests == rounds / 4) memory = resident_kib();
        };
        await(
            side, net, seen, "serving all rounds",
            [&] {  // after each poll
              kept.sample(seen.requests, rounds);
              return side.has_value(1);
            },
            (limit - 10s) * slowness());
        if (!side.simulated()) {
          kept.settle(net, seen);
          const std::size_t resident = resident_kib();
          EXPECT_LE(resident, memory + most_kept_kib() + kept_by_sanitizer_kib * rounds) << "the listener leaks memory";
          EXPECT_LE(kept.late, kept.early + most_kept_bytes) << "the listener leaks memory of operator new";
          side.note("listener_kept_bytes", kept.late - kept.early);
          side.note("listener_kept_kib", static_cast<std::int64_t>(resident) - static_cast<std::int64_t>(memory));
        }
        EXPECT_EQ(seen.requests, rounds);
        EXPECT_EQ(seen.losses, rounds);
        await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        const std::string where = side.wait_for_text(0);
        observer seen;
        std::size_t descriptors = 0;
        std::size_t memory = 0;
        kept_least kept;
        for (std::size_t i = 0; i < rounds; ++i) {
          side.at("round " + std::to_string(i));
          const auto p = net.connect(where, patience, seen);
          ASSERT_TRUE(p) << "round " << i << ": " << p.error().sentence;
          ASSERT_TRUE(net.close(*p, patience, seen)) << "round " << i;
          for (int polls = 0; polls < 4; ++polls) {
            net.progress(seen);
            kept.sample(i, rounds);
          }
          if (i == rounds / 4) {
            descriptors = open_descriptors();
            memory = resident_kib();
          }
        }
        if (!side.simulated()) {
          kept.settle(net, seen);
          const std::size_t open = open_descriptors();
          const std::size_t resident = resident_kib();
          EXPECT_LE(open, descriptors + 8) << "descriptors leak";
          EXPECT_LE(resident, memory + most_kept_kib() + kept_by_sanitizer_kib * rounds) << "memory leaks";
          EXPECT_LE(kept.late, kept.early + most_kept_bytes) << "memory of operator new leaks";
          side.note("kept_bytes", kept.late - kept.early);
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
  TestFixture::play({.limit = 110s, .once = true}, [](test_side& side) {
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
    const std::size_t resident = resident_kib();
    // measured: at most 192 KiB here, and 1,168 KiB under the sanitizer; not measured in a guest
    EXPECT_LE(resident, memory + 2 * most_kept_kib() + (kept_by_sanitizer_kib > 0 ? 1024 : 0)) << "memory leaks";
    side.note("openings_kept_kib", static_cast<std::int64_t>(resident) - static_cast<std::int64_t>(memory));
  });
}

REGISTER_TYPED_TEST_SUITE_P(closing, outstanding_operations_drain_and_the_peer_gets_closed,
                            a_goodbye_that_overtakes_loses_no_message_and_no_notice,
                            many_rounds_of_connecting_and_closing_leave_nothing_behind,
                            transports_opened_and_closed_leave_nothing_behind);

}  // namespace weft::conformance
