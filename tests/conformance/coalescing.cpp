// SPDX-License-Identifier: Apache-2.0
//
// Small posts that share messages: coalesced by the transport (coalesce::up_to), and in groups that the user opens.
// Each keeps the promises of a single post: it arrives once, whole, and in the order that the row promises. A failure
// is reported, and no post waits for ever.
#include "allocation_count.hpp"
#include "environment.hpp"
#include "messages.hpp"
#include "put_notify.hpp"
#include "run_record.hpp"
#include "unsignalled.hpp"

#include "../../compose/coalescing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

namespace weft::conformance {

using gathering_fabric = with<tested, answers::coalesce::up_to<16, 1024>>;
static_assert(gathering_fabric::fingerprint == tested::fingerprint, "each side decides for itself");
using gathering_environment =
    std::conditional_t<in_process<gathering_fabric>, simulated_environment<gathering_fabric>, live<gathering_fabric>>;

/// Puts and put_notifies share messages on this fabric; elsewhere only messages do.
template <class F>
inline constexpr bool packs = weft::detail::group_packing<weft::detail::engine<F>>::packs_notices;

template <class Environment>
class coalescing_of_posts : public suite<Environment> {};
TYPED_TEST_SUITE_P(coalescing_of_posts);

/// Messages of every size: several in a group, too large for a group, and alone in a group.
constexpr std::size_t size_of_message(std::uint32_t i) noexcept {
  constexpr std::size_t sizes[] = {4, 16, 8, 5, 100, 256, 16, 257, 31, 700, 4, 16, 768, 1000, 64};
  return sizes[i % std::size(sizes)];
}

TYPED_TEST_P(coalescing_of_posts, single_and_coalesced_messages_keep_one_order) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 600;
  TestFixture::play(
      {}, [](test_side& side) { take_stream<fabric>(side, count, {}); },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        auto memory = net.allocate(count * 1024, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        std::vector<std::uint64_t> ids(count);
        std::uint32_t signalled = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
          const local_memory from = memory.slice(i * std::size_t{1024}, size_of_message(i));
          write_message({from.data, from.size}, i);
          ids[i] = side.book.posted(history::work::send, 0, net.now(), {}, i, const_bytes(from.data, from.size));
          const bool with_context = side.below(20) == 0;
          const bool in_pieces = !with_context && from.size >= 8 && from.size < 700 && side.below(20) == 0;
          const local_memory pieces[] = {memory.slice(i * std::size_t{1024}, 4),
                                         memory.slice(i * std::size_t{1024} + 4, from.size >= 4 ? from.size - 4 : 0)};
          push(side, net, seen, "send", [&] {
            if (in_pieces) return net.send(p, pieces);
            return with_context ? net.send(p, from, &ids[i]) : net.send(p, from);
          });
          signalled += std::uint32_t{with_context};
          if (answer<fabric, coalesce_family>::gathers && from.size <= 256 && !with_context && !in_pieces)
            std::fill_n(from.data, from.size, std::byte{0xee});  // copied at the call: the source is reusable at once
          if (side.below(30) == 0) net.progress(seen);
        }
        serve(side, net, seen, 0);
        (void)side.wait_for_value(0);
        for (const std::uint64_t id : ids) side.book.ended(id, net.now(), errc::ok);
        await(side, net, seen, "nothing in flight", [&] { return net.in_flight() == 0; });
        EXPECT_EQ(seen.completions, signalled);
        side.book.finished(net.now());
        side.ready(0);
      });
}

