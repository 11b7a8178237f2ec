// SPDX-License-Identifier: Apache-2.0
//
// Ends of connections at bad moments: with large transfers under way, with a full queue, inside a handler, twice, on
// both sides at once, and by the destructor. Each operation ends once, the peer gets `closed`, and no byte beyond the
// region changes. Hot path: no. Threads: one per side.
#pragma once

#include "../two_sides.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace weft::conformance {

template <class Environment>
class endings : public suite<Environment> {};
TYPED_TEST_SUITE_P(endings);

inline constexpr std::size_t ending_guard = 256, ending_put = 64 * 1024;
inline constexpr std::uint32_t ending_puts = 16;
inline constexpr std::size_t ending_bytes = ending_puts * ending_put;

/// Side 0: serves until it heard a goodbye and side 1 speaks. Then the bytes: all of them arrived, or any. A peer that
/// closed inside its handler could not wait, so a goodbye behind large transfers may be cut off with them.
template <class F>
void host_of_endings(test_side& side, bool all_arrive, std::uint64_t goodbyes = 1, bool first_may_be_cut_off = false) {
  auto net = opened<F>(side, listening());
  observer seen;
  std::vector<std::byte> memory(2 * ending_guard + ending_bytes, std::byte{0x5a});
  const auto middle = bytes(memory).subspan(ending_guard, ending_bytes);
  const auto region = net.register_region(middle, rights::remote_write | rights::remote_read).value();
  seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
  seen.on_lost = [&](const lost& l) {
    if (first_may_be_cut_off && seen.losses == 1 && l.why.code == errc::peer_lost) return;
    EXPECT_EQ(l.why.code, errc::closed) << describe(l.why);
  };
  seen.on_received = [](const received&) {};
  side.send_value(1, net.listen_address());
  side.send_value(1, const_bytes(net.export_region(region, owner_polls)));
  await(side, net, seen, "the goodbye", [&] { return seen.losses == goodbyes; });
  serve(side, net, seen, 1);
  (void)side.wait_for_value(1);
  if (all_arrive) await(side, net, seen, "all bytes", [&] { return first_unlike(middle, 3) == middle.size(); });
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + ending_guard, std::byte{0x5a}), std::ptrdiff_t{ending_guard});
  EXPECT_EQ(std::count(memory.end() - ending_guard, memory.end(), std::byte{0x5a}), std::ptrdiff_t{ending_guard});
  EXPECT_EQ(seen.losses, goodbyes);
  side.ready(1);
}

/// Side 1. The memory is older than the transport: a library may read a source in the transport's own end.
template <class F>
struct guest_of_endings {
  test_side& side;
  observer seen;
  std::vector<std::byte> memory = std::vector<std::byte>(ending_bytes);
  std::unique_ptr<transport<F>> net;
  std::string where;
  peer other;
  region from;
  remote_region there;
  std::uint64_t posted = 0;

  guest_of_endings(test_side& s, transport_options o = {})
      : side(s), net(std::make_unique<transport<F>>(opened<F>(s, o))), where(s.wait_for_text(0)) {
    paint(memory, 3);
    const auto description = side.wait_for_value(0);
    from = net->register_region(memory, rights::none).value().release();
    meet();
    there = net->parse_region(other, description).value();
  }
  void meet() {
    side.at("connect");
    auto p = net->connect(where, patience, seen);
    if (!p) throw stopped("connect: " + p.error().sentence);
    other = *p;
  }
  status put(std::uint32_t i) {
    const std::size_t at = i % ending_puts * ending_put;
    const status s = net->put(other, from.slice(at, ending_put), there.at(at), &posted);
    posted += std::uint64_t{static_cast<bool>(s)};
    return s;
  }
  void put_all() {
    for (std::uint32_t i = 0; i < ending_puts; ++i) push(side, *net, seen, "put", [&] { return put(i); });
  }
  /// Posts without any progress until the queue is full.
  void fill_queue() {
    for (std::uint32_t i = 0; i < 4096; ++i) {
      const status s = put(i);
      if (s.is_again()) return;
      if (!s) throw stopped("put: " + describe(s));
    }
    ADD_FAILURE() << "the queue is never full";
  }
  void part() {
    side.ready(0);
    if (!net) return (void)side.wait_for_value(0);
    serve(side, *net, seen, 0);
  }
};

TYPED_TEST_P(endings, close_waits_until_every_posted_put_has_ended) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { host_of_endings<fabric>(side, true); },
      [](test_side& side) {
        guest_of_endings<fabric> guest(side);
        guest.put_all();
        EXPECT_LT(guest.seen.completions, guest.posted) << "nothing was under way";
        EXPECT_TRUE(guest.net->close(guest.other, patience, guest.seen));
        EXPECT_EQ(guest.seen.completions, guest.posted) << "close() returned before they ended";
        EXPECT_EQ(guest.net->in_flight(), 0U);
        EXPECT_FALSE(guest.other.alive());
        guest.part();
      });
}

