// SPDX-License-Identifier: Apache-2.0
//
// A killed peer, on every fabric: each outstanding operation ends, then the loss is reported once. Later posts are
// refused. A side that only waits gets the loss too. The liveness family decides who detects the death. A stopped peer
// is lost after its silence limit. Hot path: no. Threads: one per side.
#pragma once

#include "../history/falsified.hpp"
#include "live.hpp"
#include "sides/recorded_run.hpp"
#include "two_sides.hpp"

namespace weft::conformance {

template <class Environment>
class liveness_of_peers : public suite<Environment> {};
TYPED_TEST_SUITE_P(liveness_of_peers);

inline transport_options mortal(bool sleeps) {
  transport_options o;
  o.sleeps = sleeps;
  o.silence_limit = 1s;
  o.operation_timeout = 8s;
  return o;
}

TYPED_TEST_P(liveness_of_peers, a_killed_peer_ends_every_operation_and_is_reported_lost_once) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {
        target_side<fabric> host(side, 65536, rights::all, mortal(false));
        host.seen.on_received = [](const received&) {};
        host.seen.on_notified = [](const notified&) {};
        host.seen.on_lost = [](const lost&) {};
        serve(side, host.net, host.seen, 1, 10min);  // until it is killed
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 65536, mortal(false));
        auto& seen = guest.seen;
        std::uint64_t posted = 0;
        std::vector<std::uint64_t> ids(250);  // contexts, and their names in the history
        const auto record_end = [&](void* context, errc how) {
          side.book.ended(*static_cast<std::uint64_t*>(context), guest.net.now(), how);
        };
        bool lost_reported = false;
        seen.on_completed = [&](const completed& c) {
          EXPECT_FALSE(lost_reported) << "a success after the loss was reported";
          record_end(c.context, errc::ok);
        };
        seen.on_failed = [&](const failed& f) {
          EXPECT_FALSE(lost_reported) << "an operation ended after the loss was reported";
          ASSERT_NE(f.context, nullptr);
          record_end(f.context, f.why.code);
        };
        seen.on_lost = [&](const lost& l) {
          EXPECT_FALSE(lost_reported) << "lost twice";
          EXPECT_EQ(l.why.code, errc::peer_lost) << describe(l.why);
          EXPECT_NE(guest.net.reason(), "");
          EXPECT_EQ(guest.net.reason().find("the peer is gone: "), std::string::npos)
              << guest.net.reason() << ": no sentence says how the loss was found";
          EXPECT_EQ(l.peer, guest.other);
          lost_reported = true;
        };
        const auto post = [&] {
          const local_memory mine = guest.memory.first(512);
          const instant due = latest_end(guest.net, mortal(false).operation_timeout);
          std::uint64_t* const context = &ids.at(posted);
          status s;
          switch (posted % 4) {
            case 0:
              s = guest.net.put_notify(guest.other, mine, guest.there.at(0), 1, context);
              break;
            case 1:
              s = guest.net.send(guest.other, mine, context);
              break;
            case 2:
              s = guest.net.get(guest.other, guest.memory.slice(4096, 512), guest.there.at(0), context);
              break;
            default:
              s = guest.net.put(guest.other, mine, guest.there.at(1024), context);
              break;
          }
          if (s) *context = side.book.posted(history::work::other, 0, guest.net.now(), due), ++posted;
          return s;
        };
        for (int i = 0; i < 200; ++i) push(side, guest.net, seen, "traffic", post);
        side.kill(0);
        for (int i = 0; i < 20 && !lost_reported; ++i) {  // and more, to a dead peer
          const status s = post();
          EXPECT_TRUE(s || s.is_again() || s.code == errc::peer_lost) << describe(s);
          guest.net.progress(seen);
        }
        await(side, guest.net, seen, "the loss", [&] { return lost_reported; });
        EXPECT_EQ(seen.ends(), posted) << "operations without an end";
        EXPECT_FALSE(guest.other.alive());
        const std::uint64_t before = posted;
        if (refuses_wrong_posts<fabric>) {
          for (int i = 0; i < 4; ++i) {
            ++posted;  // each kind
            const status s = post();
            EXPECT_EQ(s.code, errc::peer_lost) << describe(s);
          }
          EXPECT_EQ(posted, before + 4);
          EXPECT_EQ(guest.net.fetch_add(guest.other, guest.there.at(0), 1, &guest).code, errc::peer_lost);
        }
        (void)guest.net.until([] { return false; }, 300ms, seen);
        EXPECT_EQ(seen.losses, 1U);
        EXPECT_EQ(seen.ends(), before);
        side.book.finished(guest.net.now());
      });
}