/// What the target of groups received: messages by number, notices by number.
template <class F>
void take_groups(test_side& side, std::uint32_t messages, std::uint32_t notices) {
  target_side<F> host(side, 4096, rights::all);
  std::vector<std::uint32_t> came(messages), reported(notices);
  std::uint32_t expected = 0;
  host.seen.on_received = [&](const received& m) {
    const std::uint32_t i = number_of(m.message);
    ASSERT_LT(i, messages);
    EXPECT_EQ(++came[i], 1U) << "message " << i;
    EXPECT_EQ(m.peer, host.other);
    EXPECT_EQ(m.message.size(), size_of_message(i));
    EXPECT_TRUE(is_message(m.message, i));
    EXPECT_TRUE(i == expected || !F::facts.order_send_after_send) << i << " came " << expected << "th";
    ++expected;
  };
  host.seen.on_notified = [&](const notified& n) {
    ASSERT_LT(n.immediate, notices);
    EXPECT_EQ(++reported[n.immediate], 1U) << "notice " << n.immediate;
    EXPECT_EQ(first_unlike(host.region.memory().subspan(n.immediate * std::size_t{64}, 24), n.immediate), 24U)
        << "arrived before its bytes";
  };
  await(
      side, host.net, host.seen, "all members",
      [&] { return host.seen.messages == messages && host.seen.notices == notices; }, patience * 2);
  side.ready(1);
  serve(side, host.net, host.seen, 1);
  for (std::uint32_t i = 0; i < notices; ++i) {
    EXPECT_EQ(first_unlike(host.region.memory().subspan(i * std::size_t{64} + 24, 8), i + 100), 8U)
        << "the put before notice " << i;
  }
  EXPECT_EQ(host.net.garbled() + host.net.stale(), 0U);
}
/// The other side: `send(from)`, `put(from, at)`, `notify(from, at, immediate)`.
template <class Guest, class Send, class Put, class Notify>
void give_groups(Guest& guest, std::uint32_t messages, std::uint32_t notices, Send&& send, Put&& put, Notify&& notify) {
  for (std::uint32_t i = 0; i < std::max(messages, notices); ++i) {
    if (i < messages) {
      const local_memory from = guest.memory.slice(4096 + i * std::size_t{1024}, size_of_message(i));
      write_message({from.data, from.size}, i);
      send(from);
    }
    if (i < notices) {
      const local_memory alone = guest.memory.slice(i * std::size_t{64} + 24, 8),
                         reported = guest.memory.slice(i * std::size_t{64}, 24);
      paint({alone.data, alone.size}, i + 100);
      paint({reported.data, reported.size}, i);
      put(alone, guest.there.at(i * std::size_t{64} + 24));
      notify(reported, guest.there.at(i * std::size_t{64}), i);
    }
  }
}

TYPED_TEST_P(coalescing_of_posts, puts_and_notices_share_packets_with_messages) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { take_groups<fabric>(side, 90, 64); },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096 + 90 * 1024);
        auto& net = guest.net;
        give_groups(
            guest, 90, 64,
            [&](auto from) { push(side, net, guest.seen, "send", [&] { return net.send(guest.other, from); }); },
            [&](auto from, auto at) {
              push(side, net, guest.seen, "put", [&] { return net.put(guest.other, from, at); });
            },
            [&](auto from, auto at, auto n) {
              push(side, net, guest.seen, "put_notify", [&] { return net.put_notify(guest.other, from, at, n); });
            });
        if constexpr (flushes<fabric>) {
          push(side, net, guest.seen, "flush", [&] { return net.flush(guest.other, &guest); });
          await(side, net, guest.seen, "the flush", [&] { return guest.seen.completions == 1; });
        }
        serve(side, net, guest.seen, 0);
        side.ready(0);
        await(side, net, guest.seen, "nothing in flight", [&] { return net.in_flight() == 0; });
      });
}