TYPED_TEST_P(endings, close_with_a_full_queue_ends_every_operation_once) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { host_of_endings<fabric>(side, false); },
      [](test_side& side) {
        guest_of_endings<fabric> guest(side, {.operations = 8});
        guest.fill_queue();
        EXPECT_TRUE(guest.net->close(guest.other, patience, guest.seen));
        EXPECT_EQ(guest.seen.completions, guest.posted);
        guest.part();
      });
}

TYPED_TEST_P(endings, the_destructor_says_goodbye_after_the_transfers_under_way) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { host_of_endings<fabric>(side, side.simulated()); },
      [](test_side& side) {
        guest_of_endings<fabric> guest(side);
        guest.put_all();
        guest.net.reset();
        guest.part();
      });
}

TYPED_TEST_P(endings, the_destructor_says_goodbye_with_a_full_queue) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { host_of_endings<fabric>(side, false); },
      [](test_side& side) {
        guest_of_endings<fabric> guest(side, {.operations = 8});
        guest.fill_queue();
        guest.net.reset();
        guest.part();
      });
}

TYPED_TEST_P(endings, closing_inside_a_handler_and_twice_reports_nothing_more) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.once = true}, [](test_side& side) { host_of_endings<fabric>(side, false, 2, true); },
      [](test_side& side) {
        guest_of_endings<fabric> guest(side);
        std::uint64_t at_close = 0;
        guest.seen.on_completed = [&](const completed&) {
          if (at_close != 0) return;
          EXPECT_EQ(guest.net->until([] { return true; }, 1s, guest.seen).code, errc::invalid) << "a wait in a handler";
          EXPECT_TRUE(guest.net->close(guest.other, patience, guest.seen));
          EXPECT_TRUE(guest.net->close(guest.other, patience, guest.seen)) << "twice";
          EXPECT_FALSE(guest.other.alive());
          if (refuses_wrong_posts<fabric>) {
            EXPECT_EQ(guest.put(0).code, errc::peer_lost);
          }
          at_close = guest.seen.ends();
        };
        guest.put_all();
        await(side, *guest.net, guest.seen, "the close", [&] { return at_close != 0; });
        await(side, *guest.net, guest.seen, "nothing in flight", [&] { return guest.net->in_flight() == 0; });
        EXPECT_EQ(guest.seen.ends(), at_close) << "an event of a closed peer";
        EXPECT_EQ(guest.seen.losses, 0U);
        guest.seen.on_completed = nullptr;
        guest.meet();  // the transport still works
        const std::uint64_t before = guest.seen.completions;
        push(side, *guest.net, guest.seen, "put", [&] { return guest.put(1); });
        await(side, *guest.net, guest.seen, "a put afterwards", [&] { return guest.seen.completions > before; });
        EXPECT_TRUE(guest.net->close(guest.other, patience, guest.seen));
        EXPECT_TRUE(guest.net->close(guest.other, patience, guest.seen)) << "twice";
        guest.part();
      });
}

/// Both sides write to the other, and both close at once: neither hangs.
template <class F>
void close_while_the_other_closes(test_side& side) {
  const int other_side = 1 - side.number();
  std::vector<std::byte> memory(ending_bytes);
  auto net = opened<F>(side, listening({.operation_timeout = 3s}));
  observer seen;
  seen.on_failed = [](const failed&) {};
  seen.on_lost = [](const lost&) {};
  const auto region = net.register_region(memory, rights::remote_write).value();
  const peer other = side.number() == 0 ? meet_as_listener(side, net, seen) : meet_as_caller(side, net, seen);
  side.send_value(other_side, const_bytes(net.export_region(region, owner_polls)));
  const auto there = net.parse_region(other, serve_for_value(side, net, seen, other_side)).value();
  std::uint64_t posted = 0;
  for (std::uint32_t i = 0; i < ending_puts; ++i) {
    const status s = net.put(other, region.slice(i * ending_put, ending_put), there.at(i * ending_put), &posted);
    posted += std::uint64_t{static_cast<bool>(s)};
  }
  (void)net.close(other, patience, seen);
  EXPECT_FALSE(other.alive());
  EXPECT_LE(seen.ends(), posted);
  EXPECT_TRUE(net.close(other, patience, seen)) << "twice";
  await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
  side.ready(other_side);
  (void)serve_for_value(side, net, seen, other_side);
}
TYPED_TEST_P(endings, both_sides_may_close_at_once) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, close_while_the_other_closes<fabric>, close_while_the_other_closes<fabric>);
}

REGISTER_TYPED_TEST_SUITE_P(endings, close_waits_until_every_posted_put_has_ended,
                            close_with_a_full_queue_ends_every_operation_once,
                            the_destructor_says_goodbye_after_the_transfers_under_way,
                            the_destructor_says_goodbye_with_a_full_queue,
                            closing_inside_a_handler_and_twice_reports_nothing_more, both_sides_may_close_at_once);

}  // namespace weft::conformance