TYPED_TEST_P(liveness_of_peers, a_side_that_only_waits_gets_the_loss_of_a_killed_peer) {
  using fabric = typename TestFixture::tested_fabric;
  for (const bool sleeps : {false, true}) {
    TestFixture::play(
        {.first_is_killed = true},
        [sleeps](test_side& side) {
          target_side<fabric> host(side, 64, rights::all, mortal(sleeps));
          host.seen.on_lost = [](const lost&) {};
          serve(side, host.net, host.seen, 1, 10min);
        },
        [sleeps](test_side& side) {
          initiator_side<fabric> guest(side, 64, mortal(sleeps));
          guest.seen.on_lost = [&](const lost& l) { EXPECT_EQ(l.why.code, errc::peer_lost); };
          side.kill(0);
          await(side, guest.net, guest.seen, "the loss", [&] { return guest.seen.losses == 1; });
          if (refuses_wrong_posts<fabric>) {
            EXPECT_EQ(guest.net.send(guest.other, guest.memory.first(8), &guest).code, errc::peer_lost);
          }
        });
    if (testing::Test::HasFailure()) return;
  }
}

/// One record of the real history is falsified for each property, and the checker names that property.
TYPED_TEST_P(liveness_of_peers, the_history_of_a_run_shows_each_violation) {
  using fabric = typename TestFixture::tested_fabric;
  const auto falsify = [](const std::vector<history::record>& all) {
    test::falsified_histories(all, live_slack).judge_all();
  };
  TestFixture::play(
      {.judged = falsify}, [](test_side& side) { record_target<fabric>(side); },
      [](test_side& side) { record_initiator<fabric>(side); });
}

TYPED_TEST_P(liveness_of_peers, an_owner_that_always_polls_late_loses_only_dead_peers) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all, {.silence_limit = 30s});
        host.seen.on_lost = [](const lost&) {};
        serve(side, host.net, host.seen, 1, 10min);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64, mortal(false));
        guest.seen.on_lost = [&](const lost& l) { EXPECT_EQ(l.why.code, errc::peer_lost); };
        const auto comes_late = [&] {
          side.rest(20ms);  // silence is checked every 32 polls, which together take most of the limit
          guest.net.progress(guest.seen);
        };
        for (int i = 0; i < 100; ++i) comes_late();
        EXPECT_TRUE(guest.other.alive());
        side.kill(0);
        for (int i = 0; i < 2000 && guest.seen.losses == 0; ++i) comes_late();
        EXPECT_EQ(guest.seen.losses, 1U);
      });
}

TYPED_TEST_P(liveness_of_peers, an_idle_peer_that_polls_stays_connected) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all, {.silence_limit = 600ms});
        serve(side, host.net, host.seen, 1);
        EXPECT_TRUE(host.other.alive());
        side.ready(1);
        await(side, host.net, host.seen, "the goodbye", [&] { return host.seen.losses == 1; });
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64, {.silence_limit = 600ms});
        (void)guest.net.until([] { return false; }, 1500ms, guest.seen);
        EXPECT_TRUE(guest.other.alive());
        EXPECT_EQ(guest.seen.losses, 0U);
        side.ready(0);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
      });
}

/// One limit for every fabric. A stop of half of it is no death; a longer one is.
TYPED_TEST_P(liveness_of_peers, a_stopped_peer_is_lost_by_its_silence_limit_and_not_before) {
  using fabric = typename TestFixture::tested_fabric;
  static const transport_options limited{.silence_limit = 3s * slowness()};
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all, limited);
        host.seen.on_lost = [](const lost&) {};
        serve(side, host.net, host.seen, 1, 10min);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64, limited);
        auto& seen = guest.seen;
        seen.on_lost = [&](const lost& l) { EXPECT_EQ(l.why.code, errc::peer_lost) << describe(l.why); };
        const auto pass = [&](duration span) { (void)guest.net.until([&] { return seen.losses != 0; }, span, seen); };
        side.stop(0, limited.silence_limit / 2);
        pass(limited.silence_limit / 2);
        side.resume(0);
        pass(limited.silence_limit);
        ASSERT_EQ(seen.losses, 0U) << "a false alarm: " << guest.net.reason();
        side.stop(0, 5min);
        pass(limited.silence_limit * 3);
        EXPECT_EQ(seen.losses, 1U) << "nobody noticed the stopped peer";
        EXPECT_NE(guest.net.reason().find("silence_limit"), std::string::npos) << guest.net.reason();
        EXPECT_FALSE(guest.other.alive());
        side.kill(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(liveness_of_peers, a_killed_peer_ends_every_operation_and_is_reported_lost_once,
                            a_side_that_only_waits_gets_the_loss_of_a_killed_peer,
                            the_history_of_a_run_shows_each_violation,
                            an_owner_that_always_polls_late_loses_only_dead_peers,
                            an_idle_peer_that_polls_stays_connected,
                            a_stopped_peer_is_lost_by_its_silence_limit_and_not_before);

}  // namespace weft::conformance