TYPED_TEST_P(coalescing_of_posts, groups_opened_by_hand_close_on_every_path) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { take_groups<fabric>(side, 90, 64); },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096 + 90 * 1024);
        auto& net = guest.net;
        std::optional g = net.coalesce(guest.other);
        std::uint32_t members = 0;
        const auto next = [&] {  // some groups are closed, some moved, some go out of scope
          if (++members % 7 != 0) return;
          if (members % 2 == 0) {
            push(side, net, guest.seen, "close", [&] { return g->close(); });
            EXPECT_FALSE(g->is_open());
            EXPECT_EQ(g->close().code, errc::invalid);
            EXPECT_EQ(g->send(guest.memory.first(8)).code, errc::invalid);
          }
          // later posts may overtake those that progress() makes
          while (net.in_flight() > 100) net.progress(guest.seen);
          if (members % 3 == 0) {
            auto moved = std::move(*g);
            EXPECT_FALSE(g->is_open());  // NOLINT(bugprone-use-after-move): a moved-from group is closed
            while (moved.is_open() && moved.close().is_again()) net.progress(guest.seen);
          }
          if (g->is_open()) push(side, net, guest.seen, "close", [&] { return g->close(); });
          *g = net.coalesce(guest.other);
        };
        give_groups(
            guest, 90, 64,
            [&](auto from) {
              push(side, net, guest.seen, "send", [&] { return g->send(from); });
              next();
            },
            [&](auto from, auto at) { push(side, net, guest.seen, "put", [&] { return g->put(from, at); }); },
            [&](auto from, auto at, auto n) {
              push(side, net, guest.seen, "put_notify", [&] { return g->put_notify(from, at, n); });
            });
        g.reset();  // and so is the last
        serve(side, net, guest.seen, 0);
        side.ready(0);
        await(side, net, guest.seen, "nothing in flight", [&] { return net.in_flight() == 0; });
      });
}

TYPED_TEST_P(coalescing_of_posts, a_single_message_leaves_at_the_next_poll) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all, {.sleeps = true});
        host.seen.on_received = [](const received&) {};
        for (std::uint64_t i = 1; i <= 20; ++i) {
          await(side, host.net, host.seen, "a single message", [&] { return host.seen.messages == i; });
          side.ready(1);
        }
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64, {.sleeps = true, .coalesce_time = 10s});  // never by time
        for (int i = 0; i < 20; ++i) {
          push(side, guest.net, guest.seen, "send",
               [&] { return guest.net.send(guest.other, guest.memory.first(16)); });
          if (i % 2 == 0) {
            EXPECT_TRUE(guest.net.wait(1ms));  // a side that sleeps has sent its group
          }
          serve(side, guest.net, guest.seen, 0);
          (void)side.wait_for_value(0);
        }
        side.ready(0);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
      });
}

TYPED_TEST_P(coalescing_of_posts, messages_kept_by_the_handler_are_kept_one_by_one) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 200;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        const peer p = meet_as_listener(side, net, seen);
        std::vector<std::uint32_t> came(count), refusals(count);
        std::uint32_t taken = 0;
        const auto on = overloaded{[&](const received& m) {
                                     const std::uint32_t i = number_of(m.message);
                                     EXPECT_EQ(m.peer, p);
                                     EXPECT_TRUE(i < count && is_message(m.message, i));
                                     if (i >= count || refusals[i]++ < i % 4) return false;
                                     EXPECT_EQ(++came[i], 1U) << "message " << i << " was taken, and arrived twice";
                                     return ++taken > 0;
                                   },
                                   [&](const auto& other) { seen(other); }};
        side.at("taking some");
        EXPECT_TRUE(net.until([&] { return taken == count; }, patience, on)) << taken;
        for (std::uint32_t i = 0; i < count; ++i)
          EXPECT_EQ(refusals[i], i % 4 + 1) << "message " << i << " was offered too often";
        side.ready(1);
        serve(side, net, seen, 1);
        EXPECT_EQ(net.garbled() + net.stale(), 0U);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        auto memory = net.allocate(count * 16, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        for (std::uint32_t i = 0; i < count; ++i) {
          const local_memory from = memory.slice(i * std::size_t{16}, 16);
          write_message({from.data, from.size}, i);
          push(side, net, seen, "send", [&] { return net.send(p, from); });
        }
        serve(side, net, seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(coalescing_of_posts, each_operation_that_the_target_refuses_fails_once) {
  using fabric = typename TestFixture::tested_fabric;
  if (!packs<fabric>) GTEST_SKIP() << "row " << fabric::name << ": only messages share messages";
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        host.seen.on_received = [](const received&) {};
        host.net.release_region(host.region);
        side.ready(1);
        await(side, host.net, host.seen, "the messages between", [&] { return host.seen.messages == 10; });
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(host.seen.notices, 0U);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        std::array<std::uint32_t, 3> ended{};
        guest.seen.on_failed = [&](const failed& f) {
          EXPECT_EQ(f.context, nullptr);
          EXPECT_EQ(f.why.code, errc::denied) << describe(f.why);
          EXPECT_EQ(f.peer, guest.other);
          ++ended.at(static_cast<std::size_t>(f.what));
        };
        auto g = guest.net.coalesce(guest.other);
        for (int i = 0; i < 10; ++i) {
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return g.put_notify(guest.memory.first(8), guest.there.at(0), 1); });
          push(side, guest.net, guest.seen, "send", [&] { return g.send(guest.memory.first(8)); });
        }
        EXPECT_EQ(g.put_notify(guest.memory.first(64), guest.there.at(8), 1).code, errc::out_of_range)
            << "an error that is known here is reported by the call";
        push(side, guest.net, guest.seen, "close", [&] { return g.close(); });
        await(side, guest.net, guest.seen, "ten completions",
              [&] { return ended[static_cast<std::size_t>(operation::put_notify)] == 10; });
        side.ready(0);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        EXPECT_EQ(guest.seen.failures, 10U);
      });
}

/// Allocations of both sides in 300 rounds of `post`, after a warm-up. Each round is 5 messages.
template <class Net, class Seen, class Done, class Post>
std::uint64_t allocated_by(Net& net, Seen& seen, Done&& done, Post&& post) {
  std::uint64_t before = 0;
  for (int round = 0; round < 400; ++round) {
    if (round == 100) before = allocation_count();
    post();
    while (!done(round)) net.progress(seen);
  }
  return allocation_count() - before;
}
struct counting_messages {
  std::uint64_t came = 0;
  void operator()(const received&) { ++came; }
  void operator()(auto&&) {}
};

TYPED_TEST_P(coalescing_of_posts, allocate_nothing) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  const auto talk = [](auto& net, const peer p, const local_memory from) {
    counting_messages seen;
    const auto sure = [&](auto&& call) {
      while (!call()) net.progress(seen);
    };
    const auto both = [&](int round) { return seen.came >= 5 * (static_cast<std::uint64_t>(round) + 1); };
    EXPECT_EQ(allocated_by(net, seen, both,
                           [&] {
                             for (int i = 0; i < 5; ++i) sure([&] { return net.send(p, from); });
                           }),
              0U)
        << "gathered";
    seen.came -= 2000;
    EXPECT_EQ(allocated_by(net, seen, both,
                           [&] {
                             auto g = net.coalesce(p);
                             for (int i = 0; i < 5; ++i) sure([&] { return g.send(from); });
                             sure([&] { return g.close(); });
                           }),
              0U)
        << "in a group";
  };
  TestFixture::play(
      {},
      [talk](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        (void)serve_for_value(side, host.net, host.seen, 1);  // the connection may need this side's polls
        side.ready(1);                                        // now both sides count, and no other handler takes events
        talk(host.net, host.other, host.region.first(16));
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [talk](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        side.at("counting allocations");
        side.ready(0);
        (void)side.wait_for_value(0);
        talk(guest.net, guest.other, guest.memory.first(16));
        serve(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(coalescing_of_posts, a_handler_may_close_the_peer_of_a_group) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        host.seen.on_received = [&](const received& m) { EXPECT_TRUE(host.net.close(m.peer, 1s)); };
        await(side, host.net, host.seen, "the first member", [&] { return host.seen.messages == 1; });
        for (int i = 0; i < 50; ++i) host.net.progress(host.seen);
        EXPECT_EQ(host.seen.messages, 1U) << "no member completes after the close";
        side.ready(1);
        (void)side.wait_for_value(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        // The link may end before the library reports the group's send: then the members fail, and may have arrived.
        guest.seen.on_failed = [](const failed& f) { EXPECT_EQ(f.why.code, errc::peer_lost); };
        auto g = guest.net.coalesce(guest.other);
        for (int i = 0; i < 8; ++i)
          push(side, guest.net, guest.seen, "send", [&] { return g.send(guest.memory.first(16)); });
        push(side, guest.net, guest.seen, "close", [&] { return g.close(); });
        await(side, guest.net, guest.seen, "the completion",
              [&] { return guest.seen.losses == 1 || side.has_value(0); });
        await(side, guest.net, guest.seen, "the loss", [&] { return guest.seen.losses == 1; });
        auto late = guest.net.coalesce(guest.other);
        EXPECT_EQ(late.send(guest.memory.first(16)).code, errc::peer_lost);
        EXPECT_EQ(guest.net.send(guest.other, guest.memory.first(16)).code, errc::peer_lost);
        (void)side.wait_for_value(0);
        side.ready(0);
      });
}

TYPED_TEST_P(coalescing_of_posts, a_dead_peer_ends_its_groups) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all, {.silence_limit = 600ms});
        host.seen.on_received = [](const received&) {};
        host.seen.on_lost = [](const lost&) {};
        serve(side, host.net, host.seen, 1, 10min);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64, {.silence_limit = 600ms});
        auto& seen = guest.seen;
        seen.on_failed = [&](const failed& f) {
          EXPECT_EQ(seen.losses, 0U) << "a completion after the loss";
          EXPECT_EQ(f.context, nullptr);
        };
        seen.on_lost = [&](const lost& l) { EXPECT_EQ(l.why.code, errc::peer_lost); };
        auto g = guest.net.coalesce(guest.other);
        EXPECT_TRUE(g.send(guest.memory.first(16)));
        std::uint64_t posted = 0;
        for (std::uint64_t i = 0; guest.other.alive() && i < 1'000'000; ++i) {
          if (i == 100) side.kill(0);
          posted += std::uint64_t{bool(guest.net.send(guest.other, guest.memory.first(16)))};
          if (i % 5 == 0 || i > 100) guest.net.progress(seen);
          if (i > 100) side.rest(50us);
        }
        await(side, guest.net, seen, "the loss", [&] { return seen.losses == 1; });
        EXPECT_LE(seen.failures, posted + 1) << "at most one completion each";
        EXPECT_EQ(g.send(guest.memory.first(16)).code, errc::peer_lost);
        EXPECT_EQ(g.close().code, errc::peer_lost);
        EXPECT_EQ(guest.net.in_flight(), 0U);
      });
}

REGISTER_TYPED_TEST_SUITE_P(coalescing_of_posts, single_and_coalesced_messages_keep_one_order,
                            puts_and_notices_share_packets_with_messages, groups_opened_by_hand_close_on_every_path,
                            a_single_message_leaves_at_the_next_poll, messages_kept_by_the_handler_are_kept_one_by_one,
                            each_operation_that_the_target_refuses_fails_once, allocate_nothing,
                            a_handler_may_close_the_peer_of_a_group, a_dead_peer_ends_its_groups);

INSTANTIATE_TYPED_TEST_SUITE_P(gathering, coalescing_of_posts, gathering_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(gathering, messages, gathering_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(gathering, put_notify, gathering_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(gathering, unsignalled, gathering_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(fabric, coalescing_of_posts, environment, fabric_name);

}  // namespace weft::conformance
